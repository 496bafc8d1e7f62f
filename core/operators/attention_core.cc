#include "core/operators/attention_core.h"

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {

TileCount CountTiles(Ratio q_len, Ratio kv_len, bool causal, Ratio window, const Device& device) {
  const std::string_view source = SourceOf(device, device.architecture->attention.source);
  const Ratio tile = device.architecture->attention.tile;
  const Ratio rows = Figure("Rows of tiles", ceil(q_len / tile), "a tile's queries each", source);
  const Ratio columns = Figure("Columns of tiles", ceil(kv_len / tile), "a tile's keys each", source);
  const Ratio limit = window > 0
                          ? Figure("Tiles of keys that a row of queries sees", min(columns, ceil(window / tile) + 1),
                                   "those of the window, and one at its edge", source)
                          : columns;
  if (!causal) return {rows, Figure("Tiles", rows * limit, "without a mask", source), limit};
  const Ratio prefix =
      Figure("Tiles of keys before the first query", ceil(max(0.0, kv_len - q_len) / tile), "", source);
  const Ratio growing = Figure("Rows of tiles that the causal mask cuts", min(max(0.0, limit - prefix), rows),
                               "each a tile longer than the one before", source);
  const Ratio tiles = Figure("Tiles that are not masked",
                             growing * prefix + growing * (growing + 1) / 2 + (rows - growing) * limit, "", source);
  return {rows, tiles, Figure("Tiles of the longest row", min(limit, prefix + rows), "", source)};
}

namespace {

// Every tile reads its keys and values; every row of tiles reads its queries and writes its outputs. Each fragment of
// query rows reads keys and values again from shared memory. A backward pass moves more in proportion to its FLOPs.
LevelTraffic TrafficOfTiles(const TileWork& work, const Device& device) {
  const Ratio tile = device.architecture->attention.tile, rows = work.tiles.rows, tiles = work.tiles.tiles;
  const Bytes tile_bytes =
      Figure("Bytes of a tile", tile * work.row_element * work.pair_flops / (2 * kFlop), "its keys and their values");
  return {Figure("Traffic of the L2", work.sequence_heads * (tiles * tile / 128 + rows) * tile_bytes,
                 "keys and values once per 128 queries"),
          Figure("Traffic of shared memory",
                 work.sequence_heads * (tiles * tile / min(128, device.architecture->traits.fragment_rows) + rows) *
                     tile_bytes,
                 "keys and values once per fragment of query rows")};
}

}  // namespace

KernelTime TimeOfTiles(const TileWork& work, const Device& device, const TileKernelParameters& parameters) {
  const AttentionTable& table = device.architecture->attention;
  const std::string_view source = SourceOf(device, table.source);
  const Ratio units = device.units;
  const FlopsPerSecond rate = ReachedRate(device, work.precision, parameters.mma_efficiency);
  const Seconds product_time = Figure("GEMM time per tile", table.tile * table.tile * work.pair_flops * units / rate,
                                      "on the tensor cores of one SM", source);
  const Seconds exponential_time =
      Figure("Exponentials per tile",
             table.tile * table.tile * work.exp_passes * parameters.exp_weight / (device.exponentials * device.clock),
             "one per score and pass, on the special-function units", source);
  const Seconds tile_time =
      Figure("Time per tile on one SM", norm(product_time, exponential_time, table.exponential_overlap),
             "GEMMs of one tile partly hide exponentials of another", source);
  const Seconds mean_load =
      Figure("Mean load per SM",
             work.sequence_heads * (tile_time * work.tiles.tiles + parameters.tile_overhead * work.tiles.rows) / units,
             "each tile of queries adds a fixed overhead: loading, first keys, epilogue", source);
  const Seconds tail = Figure("Tail", parameters.tail * (tile_time * work.tiles.longest + parameters.tile_overhead),
                              "fraction of the longest tile of queries", source);
  KernelTime result;
  result.compute = Figure("Time on the SMs", mean_load + tail, "", source);
  const Seconds overlapped = Figure("Compute overlapped with data movement",
                                    norm(result.compute, work.stream_time, table.overlap), "", source);
  const LevelTraffic traffic = TrafficOfTiles(work, device);
  const LevelTimes levels = TimesThroughCaches(traffic, device);
  result.time = Figure("Attention time", parameters.launch + work.pass_time + SlowestLevel(overlapped, levels),
                       "launch, passes before it (rotary embedding, KV-cache write), the slowest level", source);
  result.memory = work.stream_time + work.pass_time;
  result.flops = work.useful;
  result.bytes = work.bytes;
  SetLevels(traffic, levels, overlapped, work.stream_bound, result);
  if (parameters.launch > result.time / 2) result.bound = Bound::kLatency;
  return result;
}

}  // namespace slipstick
