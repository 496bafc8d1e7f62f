// Constants of an engine that compiles a layer into one operator: Composition::kCompiledGraph.
#pragma once

#include "core/base/field.h"
#include "core/base/tally.h"
#include "core/base/units.h"

namespace slipstick {

struct CompiledGraph {
  Ratio gemm_efficiency = 0;                   // share of the dense peak
  Ratio bandwidth_efficiency = 0;              // share of the memory bandwidth at which weights are read
  Ratio kv_cache_bandwidth_efficiency = 0;     // the same for the KV cache
  Ratio elementwise_bandwidth_efficiency = 0;  // the same for activations between the matrix products
  Seconds layer_overhead;                      // per layer
  Seconds all_reduce_overhead;                 // per all-reduce
  Ratio all_reduce_bandwidth_efficiency = 0;   // share of the link bandwidth
  bool skips_masked_scores = true;             // attention computes only scores that the causal mask leaves
  bool fixed_shapes = false;                   // compiled for one KV length: every step reads the whole KV cache
  Tally cores = 1;                             // tensor-parallel ranks per device
  Bytes on_chip_capacity = 0 * kMiB;           // activations above it spill to memory; 0: no limit
  Ratio spill_exponent = 1;                    // prefill time grows with (activations / capacity) to this power
};
template <>
struct Schema<CompiledGraph> {
  static constexpr std::string_view standard = "compiled_graph";
  static const Fields fields;
};

}  // namespace slipstick
