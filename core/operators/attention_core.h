// The tile model of prefill, training and latent attention.
#pragma once

#include "core/base/trace.h"
#include "core/hardware/device.h"
#include "core/operators/kernel.h"
#include "core/workload/precision.h"

namespace slipstick {

// Kernels on tiles of 128 queries by 128 keys: prefill, training forward and backward.
struct TileKernelParameters {
  Seconds launch;             // t0
  double mma_efficiency = 1;  // epsilon: fraction of the peak while the tensor cores work
  double exp_weight = 1;      // s: time weight of an exponential; 0: hidden by the tensor cores
  Seconds tile_overhead;      // tau: per tile of queries
  double tail = 0;            // g: fraction of the longest tile of queries left over at the end
  bool in_fp8 = false;        // computes in fp8, whatever the operands' format
  bool fused_pass = true;  // rotary embedding, KV-cache write and quantization pass once over all operands; false: over
                           // the KV cache only
  double pass_factor = 1;  // q: times those bytes move
};

// Tiles of 128 queries by 128 keys of one sequence and head.
struct TileCount {
  double rows;     // rows of tiles: query tiles
  double tiles;    // not masked
  double longest;  // tiles of the longest row
};
// Also records them as the figures tile_rows, tiles and longest_row, which rest on q_len, kv_len and window.
TileCount CountTiles(double q_len, double kv_len, bool causal, double window, const Device& device, Trace& trace);

struct TileWork {
  TileCount tiles{};
  double sequence_heads = 1;               // batch * query heads
  Precision precision = Precision::kBf16;  // of the computation
  Flops pair_flops;                        // per query-key pair
  Bytes row_element;                       // of an operand
  double exp_passes = 1;                   // exponentials per pair
  Seconds stream_time;                     // of the operands
  Bound stream_bound = Bound::kMemory;     // of that time
  Seconds pass_time;                       // of the passes before the core
  Flops useful;
  Bytes bytes;
};
KernelTime TimeOfTiles(const TileWork& work, const Device& device, const TileKernelParameters& parameters,
                       Trace& trace);

}  // namespace slipstick
