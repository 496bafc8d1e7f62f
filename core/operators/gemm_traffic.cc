#include "core/operators/gemm_traffic.h"

#include <string>

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// How much of what the resident tiles share they find in L2. They advance along k together, as far apart as their
// buffers in shared memory are deep, so that L2 must hold the rows and columns of that depth; without L2 every tile
// reads its own from memory.
double SharedInL2(const TileChoice& best, const GemmData& data, double resident_tiles, const Device& device,
                  Trace& trace) {
  const std::size_t levels = device.caches.size();
  const Bytes l1_capacity = levels > 1 ? device.caches.front().capacity : Bytes{},
              last_capacity = levels > 0 ? device.caches.back().capacity : Bytes{},  // L2, or a scratchpad
      activation_size = data.activation_size, weight_size = data.weight_size;
  const double k = data.k, tile_rows = best.tile.rows, tile_columns = best.tile.columns,
               units = static_cast<double>(device.units);
  if (trace.on()) {
    const std::string caches = "cluster.device.caches";
    trace.Input("l1_capacity", l1_capacity, levels > 1 ? caches + ".0.capacity" : caches);
    trace.Input("last_capacity", last_capacity,
                levels > 0 ? caches + "." + std::to_string(levels - 1) + ".capacity" : caches);
  }
  FIGURE(trace, depth,
         min(k, max(64, l1_capacity / max(resident_tiles, units) /
                            (tile_rows * activation_size + tile_columns * weight_size))),
         (Note{"Depth along k of a resident tile's buffers", "one k step of 64 inputs at least"}), k, l1_capacity,
         resident_tiles, units, tile_rows, activation_size, tile_columns, weight_size);
  FIGURE(trace, window, sqrt(resident_tiles * tile_rows * tile_columns) * depth * (activation_size + weight_size),
         (Note{"Rows and columns of that depth that the resident tiles share"}), resident_tiles, tile_rows,
         tile_columns, depth, activation_size, weight_size);
  FIGURE(trace, shared, min(1.0, last_capacity / window),
         (Note{"Fraction of the tiles' common operands that they find in L2",
               "it must hold the depth along k by which the resident tiles are apart"}),
         last_capacity, window);
  return shared;
}

}  // namespace

DramTraffic TrafficOfTiles(const GemmData& data, const TileChoice& best, Bytes l2_traffic, const Device& device,
                           Trace& trace) {
  const double m = data.m, n = data.n, k = data.k, groups = data.groups;
  const Bytes weight_bytes = data.weights, activation_bytes = data.activations;
  constexpr Note kNote{"Memory traffic",
                       "operands and output, and the operands that L2 has lost when the next tiles read them"};
  const Bytes activation_size = data.activation_size, weight_size = data.weight_size, l2_capacity = L2Capacity(device);
  const double units = static_cast<double>(device.units), tile_rows = best.tile.rows, tile_columns = best.tile.columns,
               missed_from = device.architecture->gemm.l2.no_reuse_from,
               read_again = device.architecture->gemm.l2.reread_factor;
  CONSTANTS(trace, KernelTable(device, "gemm.cache"), SourceOf(device, device.architecture->gemm.source), missed_from,
            read_again);
  FIGURE_OVER_GROUPS(trace, input_bytes, m * k * activation_size, (Note{"Activations read", ""}), m, k,
                     activation_size);
  FIGURE(trace, operand_bytes, input_bytes + weight_bytes, (Note{"Operands", "each once"}), input_bytes, weight_bytes);
  FIGURE(trace, group_tiles, ceil(m / tile_rows) * ceil(n / tile_columns), (Note{"Output tiles of a group", ""}), m,
         tile_rows, n, tile_columns);
  FIGURE(trace, resident_tiles,
         min(group_tiles, (3 - min(1.0, max(0.0, tile_rows * tile_columns - 128 * 128))) * units),
         (Note{"Tiles resident at once", "three per SM, two of those larger than 128 × 128", kFamilySource}),
         group_tiles, tile_rows, tile_columns, units);
  FIGURE_OVER_GROUPS(
      trace, tile_reads,
      max(1.0, group_tiles / resident_tiles) * sqrt(resident_tiles * tile_rows * tile_columns) * k *
          (activation_size + weight_size),
      (Note{"Operands that the tiles read", "those resident at once form a square and share rows and columns"}),
      group_tiles, resident_tiles, tile_rows, tile_columns, k, activation_size, weight_size);
  const double shared = SharedInL2(best, data, resident_tiles, device, trace);
  FIGURE(trace, lost_bytes,
         max(0 * operand_bytes, read_again * tile_reads - operand_bytes) *
             min(1.0, operand_bytes / (missed_from * l2_capacity)),
         (Note{"Operands that L2 has lost when the next tiles read them"}), operand_bytes, read_again, tile_reads,
         missed_from, l2_capacity);
  FIGURE(trace, shared_bytes, weight_bytes + activation_bytes + lost_bytes,
         (Note{"Memory traffic of tiles that share what they read"}), weight_bytes, activation_bytes, lost_bytes);
  FIGURE(trace, bytes, shared * shared_bytes + (1 - shared) * max(shared_bytes, l2_traffic), kNote, shared,
         shared_bytes, l2_traffic);
  FIGURE(trace, again_bytes, (1 - shared) * (max(shared_bytes, l2_traffic) - weight_bytes - activation_bytes),
         (Note{"Operands that each tile reads on its own", "for want of an L2 in which tiles share them"}), shared,
         shared_bytes, l2_traffic, weight_bytes, activation_bytes);
  return {bytes, again_bytes};
}

}  // namespace slipstick
