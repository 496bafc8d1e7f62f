// The number formats in which an engine serves a model.
#pragma once

#include "core/engine_step/serving_load.h"
#include "core/hardware/device.h"
#include "core/software/engine.h"
#include "core/workload/model.h"
#include "core/workload/precision.h"

namespace slipstick {

// Bytes per element of each part; activations have the format that the device computes in.
struct ElementSizes {
  Bytes attention_weights, mlp_weights, head_weights;
  Bytes attention_activations, activations, kv_cache, state;
};

// Number format of each part: checkpoints keep some parts wider.
struct ServedFormats {
  Precision attention_weights = Precision::kBf16, mlp_weights = Precision::kBf16, head_weights = Precision::kBf16;
  Precision attention_activations = Precision::kBf16, activations = Precision::kBf16, kv_cache = Precision::kBf16;
  bool keeps_attention = false, keeps_head = false;  // kept wider, whatever the requested format
  bool keeps_mlp = false;                            // dense MLPs and shared experts as attention is kept
  bool keeps_as_engine = false;                      // in the format that the engine states, not in 16 bit
  bool keeps_as_model = false;                       // attention in the format that the model states
  ElementSizes sizes{};
};

// Size of a weight of a dense MLP or a shared expert.
inline Bytes MlpElement(const ServedFormats& formats) {
  return formats.keeps_mlp ? formats.sizes.attention_weights : formats.sizes.mlp_weights;
}

// Whether the experts' weights are converted for products in 16 bit.
inline bool HasWeightOnlyExperts(const ServedFormats& formats) {
  const bool is_narrow = BytesPerElement(formats.mlp_weights) < 1 || formats.mlp_weights == Precision::kQ8_0;
  return is_narrow && BytesPerElement(formats.activations) >= 2;
}

// A weight format without units on the device is converted to the format of the activations, or to 16 bits.
ServedFormats FormatsOf(const Model& model, const ServingPrecision& requested, const Engine& engine,
                        const Device& device);

}  // namespace slipstick
