#include "core/engine_step/served_formats.h"

#include <optional>

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// A format of llama.cpp, which quantizes embedding and head too.
bool IsMixture(Precision weights) {
  return weights == Precision::kQ4KM || weights == Precision::kQ4_0 || weights == Precision::kQ8_0;
}

bool IsWeightOnly(Precision weights) {
  return weights == Precision::kInt4 || weights == Precision::kInt8 || weights == Precision::kMxfp4 ||
         IsMixture(weights);
}

}  // namespace

// Checkpoints keep these parts in 16 bit, or in the engine's format for them: embedding and head, except in llama.cpp's
// mixtures (Q4_K_M, Q4_0, Q8_0); attention, if only the experts are quantized (mxfp4, and int4 if the model is
// published so: AWQ and GPTQ quantize all linear layers) or if it is latent and the rest is nvfp4. If a model has
// recurrent layers, its nvfp4 checkpoint has these and attention in fp8 (NVIDIA's Qwen3.8-27B and Qwen3.8-2.4T,
// Unsloth's Qwen3.6-27B). Dense MLPs and shared experts are kept with attention where the model is published so (Kimi's
// int4, DeepSeek-V4) and in nvfp4 of models with latent attention and an indexer (hf_quant_config.json of NVIDIA's
// GLM-5.2); DeepSeek-V3's nvfp4 quantizes them.
ServedFormats FormatsOf(const Model& model, const ServingPrecision& requested, const Engine& engine,
                        const Device& device) {
  const Precision weights = requested.weights;
  const std::optional<Precision>& kept_weights = engine.formats.kept_weights;
  const bool own_int4 = weights == Precision::kInt4 && model.moe && model.moe->int4_group > 0;
  const bool experts_only = own_int4 || (model.moe && weights == Precision::kMxfp4);
  const bool latent_kept = model.mla && IsFourBitFloat(weights);
  const bool recurrent_kept = !latent_kept && model.linear_attention && weights == Precision::kNvfp4;
  ServedFormats formats;
  formats.mlp_weights = weights;
  formats.keeps_attention = experts_only || latent_kept || recurrent_kept;
  formats.keeps_mlp = own_int4 || (latent_kept && weights == Precision::kNvfp4 && model.indexer);
  formats.keeps_head = !IsMixture(weights) && BytesPerElement(weights) <= 2;
  formats.keeps_as_engine = kept_weights && BytesPerElement(weights) <= BytesPerElement(*kept_weights);
  const Precision kept = formats.keeps_as_engine ? *kept_weights : Precision::kBf16;
  formats.keeps_as_model = experts_only && !formats.keeps_as_engine && model.compressed && model.compressed->weights;
  formats.keeps_mlp |= formats.keeps_as_model;
  const bool keeps_fp8 = recurrent_kept && !formats.keeps_as_engine;
  formats.attention_weights = formats.keeps_as_model    ? *model.compressed->weights
                              : keeps_fp8               ? Precision::kFp8
                              : formats.keeps_attention ? kept
                                                        : weights;
  formats.head_weights = formats.keeps_head ? kept : weights;
  formats.activations = requested.activations;
  const bool multiplied_as_stored = weights == formats.activations && IsFourBitFloat(NativePrecision(device, weights));
  if (IsWeightOnly(weights) && BytesPerElement(formats.activations) < 1 && !multiplied_as_stored)
    formats.activations = Precision::kBf16;
  if (engine.stored_products && BytesPerElement(formats.activations) < 2) formats.activations = Precision::kFp16;
  formats.attention_activations = formats.keeps_as_model || keeps_fp8 ? formats.attention_weights
                                  : formats.keeps_attention           ? Precision::kBf16
                                                                      : formats.activations;
  formats.kv_cache = requested.kv_cache;
  formats.sizes = {ElementSize(formats.attention_weights),
                   own_int4 ? Int4Size(model.moe->int4_group) : ElementSize(formats.mlp_weights),
                   ElementSize(formats.head_weights),
                   ElementSize(NativePrecision(device, formats.attention_activations)),
                   ElementSize(NativePrecision(device, formats.activations)),
                   ElementSize(formats.kv_cache),
                   ElementSize(requested.state)};
  return formats;
}

}  // namespace slipstick
