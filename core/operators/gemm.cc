#include "core/operators/gemm.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>

#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = kFamilySource;

struct Tile {
  double rows, columns;
};
constexpr std::array<Tile, 10> kTiles{
    {{64, 64}, {64, 128}, {128, 64}, {128, 128}, {128, 256}, {256, 128}, {64, 192}, {128, 192}, {64, 96}, {128, 96}}};
constexpr std::size_t kPowersOfTwo = 6;  // the first of them
constexpr std::array<Tile, 6> kGroupedTiles{{{64, 64}, {64, 128}, {64, 256}, {128, 64}, {128, 128}, {128, 256}}};

// What all candidates of a product share.
struct Shape {
  double rows, outputs, inputs, groups;
  double row_grain;  // rows are computed in multiples of it
  double units;      // of the device
  FlopsPerSecond unit_rate;
  Seconds step_latency;
  BytesPerSecond cache_rate;
  double feed_rows;  // rows whose arithmetic takes as long as the tile's weights take to arrive
  double tile_load;  // rows or columns of a tile that load as long as they compute
  Seconds fill, merge;
};

// One tile size on a shape, whatever the split.
struct Tiling {
  double rows = 64, columns = 64;  // of the tile
  double grid = 1;                 // tiles of the outputs
  Seconds step;                    // time of 64 inputs of a tile
};

struct Candidate {
  Tile tile{64, 64};
  double split = 1;
  Seconds compute;  // T_c
  Seconds merge;    // T_s
};

// A trace that is off at compile time: the search over candidates pays nothing for it.
struct NoTrace {
  static constexpr bool on() { return false; }
  template <class... Any>
  static constexpr void Record(Any&&...) {}
};

template <class AnyTrace>
Tiling TilingOf(const Shape& shape, const Tile& tile, AnyTrace& trace) {
  const double tile_rows = tile.rows, tile_columns = tile.columns;
  const double m = shape.rows, n = shape.outputs, groups = shape.groups, row_grain = shape.row_grain;
  const FlopsPerSecond unit_rate = shape.unit_rate;
  const Seconds step_latency = shape.step_latency;
  const Flops pair = 2 * kFlop;
  // Few rows: padding costs nothing beside the arrival of the weights by asynchronous copies. That is as long
  // as 64 rows on the devices that set the form, but far less where the matrix units are weak (H20).
  const double feed_rows = shape.feed_rows, tile_load = shape.tile_load, fragment = m <= 64 ? min(16, row_grain) : row_grain;
  FIGURE(trace, rows_computed, min(tile_rows, max(fragment * ceil(m / fragment), min(row_grain * ceil(m / row_grain), feed_rows))),
         (Note{"Rows a tile computes", "matrix units work on whole fragments of rows; few rows wait for the weights to arrive", kSource}),
         tile_rows, fragment, m, row_grain, feed_rows);
  FIGURE(trace, tile_cost, (1 + tile_load / max(rows_computed, 64) + tile_load / tile_columns) / (1 + tile_load / 128 + tile_load / 256),
         (Note{"Cost of a small tile", "over that of a 128x256 one: each operand is loaded for fewer products", kSource}), tile_load,
         rows_computed, tile_columns);
  FIGURE(trace, step_time, max(pair * rows_computed * tile_columns * 64 / unit_rate * tile_cost, step_latency),
         (Note{"Time of a step", "64 inputs of a tile: their arithmetic, or the latency of the loop", kSource}), pair, rows_computed,
         tile_columns, unit_rate, tile_cost, step_latency);
  FIGURE(trace, grid, groups * ceil(m / tile_rows) * ceil(n / tile_columns), (Note{"Tiles of the outputs", "of all groups", kSource}),
         groups, m, tile_rows, n, tile_columns);
  return {tile_rows, tile_columns, grid, step_time};
}

// Time on the units for a tile and split: waves of tiles, each as long as its loop over k.
template <class AnyTrace>
Seconds ComputeTime(const Shape& shape, const Tiling& tiling, double split, AnyTrace& trace) {
  const double k = shape.inputs, units = shape.units, grid = tiling.grid;
  const Seconds step_time = tiling.step, fill = shape.fill;
  FIGURE(trace, steps, ceil(k / (64 * split)), (Note{"Steps of a tile", "its share of k under split-K", kSource}), k, split);
  FIGURE(trace, waves, ceil(grid * split / units), (Note{"Waves", "every unit takes one tile at a time", kSource}), grid, split, units);
  FIGURE(trace, compute_time, waves * (steps * step_time + fill),
         (Note{"Time on the matrix units", "each tile is filled and drained", kSource}), waves, steps, step_time, fill);
  return compute_time;
}

