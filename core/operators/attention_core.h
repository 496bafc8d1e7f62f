// The tile model of prefill, training and latent attention.
#pragma once

#include "core/hardware/device.h"
#include "core/operators/kernel.h"
#include "core/workload/precision.h"

namespace slipstick {

// Parameters of kernels on tiles of 128 queries by 128 keys: prefill, training forward and backward.
struct TileKernelParameters {
  Seconds launch;            // t0
  Ratio mma_efficiency = 1;  // epsilon: fraction of the peak while the tensor cores work
  Ratio exp_weight = 1;      // s: time weight of an exponential; 0: hidden by the tensor cores
  Seconds tile_overhead;     // tau: per tile of queries
  Ratio tail = 0;            // g: fraction of the longest tile of queries left over at the end
  bool in_fp8 = false;       // computes in fp8, whatever the operands' format
  bool fused_pass = true;  // rotary embedding, KV-cache write and quantization pass once over all operands; false: over
                           // the KV cache only
  Ratio pass_factor = 1;   // q: times those bytes move
};

// Tiles of 128 queries by 128 keys of one sequence and head.
struct TileCount {
  Ratio rows;     // rows of tiles (query tiles)
  Ratio tiles;    // unmasked tiles
  Ratio longest;  // tiles of the longest row
};
TileCount CountTiles(Ratio q_len, Ratio kv_len, bool causal, Ratio window, const Device& device);

struct TileWork {
  TileCount tiles{};
  Ratio sequence_heads = 1;                // batch * query heads
  Precision precision = Precision::kBf16;  // of the computation
  Flops pair_flops;                        // per query-key pair
  Bytes row_element;                       // per operand element
  Ratio exp_passes = 1;                    // exponentials per pair
  Seconds stream_time;                     // to stream the operands
  Bound stream_bound = Bound::kMemory;     // of stream_time
  Seconds pass_time;                       // for the passes before the core
  Flops useful;
  Bytes bytes;
};
KernelTime TimeOfTiles(const TileWork& work, const Device& device, const TileKernelParameters& parameters);

}  // namespace slipstick
