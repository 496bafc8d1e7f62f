// Constants of llama.cpp before 2025: Composition::kLayerPipelined.
#pragma once

#include "core/base/field.h"
#include "core/base/tally.h"
#include "core/base/units.h"

namespace slipstick {

struct LayerPipeline {
  Ratio bandwidth_efficiency = 0;  // share of the memory bandwidth reached by matrix-vector products
  Ratio bytes_per_clock = 0;       // maximum that an SM reads
  Ratio clocks_per_layer = 0;      // of small dependent kernels
  // KV-cache read rate relative to memory bandwidth; each query head reads separately, partly from L2
  Ratio kv_cache_bandwidth_ratio = 0;
  Ratio gemm_efficiency = 0;       // share of the dense peak in prefill
  bool fp16_accumulate = true;     // products accumulate in fp16, at the fp16 rate if a device has one
  Ratio attention_efficiency = 0;  // share of the dense peak in prefill attention
  Ratio activation_passes = 0;     // round trips of an activation to memory per layer of prefill
  Ratio dequantized_bytes = 0;     // memory traffic per quantized weight and micro-batch
  Ratio score_passes = 0;          // passes of 4 bytes over the scores through memory
  Tally micro_batch = 1;           // tokens
  Seconds decode_hop;              // to the next device
  Seconds prefill_hop;             // the same for a single micro-batch of prefill
  Ratio pipeline_efficiency = 0;   // share of the ideal speed-up of micro-batches in flight
  Ratio kernels_per_layer = 0;     // launches per layer of prefill
  Ratio kernels_per_quantized_layer = 0;
  Ratio launch_queue = 1;   // launches that a device queues before the host blocks
  Tally max_in_flight = 1;  // micro-batches
  // In-line ECC costs GDDR memory bandwidth and capacity.
  Ratio usable_without_ecc = 1;  // least usable GiB per GB of the data sheet on devices without it
  Ratio ecc_loss = 0;            // fraction of the bandwidth
};
template <>
struct Schema<LayerPipeline> {
  static constexpr std::string_view standard = "layer_pipeline";
  static const Fields fields;
};

}  // namespace slipstick