// Partial sums of split-K: fp32, written and read back through the last cache.
Seconds MergeTime(const Shape& shape, double split) {
  return split == 1 ? Seconds{} : shape.merge + 8 * kB * split * shape.rows * shape.outputs / shape.cache_rate;
}

// The library's choice: the quickest of its kernels. `ideal` is the arithmetic at the full rate, which no candidate beats.
Candidate Choose(const Shape& shape, const GemmKernelParameters& parameters, Seconds ideal, Seconds memory) {
  NoTrace off;
  const std::span<const Tile> tiles = shape.groups != 1          ? std::span<const Tile>(kGroupedTiles)
                                      : parameters.columns_by_96 ? std::span<const Tile>(kTiles)
                                                                 : std::span<const Tile>(kTiles).first(kPowersOfTwo);
  std::array<Tiling, kTiles.size()> tilings;
  for (std::size_t i = 0; i < tiles.size(); ++i) tilings[i] = TilingOf(shape, tiles[i], off);
  const Seconds floor_time = norm(ideal, memory, 3);
  Candidate best;
  Seconds best_time = Seconds::FromBase(std::numeric_limits<double>::infinity());
  for (double split = 1; split <= parameters.max_split; split *= 2) {
    const Seconds merge = MergeTime(shape, split);
    if (floor_time + merge >= best_time) break;  // merging only grows with the split
    // The quickest on the units is the quickest beside the same memory.
    std::size_t chosen = tiles.size();
    Seconds least;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (split > 1 && parameters.split_fills_two_waves && tilings[i].grid * split > 2 * shape.units) continue;
      const Seconds compute = ComputeTime(shape, tilings[i], split, off);
      if (chosen < tiles.size() && compute >= least) continue;
      chosen = i;
      least = compute;
    }
    if (chosen == tiles.size() || max(least, memory) + merge >= best_time) continue;
    const Seconds time = norm(least, memory, 3) + merge;
    if (time < best_time) {
      best = {tiles[chosen], split, least, merge};
      best_time = time;
    }
  }
  return best;
}

// Bytes to and from memory of a tiled product: operands are read again by each generation of resident tiles that the last
// cache does not serve. 15 % mean error over 39 profiled CUTLASS kernels on A100.
Bytes DramBytes(const Gemm& gemm, const Candidate& best, Bytes cold_read, Bytes output, const Device& device) {
  if (!device.architecture->traits.tiled) return cold_read + output;
  const Bytes cache = L2Capacity(device);
  const CacheReuse& reuse = device.architecture->gemm.cache;
  const double units = static_cast<double>(device.units);
  const double tiles = ceil(gemm.m / best.tile.rows) * ceil(gemm.n / best.tile.columns);
  const double resident = min(tiles, (best.tile.rows * best.tile.columns > 128 * 128 ? 2 : 3) * units);
  const double operand = (BytesPerElement(gemm.precision) + BytesPerElement(gemm.weights)) / 2;
  const Bytes reread = max(1.0, tiles / resident) * 2 * sqrt(resident * best.tile.rows * best.tile.columns) * gemm.k * operand * kB;
  const double missed = cache > Bytes{} ? min(1.0, cold_read / (reuse.missed_from * cache)) : 1;
  return cold_read + max(Bytes{}, reuse.read_again * gemm.groups * reread - cold_read) * missed + output;
}

