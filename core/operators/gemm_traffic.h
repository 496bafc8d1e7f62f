// Traffic of the memory by a tiled GEMM.
#pragma once

#include "core/base/units.h"
#include "core/hardware/device.h"
#include "core/operators/gemm_tiles.h"

namespace slipstick {

// Size, operands and output of a GEMM.
struct GemmData {
  Ratio m, n, k, groups;
  Bytes weights, activations;
  Bytes weight_size, activation_size;  // of an element
};
// Traffic of the memory, and the part of it that each tile reads on its own for want of an L2 in which tiles share it.
struct DramTraffic {
  Bytes bytes, again;
};
// Of a tiled GEMM: each generation of resident tiles rereads operands that miss L2 (mean error 15 % over 39 profiled
// CUTLASS kernels on A100), and all of them read theirs alone as far as L2 cannot hold what they share. `l2_traffic`:
// what the tiles read in all.
DramTraffic TrafficOfTiles(const GemmData& data, const TileChoice& best, Bytes l2_traffic, const Device& device);

}  // namespace slipstick
