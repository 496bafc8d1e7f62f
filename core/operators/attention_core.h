// The tile model that prefill, training and latent attention share.
#pragma once

#include "core/operators/attention.h"

namespace slipstick {

// Tiles of 128 queries by 128 keys of one sequence and head.
struct TileCount {
  double rows;     // tiles of queries
  double tiles;    // that the mask leaves
  double longest;  // tiles of the longest row
};
TileCount CountTiles(double q_len, double kv_len, bool causal, double window);

struct TileWork {
  TileCount tiles{};
  double sequence_heads = 1;               // batch times query heads
  Precision precision = Precision::kBf16;  // computed in
  Flops pair_flops;                        // a query-key pair
  double exp_passes = 1;                   // exponentials a pair
  Seconds stream_time;                     // of the operands
  Seconds pass_time;                       // of what runs before
  Flops useful;
  Bytes bytes;
};
KernelTime TimeOfTiles(const TileWork& work, const Device& device, const TileKernelParameters& parameters, Trace& trace);

}  // namespace slipstick
