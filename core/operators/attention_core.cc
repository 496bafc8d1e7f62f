#include "core/operators/attention_core.h"

#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kTileSource = kFamilySource;
constexpr double kTile = 128;

}  // namespace

TileCount CountTiles(double q_len, double kv_len, bool causal, double window) {
  Trace off = Trace::Off();
  return CountTiles(q_len, kv_len, causal, window, off);
}

TileCount CountTiles(double q_len, double kv_len, bool causal, double window, Trace& trace) {
  FIGURE(trace, tile_rows, ceil(q_len / 128), (Note{"Rows of tiles", "of 128 queries", kTileSource}), q_len);
  FIGURE(trace, tile_columns, ceil(kv_len / 128), (Note{"Columns of tiles", "of 128 keys", kTileSource}), kv_len);
  const double rows = tile_rows, columns = tile_columns;
  double limit = columns;
  if (window > 0) {
    FIGURE(trace, seen_columns, min(tile_columns, ceil(window / 128) + 1),
           (Note{"Tiles of keys that a row of queries sees", "those of the window, and one at its edge", kTileSource}), tile_columns,
           window);
    limit = seen_columns;
  }
  trace.Alias("limit", limit, window > 0 ? "seen_columns" : "tile_columns");
  if (!causal) {
    trace.Alias("longest_row", limit, "limit");
    FIGURE(trace, tiles, tile_rows * limit, (Note{"Tiles", "without a mask", kTileSource}), tile_rows, limit);
    return {rows, tiles, limit};
  }
  FIGURE(trace, prefix, ceil(max(0.0, kv_len - q_len) / 128), (Note{"Tiles of keys before the first query", "", kTileSource}), kv_len,
         q_len);
  FIGURE(trace, growing, min(max(0.0, limit - prefix), tile_rows),
         (Note{"Rows of tiles that the causal mask cuts", "each a tile longer than the one before", kTileSource}), limit, prefix,
         tile_rows);
  FIGURE(trace, tiles, growing * prefix + growing * (growing + 1) / 2 + (tile_rows - growing) * limit,
         (Note{"Tiles that are not masked", "", kTileSource}), growing, prefix, tile_rows, limit);
  FIGURE(trace, longest_row, min(limit, prefix + tile_rows), (Note{"Tiles of the longest row", "", kTileSource}), limit, prefix, tile_rows);
  return {rows, tiles, longest_row};
}

KernelTime TimeOfTiles(const TileWork& work, const Device& device, const TileKernelParameters& parameters, Trace& trace) {
  const double units = static_cast<double>(device.units), exponentials = device.exponentials;
  const Hertz clock = device.clock;
  const FlopsPerSecond peak_rate = PeakRate(device, work.precision, trace);
  const double mma_efficiency = parameters.mma_efficiency, exp_weight = parameters.exp_weight, tail = parameters.tail;
  const double tile_side = kTile, exp_passes = work.exp_passes, sequence_heads = work.sequence_heads;
  const double tile_rows = work.tiles.rows, tiles = work.tiles.tiles, longest_row = work.tiles.longest;
  const Flops pair_flops = work.pair_flops;
  const Seconds launch = parameters.launch, row_overhead = parameters.tile_overhead, pass_time = work.pass_time,
                stream_time = work.stream_time;
  trace.Input("units", units, "cluster.device.units");
  trace.Input("clock", clock, "cluster.device.clock");
  trace.Input("exponentials", exponentials, "cluster.device.exponentials");
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->attention.source));
  FIGURE(trace, product_time, tile_side * tile_side * pair_flops * units / (peak_rate * mma_efficiency),
         (Note{"GEMM time per tile", "on the tensor cores of one SM", kTileSource}), tile_side, pair_flops, units, peak_rate,
         mma_efficiency);
  FIGURE(trace, exponential_time, tile_side * tile_side * exp_passes * exp_weight / (exponentials * clock),
         (Note{"Exponentials per tile", "one per score, on the special-function units", kTileSource}), tile_side, exp_passes, exp_weight,
         exponentials, clock);
  FIGURE(
      trace, tile_time, norm(product_time, exponential_time, 1.5),
      (Note{"Time per tile on one SM", "GEMMs of one tile partly hide exponentials of another: equal times take 1.59 of one", kTileSource}),
      product_time, exponential_time);
  FIGURE(trace, mean_load, sequence_heads * (tile_time * tiles + row_overhead * tile_rows) / units,
         (Note{"Mean load per SM", "each tile of queries adds a fixed overhead: loading, first keys, epilogue", kTileSource}),
         sequence_heads, tile_time, tiles, row_overhead, tile_rows, units);
  FIGURE(trace, tail_time, tail * (tile_time * longest_row + row_overhead),
         (Note{"Tail", "fraction of the longest tile of queries", kTileSource}), tail, tile_time, longest_row, row_overhead);
  FIGURE(trace, compute_time, mean_load + tail_time, (Note{"Time on the SMs", "", kTileSource}), mean_load, tail_time);
  FIGURE(trace, time, launch + pass_time + norm(compute_time, stream_time, 2),
         (Note{"Attention time", "launch, passes before it (rotary embedding, KV-cache write), compute overlapped with data movement",
               kTileSource, "time_s"}),
         launch, pass_time, compute_time, stream_time);
  KernelTime result;
  result.time = time;
  result.compute = compute_time;
  result.memory = stream_time + pass_time;
  result.bound = launch > time / 2 ? Bound::kLatency : compute_time >= result.memory ? Bound::kCompute : Bound::kMemory;
  result.flops = work.useful;
  result.bytes = work.bytes;
  return result;
}

}  // namespace slipstick
