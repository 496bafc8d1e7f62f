// An MoE layer on one device: routing, permute, two grouped GEMMs, activation, combine.
#pragma once

#include <optional>

#include "core/hardware/device.h"
#include "core/operators/gemm.h"
#include "core/operators/kernel.h"
#include "core/software/engine.h"
#include "core/workload/precision.h"

namespace slipstick {

enum class Routing { kRandom, kEven };  // kRandom: serving; kEven: benchmarks that distribute tokens round-robin
ENUM_NAMES(Routing, {kRandom, "random"}, {kEven, "even"});

struct MoeLayer {
  Ratio tokens = 1;  // total over the tp x ep group
  // Tokens on this device before dispatch and after combine. Absent: all, as after an all-gather; under an all-to-all a
  // device holds its own tokens.
  std::optional<Ratio> held_tokens;
  Ratio experts = 8, top_k = 2;
  Ratio hidden = 4096, ffn = 14336;
  bool gated = true;  // three matrices per expert instead of two
  Ratio tp = 1, ep = 1;
  Gemm product;         // formats of the products, and where their weights are; the shapes follow from the layer
  Ratio imbalance = 1;  // rows of this device relative to the mean
  Routing routing = Routing::kRandom;
  ExpertLibrary library = ExpertLibrary::kTrtllm;
};

struct MoeKernelParameters {
  GemmKernelParameters product;     // of the grouped GEMMs, without their launches
  Ratio bandwidth_gain = 1;         // factor on the device's bandwidth efficiency, for weights, permute and combine
  Ratio weight_bandwidth_gain = 1;  // r_b: further factor for weights
  Ratio permute_efficiency = 1;     // e_v: of permute and combine
  Bytes pass_bytes;                 // per element between products, if passes are separate kernels; 0: fused
  Ratio biases = 0;                 // 1: one pass after each of the three products, if these are not fused
  Ratio kept_l2 = 0;                // L2 capacities that keep half of the permuted and combined data
  Seconds launch;                   // t_moe: of all kernels of the layer
  Seconds expert;                   // t_e: per expert that the device holds
  Ratio routing_preference = 0;  // v: coefficient of variation, over the experts, of their probability of being chosen
  // Factors of an engine's own kernels on the GEMM and bandwidth efficiencies above.
  Ratio engine_gemm_efficiency = 1, engine_bandwidth_efficiency = 1;
};
MoeKernelParameters IsolatedKernelParameters(const MoeLayer& layer, const Device& device);
// Inside a serving step: real routing is correlated, and the preceding kernel finds the scales of narrow formats.
MoeKernelParameters ServingKernelParameters(const MoeLayer& layer, const Device& device);

// Whether the layer's library states kernels for its formats, beside TensorRT-LLM's.
bool HasOwnKernels(const MoeLayer& layer, const Device& device);

// Expected number of experts on this device that get at least one of `rows` rows; a token's rows go to different
// experts. `preference`: coefficient of variation, over the experts, of their probability of being chosen.
Ratio ExpertsHit(const MoeLayer& layer, Ratio rows, Ratio preference);

// Time on one device, without communication. Mean error with balanced routing: bf16 11.6 %, fp8 12.0 %, fp8 blocks 13.4
// %, nvfp4 38 % over 364 to 462 measurements per format on NVIDIA devices.
KernelTime TimeOf(const MoeLayer& layer, const Device& device, const MoeKernelParameters& parameters);
KernelTime TimeOf(const MoeLayer& layer, const Device& device);

}  // namespace slipstick
