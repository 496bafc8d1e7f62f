#include "core/operators/attention_core.h"

#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {

TileCount CountTiles(double q_len, double kv_len, bool causal, double window, const Device& device, Trace& trace) {
  const double tile = device.architecture->attention.tile;
  CONSTANTS(trace, KernelTable(device, "attention"), SourceOf(device, device.architecture->attention.source), tile);
  FIGURE(trace, tile_rows, ceil(q_len / tile), (Note{"Rows of tiles", "a tile's queries each", kFamilySource}), q_len,
         tile);
  FIGURE(trace, tile_columns, ceil(kv_len / tile), (Note{"Columns of tiles", "a tile's keys each", kFamilySource}),
         kv_len, tile);
  const double rows = tile_rows, columns = tile_columns;
  double limit = columns;
  if (window > 0) {
    FIGURE(
        trace, seen_columns, min(tile_columns, ceil(window / tile) + 1),
        (Note{"Tiles of keys that a row of queries sees", "those of the window, and one at its edge", kFamilySource}),
        tile_columns, window, tile);
    limit = seen_columns;
  }
  trace.Alias("limit", limit, window > 0 ? "seen_columns" : "tile_columns");
  if (!causal) {
    trace.Alias("longest_row", limit, "limit");
    FIGURE(trace, tiles, tile_rows * limit, (Note{"Tiles", "without a mask", kFamilySource}), tile_rows, limit);
    return {rows, tiles, limit};
  }
  FIGURE(trace, prefix, ceil(max(0.0, kv_len - q_len) / tile),
         (Note{"Tiles of keys before the first query", "", kFamilySource}), kv_len, q_len, tile);
  FIGURE(trace, growing, min(max(0.0, limit - prefix), tile_rows),
         (Note{"Rows of tiles that the causal mask cuts", "each a tile longer than the one before", kFamilySource}),
         limit, prefix, tile_rows);
  FIGURE(trace, tiles, growing * prefix + growing * (growing + 1) / 2 + (tile_rows - growing) * limit,
         (Note{"Tiles that are not masked", "", kFamilySource}), growing, prefix, tile_rows, limit);
  FIGURE(trace, longest_row, min(limit, prefix + tile_rows), (Note{"Tiles of the longest row", "", kFamilySource}),
         limit, prefix, tile_rows);
  return {rows, tiles, longest_row};
}

namespace {

// Every tile reads its keys and values, every row of tiles its queries, and writes its outputs. From shared memory each
// fragment of query rows reads the keys and values again. A backward pass moves as much more as it computes.
LevelTraffic TrafficOfTiles(const TileWork& work, const Device& device, Trace& trace) {
  const double sequence_heads = work.sequence_heads, tile_rows = work.tiles.rows, tiles = work.tiles.tiles,
               tile = device.architecture->attention.tile, fragment_rows = device.architecture->traits.fragment_rows;
  const Bytes row_element = work.row_element;
  const Flops pair_flops = work.pair_flops;
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->attention.source),
            fragment_rows);
  FIGURE(trace, tile_bytes, tile * row_element * pair_flops / (2 * kFlop),
         (Note{"Bytes of a tile", "its keys and their values"}), tile, row_element, pair_flops);
  FIGURE(trace, l2_traffic, sequence_heads * (tiles * tile / 128 + tile_rows) * tile_bytes,
         (Note{"Traffic of the L2", "keys and values once per 128 queries"}), sequence_heads, tiles, tile, tile_rows,
         tile_bytes);
  FIGURE(trace, l1_traffic, sequence_heads * (tiles * tile / min(128, fragment_rows) + tile_rows) * tile_bytes,
         (Note{"Traffic of shared memory", "keys and values once per fragment of query rows"}), sequence_heads, tiles,
         tile, fragment_rows, tile_rows, tile_bytes);
  return {l2_traffic, l1_traffic};
}

}  // namespace

