// Bytes per parameter of weights, gradients and optimizer state.
#pragma once

#include "core/training_stage/context.h"

namespace slipstick {

// Bytes per parameter.
struct StateBytes {
  Ratio weights = 2, gradients = 4, optimizer = 12;
  Ratio kept_master = 0;      // of `optimizer`: weights that stay on the device when the rest is offloaded
  Ratio adapter_weights = 2;  // of low-rank adapters; `weights` are then the frozen ones
};
StateBytes StateBytesOf(const TrainingContext& context);

// Whether the GEMMs run in fewer than 16 bits.
bool NarrowRecipe(const TrainingContext& context);

// The bytes in the run's format, of activations or weights that were counted in 16 bits. Those of narrower recipes stay
// in 16 bits; tf32 is a mode of products of fp32 tensors.
template <class Quantity>
Quantity AtWidth(const TrainingContext& context, Quantity in_16_bits) {
  return BytesPerElement(context.run.precision) >= 4 ? Quantity(2 * in_16_bits) : in_16_bits;
}

// Bytes per parameter of the layers' frozen weights.
Ratio FrozenBytes(const TrainingContext& context);
// Whether frozen weights are stored in fewer bytes than GEMMs read, so that each GEMM needs them unpacked.
bool UnpacksWeights(const TrainingContext& context);
// The input that determines FrozenBytes.
std::string_view InputOfFrozenBytes(const TrainingContext& context);

}  // namespace slipstick