// Traffic further in. Each tile of the outputs fetches its rows and columns of the operands through the last cache; inside a
// unit the matrix instructions read them a fragment of 64 rows at a time. Large engines (128 x 128, Jouppi et al. 2017) hold a
// block of weights while all rows pass.
struct InnerTraffic {
  Bytes cache, unit;
};
InnerTraffic InnerBytes(const Gemm& gemm, const Candidate& best, Bytes weights, Bytes output, Bytes memory, const Device& device) {
  const double operand = (BytesPerElement(gemm.precision) + BytesPerElement(gemm.weights)) / 2;
  InnerTraffic inner;
  if (device.architecture->traits.tiled) {
    const double rows = min(best.tile.rows, gemm.m), columns = min(best.tile.columns, gemm.n);
    const double tiles = gemm.groups * ceil(gemm.m / best.tile.rows) * ceil(gemm.n / best.tile.columns);
    const Bytes partial_sums = best.split > 1 ? 8 * kB * best.split * gemm.groups * gemm.m * gemm.n : Bytes{};
    inner.cache = tiles * (rows + columns) * gemm.k * operand * kB + output + partial_sums;
    inner.unit = tiles * ceil(rows / 64) * (min(rows, 64) + columns) * gemm.k * operand * kB + output + partial_sums;
  } else {
    inner.cache = memory;
    inner.unit = weights + output + gemm.groups * gemm.m * gemm.k * ceil(gemm.n / 128) * operand * kB;
  }
  // What comes from memory passes every level.
  inner.cache = max(inner.cache, memory);
  inner.unit = max(inner.unit, inner.cache);
  return inner;
}

}  // namespace

Seconds PassTime(Bytes bytes, Bytes resident, double cache_factor, double bandwidth_efficiency, double share, const Device& device) {
  const Bytes reach = resident + cache_factor * L2Capacity(device);
  const double missed = reach > Bytes{} ? resident / reach : 1;
  return (bytes * missed / (device.memory.bandwidth * bandwidth_efficiency) + bytes * (1 - missed) / L2Rate(device)) / share;
}

double WeightsLeftInL2(Bytes weights, double most_copies, const Device& device) {
  const Bytes cache = L2Capacity(device);
  if (!(cache > Bytes{}) || !(weights > Bytes{})) return 0;
  // A set as large as the cache stays in an undivided one (L40S, RTX PRO 6000: 0.75 and more of it usable), but not in one of
  // two halves (A100, H100, B200: 0.6), which keep some lines twice.
  const double copies = std::clamp(ceil(cache / weights), 1.0, most_copies);
  const CacheReuse& reuse = device.architecture->gemm.cache;
  const double largest = min(reuse.most, reuse.least + *device.efficiency.usable_l2_fraction / reuse.over_share);
  return std::clamp((largest - copies * (weights / cache)) / reuse.fall, 0.0, 1.0);
}

