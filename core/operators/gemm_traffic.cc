#include "core/operators/gemm_traffic.h"

#include "core/base/figure.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// How much of what the resident tiles share they find in L2. They advance along k together, as far apart as their
// buffers in shared memory are deep, so that L2 must hold the rows and columns of that depth; without L2 every tile
// reads its own from memory.
Ratio SharedInL2(const TileChoice& best, const GemmData& data, Ratio resident, const Device& device) {
  const Bytes l1 = device.caches.size() > 1 ? device.caches.front().capacity : Bytes{},
              last = device.caches.empty() ? Bytes{} : device.caches.back().capacity;  // L2, or a scratchpad
  const Ratio depth =
      Figure("Depth along k of a resident tile's buffers",
             min(data.k, max(64, l1 / max(resident, Ratio(device.units)) /
                                     (best.rows * data.activation_size + best.columns * data.weight_size))),
             "one k step of 64 inputs at least");
  const Bytes window =
      Figure("Rows and columns of that depth that the resident tiles share",
             sqrt(resident * best.rows * best.columns) * depth * (data.activation_size + data.weight_size));
  return Figure("Fraction of the tiles' common operands that they find in L2", min(1.0, last / window),
                "it must hold the depth along k by which the resident tiles are apart");
}

}  // namespace

DramTraffic TrafficOfTiles(const GemmData& data, const TileChoice& best, Bytes l2_traffic, const Device& device) {
  const L2Reuse& reuse = device.architecture->gemm.l2;
  const Bytes operands =
      Figure("Operands", data.groups * data.m * data.k * data.activation_size + data.weights, "each once");
  const Ratio tiles = Figure("Output tiles of a group", ceil(data.m / best.rows) * ceil(data.n / best.columns));
  const Ratio resident =
      Figure("Tiles resident at once", min(tiles, (best.rows * best.columns > 128 * 128 ? 2 : 3) * Ratio(device.units)),
             "three per SM, two of those larger than 128 × 128", SourceOf(device, device.architecture->gemm.source));
  const Bytes reads = Figure("Operands that the tiles read",
                             data.groups * max(1.0, tiles / resident) * sqrt(resident * best.rows * best.columns) *
                                 data.k * (data.activation_size + data.weight_size),
                             "those resident at once form a square and share rows and columns");
  const Ratio shared = SharedInL2(best, data, resident, device);
  const Bytes lost = Figure("Operands that L2 has lost when the next tiles read them",
                            max(Bytes{}, reuse.reread_factor * reads - operands) *
                                min(1.0, operands / (reuse.no_reuse_from * L2Capacity(device))));
  const Bytes once = data.weights + data.activations;
  const Bytes sharing = Figure("Memory traffic of tiles that share what they read", once + lost);
  const Bytes alone = max(sharing, l2_traffic);
  return {Figure("Memory traffic", shared * sharing + (1 - shared) * alone,
                 "operands and output, and the operands that L2 has lost when the next tiles read them"),
          Figure("Operands that each tile reads on its own", (1 - shared) * (alone - data.weights - data.activations),
                 "for want of an L2 in which tiles share them")};
}

}  // namespace slipstick
