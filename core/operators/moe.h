// A layer of experts on one device: routing, permutation, two grouped products, activation, combination.
#pragma once

#include <optional>

#include "core/base/trace.h"
#include "core/hardware/device.h"
#include "core/operators/gemm.h"
#include "core/operators/kernel.h"
#include "core/software/engine.h"
#include "core/workload/precision.h"

namespace slipstick {

enum class Routing { kRandom, kEven };  // as in serving; as in benchmarks that deal tokens out in turn
template <>
struct EnumNames<Routing> {
  static constexpr std::array<std::pair<Routing, std::string_view>, 2> names{{{Routing::kRandom, "random"}, {Routing::kEven, "even"}}};
};

struct MoeLayer {
  double tokens = 1;  // that enter the layer on all devices of its tp x ep group together
  // Of them, that lie on this device before and after the layer; absent: all, as where the group gathers them. Under an all-to-all
  // a device holds its own tokens, and rows for its experts arrive.
  std::optional<double> held_tokens;
  double experts = 8, top_k = 2;
  double hidden = 4096, ffn = 14336;  // gated: three matrices an expert
  double tp = 1, ep = 1;
  Precision precision = Precision::kBf16;
  Precision weights = Precision::kBf16;
  Scaling scaling = Scaling::kTensor;
  double imbalance = 1;  // this device's rows over the mean
  Routing routing = Routing::kRandom;
  ExpertLibrary library = ExpertLibrary::kTrtllm;
  double weights_in_l2 = 0;  // share of the experts' weights found in the last cache
};

struct MoeKernelParameters {
  GemmKernelParameters product;  // of the grouped products; its launch is not charged
  double stream_factor = 1;      // on the device's stream share, for weights and moves
  double weight_factor = 1;      // r_b: more of it, for weights alone
  double move_share = 1;         // e_v: of the stream, reached by permuting and combining
  double move_cache = 0;         // last caches that keep half of what is permuted and combined
  Seconds launch;                // t_moe: fixed cost of the layer's kernels
  double spread = 1;             // sigma: rows that count when experts are hit by chance
};
MoeKernelParameters IsolatedKernelParameters(const MoeLayer& layer, const Device& device);
// Inside a serving step: real routing repeats itself, the scales of the narrow formats found by the kernel before.
MoeKernelParameters ServingKernelParameters(const MoeLayer& layer, const Device& device);

// Experts of this device that get at least one of `rows` rows.
double ExpertsHit(const MoeLayer& layer, double rows, double spread);

// Time of one device's share, no communication. Mean error with balanced routing: bf16 9.5 %, fp8 10.8 %, fp8 blocks
// 12.8 %, nvfp4 15.1 % over 462 to 364 rows of NVIDIA parts.
KernelTime TimeOf(const MoeLayer& layer, const Device& device, const MoeKernelParameters& parameters, Trace& trace);
KernelTime TimeOf(const MoeLayer& layer, const Device& device, Trace& trace);

}  // namespace slipstick