KernelTime TimeOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace) {
  assert(gemm.m > 0 && gemm.n > 0 && gemm.k > 0 && gemm.groups > 0);
  const double m = gemm.m, n = gemm.n, k = gemm.k, groups = gemm.groups;
  const Precision native = NativePrecision(device, gemm.precision);
  const bool weight_only = parameters.convert_per_clock > 0;
  const KernelTraits& traits = device.architecture->traits;
  const Bytes activation_size = ElementSize(native), weight_size = ElementSize(gemm.weights), output_size = gemm.output_bytes * kB;
  const Bytes last_cache = L2Capacity(device);
  const FlopsPerSecond peak_rate = PeakRate(device, native, trace);
  const BytesPerSecond bandwidth = device.memory.bandwidth, cache_rate = L2Rate(device);
  const double gemm_efficiency = parameters.gemm_efficiency, bandwidth_efficiency = parameters.bandwidth_efficiency,
               weights_in_l2 = gemm.weights_in_l2;
  const double units = static_cast<double>(device.units), clock_derating = parameters.clock_derating;
  const Seconds power_ramp = parameters.power_ramp, launch = parameters.launch;
  const Flops pair = 2 * kFlop;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  trace.Input("units", units, "cluster.device.units");
  trace.Input("last_cache", last_cache, "cluster.device.caches");
  const GemmTable& table = device.architecture->gemm;
  const Trace::Citing citing(trace, SourceOf(device, table.source));
  Explain(gemm, parameters, device, trace);

  FIGURE(trace, weight_bytes, groups * n * k * weight_size, (Note{"Weights", "read once"}), groups, n, k, weight_size);
  FIGURE(trace, activation_bytes, groups * m * (k * activation_size + n * output_size), (Note{"Activations in and out", ""}), groups, m, k,
         activation_size, n, output_size);
  const double kept = table.cache.activations;
  FIGURE(trace, missed, activation_bytes / (activation_bytes + kept * last_cache),
         (Note{"Share of the activations that goes to memory", "the rest stays in the last cache between kernels", kSource}),
         activation_bytes, kept, last_cache);
  FIGURE(trace, stream_time,
         (weight_bytes * (1 - weights_in_l2) + activation_bytes * missed) / (bandwidth * bandwidth_efficiency) +
             weight_bytes * weights_in_l2 / cache_rate,
         (Note{"Time to move the data", "at the share of the bandwidth that a stream reaches", kSource}), weight_bytes, weights_in_l2,
         activation_bytes, missed, bandwidth, bandwidth_efficiency, cache_rate);
  FIGURE(trace, flops, pair * groups * m * n * k, (Note{"Arithmetic", "a multiplication and an addition are two"}), pair, groups, m, n, k);
  FIGURE(trace, ideal_time, flops / (peak_rate * gemm_efficiency),
         (Note{"Ideal time of the arithmetic", "at the share of the peak that the best tile reaches", kSource}), flops, peak_rate,
         gemm_efficiency);
  FIGURE(trace, unit_rate, peak_rate * gemm_efficiency / units / (1 + clock_derating * ideal_time / (ideal_time + power_ramp)),
         (Note{"Rate of one unit", "power lowers the clock when a kernel runs long", kSource}), peak_rate, gemm_efficiency, units,
         clock_derating, ideal_time, power_ramp);

  Seconds memory_time = stream_time;
  if (weight_only) {
    const Hertz clock = device.clock;
    // A few large engines: the vector units beside them are as wide as those of a device of 128 small ones.
    const double convert_per_clock = parameters.convert_per_clock * (traits.tiled ? 1 : max(1.0, 128 / units));
    FIGURE(trace, convert_time, groups * n * k / (units * clock * convert_per_clock),
           (Note{"Time to convert the weights", "to the arithmetic's format, on the ordinary units", kSource}), groups, n, k, units, clock,
           convert_per_clock);
    memory_time = max(stream_time, convert_time);
  }
  Candidate best;
  if (traits.tiled) {
    const bool narrow_fragments = BytesPerElement(gemm.weights) < BytesPerElement(native);
    const double row_grain = min(traits.row_grain, narrow_fragments ? 16 : 64);
    const BytesPerSecond feed = table.feed * device.clock;
    const double feed_rows = traits.asynchronous_mma ? unit_rate / feed * weight_size / pair : row_grain;
    const Shape shape{
        m,          n,          k, groups, row_grain, units, unit_rate, parameters.step_latency, cache_rate, feed_rows, table.tile_load,
        table.fill, table.merge};
    best = Choose(shape, parameters, flops / (unit_rate * units), memory_time);
    if (trace.on()) ComputeTime(shape, TilingOf(shape, best.tile, trace), best.split, trace);
  } else {
    best.compute = flops / (unit_rate * units);  // the compiler tiles to fit; large engines have no waves
  }
  const Seconds compute_time = best.compute, merge_time = best.merge;
  FIGURE(trace, overlapped_time, norm(compute_time, memory_time, 3),
         (Note{"Arithmetic and data together", "they overlap but for the cube norm: equal ones take 1.26 of one", kSource}), compute_time,
         memory_time);
  Seconds quantize_time = parameters.extra_launch;
  if (parameters.quantize_bytes > 0) {
    quantize_time += PassTime(parameters.quantize_bytes * kB * groups * m * k, 2 * kB * groups * m * k, table.cache.quantized,
                              *device.efficiency.bandwidth_efficiency, parameters.quantize_efficiency, device);
  }
  FIGURE(trace, time, launch + overlapped_time + merge_time + quantize_time,
         (Note{"Time of the product", "launch, the overlapped work, partial sums of split-K, quantisation", kSource, "time_s"}), launch,
         overlapped_time, merge_time, quantize_time);

  KernelTime result;
  result.time = time;
  result.compute = compute_time;
  result.memory = memory_time;
  result.bound = launch + merge_time + quantize_time > overlapped_time ? Bound::kLatency
                 : compute_time >= memory_time                         ? Bound::kCompute
                                                                       : Bound::kMemory;
  result.flops = flops;
  result.bytes = DramBytes(gemm, best, groups * m * k * activation_size + weight_bytes, groups * m * n * output_size, device);
  const InnerTraffic inner = InnerBytes(gemm, best, weight_bytes, groups * m * n * output_size, result.bytes, device);
  result.l2_bytes = inner.cache;
  result.l1_bytes = inner.unit;
  return result;
}

}  // namespace slipstick