KernelTime TimeOfTiles(const TileWork& work, const Device& device, const TileKernelParameters& parameters,
                       Trace& trace) {
  const double units = static_cast<double>(device.units), exponentials = device.exponentials;
  const double tile = device.architecture->attention.tile, overlap = device.architecture->attention.overlap,
               exponential_overlap = device.architecture->attention.exponential_overlap;
  const Hertz clock = device.clock;
  const FlopsPerSecond peak_rate = PeakRate(device, work.precision, trace);
  const double mma_efficiency = parameters.mma_efficiency, exp_weight = parameters.exp_weight, tail = parameters.tail;
  const double sequence_heads = work.sequence_heads;
  const double tile_rows = work.tiles.rows, tiles = work.tiles.tiles, longest_row = work.tiles.longest;
  const Flops pair_flops = work.pair_flops;
  const Seconds launch = parameters.launch, row_overhead = parameters.tile_overhead, pass_time = work.pass_time,
                stream_time = work.stream_time;
  trace.Input("units", units, "cluster.device.units");
  trace.Input("clock", clock, "cluster.device.clock");
  trace.Input("exponentials", exponentials, "cluster.device.exponentials");
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->attention.source));
  CONSTANTS(trace, KernelTable(device, "attention"), SourceOf(device, device.architecture->attention.source), overlap,
            exponential_overlap);
  FIGURE(trace, product_time, tile * tile * pair_flops * units / (peak_rate * mma_efficiency),
         (Note{"GEMM time per tile", "on the tensor cores of one SM", kFamilySource}), tile, pair_flops, units,
         peak_rate, mma_efficiency);
  const Seconds exponential_time = tile * tile * work.exp_passes * exp_weight / (exponentials * clock);
  trace.Record("exponential_time",
               work.exp_passes > 1 ? "2 * tile * tile * exp_weight / (exponentials * clock)"
                                   : "tile * tile * exp_weight / (exponentials * clock)",
               exponential_time,
               Note{"Exponentials per tile", "one per score and pass, on the special-function units", kFamilySource},
               "tile, exp_weight, exponentials, clock", tile, exp_weight, exponentials, clock);
  FIGURE(trace, tile_time, norm(product_time, exponential_time, exponential_overlap),
         (Note{"Time per tile on one SM", "GEMMs of one tile partly hide exponentials of another", kFamilySource}),
         product_time, exponential_time, exponential_overlap);
  FIGURE(trace, mean_load, sequence_heads * (tile_time * tiles + row_overhead * tile_rows) / units,
         (Note{"Mean load per SM", "each tile of queries adds a fixed overhead: loading, first keys, epilogue",
               kFamilySource}),
         sequence_heads, tile_time, tiles, row_overhead, tile_rows, units);
  FIGURE(trace, tail_time, tail * (tile_time * longest_row + row_overhead),
         (Note{"Tail", "fraction of the longest tile of queries", kFamilySource}), tail, tile_time, longest_row,
         row_overhead);
  FIGURE(trace, compute_time, mean_load + tail_time, (Note{"Time on the SMs", "", kFamilySource}), mean_load,
         tail_time);
  FIGURE(trace, overlapped_time, norm(compute_time, stream_time, overlap),
         (Note{"Compute overlapped with data movement", "", kFamilySource}), compute_time, stream_time, overlap);
  const LevelTraffic traffic = TrafficOfTiles(work, device, trace);
  const LevelTimes levels = TimesThroughCaches(traffic, device, trace);
  const Seconds bounded_time = SlowestLevel(overlapped_time, "overlapped_time", levels, device, trace);
  const Seconds time = launch + pass_time + bounded_time;
  if (trace.on()) {
    const Note note{"Attention time", "launch, passes before it (rotary embedding, KV-cache write), the slowest level",
                    kFamilySource, "time_s"};
    if (parameters.pass_factor > 0) {
      trace.Record("time", "launch + pass_time + bounded_time", time, note, "launch, pass_time, bounded_time", launch,
                   pass_time, bounded_time);
    } else {
      trace.Record("time", "launch + bounded_time", time, note, "launch, bounded_time", launch, bounded_time);
    }
  }
  KernelTime result;
  result.time = time;
  result.compute = compute_time;
  result.memory = stream_time + pass_time;
  result.flops = work.useful;
  result.bytes = work.bytes;
  SetLevels(traffic, levels, overlapped_time, work.stream_bound, result);
  if (launch > time / 2) result.bound = Bound::kLatency;
  return result;
}

}  // namespace slipstick
