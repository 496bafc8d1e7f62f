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
constexpr std::size_t kPowersOfTwo = 6;  // of the first tiles
constexpr std::array<Tile, 6> kGroupedTiles{{{64, 64}, {64, 128}, {64, 256}, {128, 64}, {128, 128}, {128, 256}}};

// Quantities shared by all candidates of a GEMM.
struct Shape {
  double rows, outputs, inputs, groups;
  double mma_rows;  // rows are computed in multiples of it
  double units;     // of the device
  FlopsPerSecond unit_rate;
  Seconds step_latency;
  BytesPerSecond l2_rate;
  double copied_rows;  // rows whose arithmetic takes as long as the tile's weights take to arrive
  double tile_load;    // rows or columns of a tile that load as long as they compute
  Seconds fill, merge;
};

// A tile size on a shape, for any split-K.
struct Tiling {
  double rows = 64, columns = 64;  // of the tile
  double grid = 1;                 // output tiles
  Seconds step;                    // per 64 inputs of a tile
};

struct Candidate {
  Tile tile{64, 64};
  double split = 1;
  Seconds compute;  // T_c
  Seconds merge;    // T_s
};

// A trace that is off at compile time, so the search over candidates does not pay for it.
struct NoTrace {
  static constexpr bool on() { return false; }
  template <class... Any>
  static constexpr void Record(Any&&...) {}
};

template <class AnyTrace>
Tiling TilingOf(const Shape& shape, const Tile& tile, AnyTrace& trace) {
  const double tile_rows = tile.rows, tile_columns = tile.columns;
  const double m = shape.rows, n = shape.outputs, groups = shape.groups, mma_rows = shape.mma_rows;
  const FlopsPerSecond unit_rate = shape.unit_rate;
  const Seconds step_latency = shape.step_latency;
  const Flops pair = 2 * kFlop;
  // With few rows, padding costs nothing while asynchronous copies bring the weights: as long as 64 rows take on the devices measured,
  // far less where the tensor cores are weak (H20).
  const double copied_rows = shape.copied_rows, tile_load = shape.tile_load, fragment = m <= 64 ? min(16, mma_rows) : mma_rows;
  FIGURE(trace, rows_computed, min(tile_rows, max(fragment * ceil(m / fragment), min(mma_rows * ceil(m / mma_rows), copied_rows))),
         (Note{"Rows computed per tile", "tensor cores work on whole fragments of rows; few rows wait for the weights", kSource}),
         tile_rows, fragment, m, mma_rows, copied_rows);
  FIGURE(trace, tile_cost, (1 + tile_load / max(rows_computed, 64) + tile_load / tile_columns) / (1 + tile_load / 128 + tile_load / 256),
         (Note{"Relative cost of a small tile", "over a 128x256 tile: each operand is loaded for fewer multiply-adds", kSource}), tile_load,
         rows_computed, tile_columns);
  FIGURE(trace, step_time, max(pair * rows_computed * tile_columns * 64 / unit_rate * tile_cost, step_latency),
         (Note{"Time per k step", "64 inputs of a tile: compute, or loop latency", kSource}), pair, rows_computed, tile_columns, unit_rate,
         tile_cost, step_latency);
  FIGURE(trace, grid, groups * ceil(m / tile_rows) * ceil(n / tile_columns), (Note{"Output tiles", "all groups", kSource}), groups, m,
         tile_rows, n, tile_columns);
  return {tile_rows, tile_columns, grid, step_time};
}

// Time on the SMs: waves of tiles, each as long as its k loop.
template <class AnyTrace>
Seconds ComputeTime(const Shape& shape, const Tiling& tiling, double split, AnyTrace& trace) {
  const double k = shape.inputs, units = shape.units, grid = tiling.grid;
  const Seconds step_time = tiling.step, fill = shape.fill;
  FIGURE(trace, steps, ceil(k / (64 * split)), (Note{"k steps per tile", "its share of k under split-K", kSource}), k, split);
  FIGURE(trace, waves, ceil(grid * split / units), (Note{"Waves", "one tile per SM at a time", kSource}), grid, split, units);
  FIGURE(trace, compute_time, waves * (steps * step_time + fill),
         (Note{"Time on the tensor cores", "each tile is filled and drained", kSource}), waves, steps, step_time, fill);
  return compute_time;
}

// Partial sums of split-K: fp32, written and read back through L2.
Seconds MergeTime(const Shape& shape, double split) {
  return split == 1 ? Seconds{} : shape.merge + 8 * kB * split * shape.rows * shape.outputs / shape.l2_rate;
}

// The fastest kernel, as the library's heuristics choose. `ideal`: lower bound on the compute time of every candidate.
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
    if (floor_time + merge >= best_time) break;  // merge time grows with the split
    // Memory time is the same for all tiles, so the fastest on the SMs is the fastest.
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

// DRAM traffic of a tiled GEMM: each generation of resident tiles rereads operands that miss L2. Mean error 15 % over 39 profiled CUTLASS
// kernels on A100.
Bytes DramBytes(const Gemm& gemm, const Candidate& best, Bytes cold_read, Bytes output, const Device& device) {
  if (!device.architecture->traits.tiled) return cold_read + output;
  const Bytes l2 = L2Capacity(device);
  const L2Reuse& reuse = device.architecture->gemm.l2;
  const double units = static_cast<double>(device.units);
  const double tiles = ceil(gemm.m / best.tile.rows) * ceil(gemm.n / best.tile.columns);
  const double resident = min(tiles, (best.tile.rows * best.tile.columns > 128 * 128 ? 2 : 3) * units);
  const double operand = (BytesPerElement(gemm.precision) + BytesPerElement(gemm.weights)) / 2;
  const Bytes reread = max(1.0, tiles / resident) * 2 * sqrt(resident * best.tile.rows * best.tile.columns) * gemm.k * operand * kB;
  const double missed = l2 > Bytes{} ? min(1.0, cold_read / (reuse.no_reuse_from * l2)) : 1;
  return cold_read + max(Bytes{}, reuse.reread_factor * gemm.groups * reread - cold_read) * missed + output;
}

// Traffic inside the chip. Each output tile fetches its rows and columns of the operands through L2; inside an SM the tensor cores read
// them in fragments of 64 rows. Large engines (128 x 128, Jouppi et al. 2017) hold a block of weights while all rows pass.
struct InnerTraffic {
  Bytes l2, l1;
};
InnerTraffic InnerBytes(const Gemm& gemm, const Candidate& best, Bytes weights, Bytes output, Bytes memory, const Device& device) {
  const double operand = (BytesPerElement(gemm.precision) + BytesPerElement(gemm.weights)) / 2;
  InnerTraffic inner;
  if (device.architecture->traits.tiled) {
    const double rows = min(best.tile.rows, gemm.m), columns = min(best.tile.columns, gemm.n);
    const double tiles = gemm.groups * ceil(gemm.m / best.tile.rows) * ceil(gemm.n / best.tile.columns);
    const Bytes partial_sums = best.split > 1 ? 8 * kB * best.split * gemm.groups * gemm.m * gemm.n : Bytes{};
    inner.l2 = tiles * (rows + columns) * gemm.k * operand * kB + output + partial_sums;
    inner.l1 = tiles * ceil(rows / 64) * (min(rows, 64) + columns) * gemm.k * operand * kB + output + partial_sums;
  } else {
    inner.l2 = memory;
    inner.l1 = weights + output + gemm.groups * gemm.m * gemm.k * ceil(gemm.n / 128) * operand * kB;
  }
  // Data from memory passes every level.
  inner.l2 = max(inner.l2, memory);
  inner.l1 = max(inner.l1, inner.l2);
  return inner;
}

}  // namespace

Seconds PassTime(Bytes bytes, Bytes resident, double kept_l2, double bandwidth_efficiency, double efficiency, const Device& device) {
  const Bytes reach = resident + kept_l2 * L2Capacity(device);
  const double missed = reach > Bytes{} ? resident / reach : 1;
  return (bytes * missed / (device.memory.bandwidth * bandwidth_efficiency) + bytes * (1 - missed) / L2Rate(device)) / efficiency;
}

double WeightsLeftInL2(Bytes weights, double max_copies, const Device& device) {
  const Bytes l2 = L2Capacity(device);
  if (!(l2 > Bytes{}) || !(weights > Bytes{})) return 0;
  // A working set as large as the L2 stays resident in an undivided L2 (L40S, RTX PRO 6000: at least 0.75 usable), but not in one of two
  // halves (A100, H100, B200: 0.6), which keep some lines twice.
  const double copies = std::clamp(ceil(l2 / weights), 1.0, max_copies);
  const L2Reuse& reuse = device.architecture->gemm.l2;
  const double largest = min(reuse.max_weights, reuse.min_weights + *device.efficiency.usable_l2_fraction / reuse.usable_over_min);
  return std::clamp((largest - copies * (weights / l2)) / reuse.falloff, 0.0, 1.0);
}

namespace {

// Time to move the operands and the output. The symbols are inputs and efficiencies recorded by TimeOf.
struct DataMovement {
  Bytes weights;
  Seconds time;
};
DataMovement MoveData(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace) {
  const double m = gemm.m, n = gemm.n, k = gemm.k, groups = gemm.groups;
  const Bytes activation_size = ElementSize(NativePrecision(device, gemm.precision)), weight_size = ElementSize(gemm.weights);
  const Bytes output_size = gemm.output_bytes * kB, l2_capacity = L2Capacity(device);
  const BytesPerSecond bandwidth = device.memory.bandwidth, l2_rate = L2Rate(device);
  const double bandwidth_efficiency = parameters.bandwidth_efficiency, weights_in_l2 = gemm.weights_in_l2;
  FIGURE(trace, weight_bytes, groups * n * k * weight_size, (Note{"Weights", "read once"}), groups, n, k, weight_size);
  FIGURE(trace, activation_bytes, groups * m * (k * activation_size + n * output_size), (Note{"Activations in and out", ""}), groups, m, k,
         activation_size, n, output_size);
  const double kept_l2 = device.architecture->gemm.l2.activations;
  FIGURE(trace, missed, activation_bytes / (activation_bytes + kept_l2 * l2_capacity),
         (Note{"Fraction of the activations that goes to memory", "the rest stays in L2 between kernels", kSource}), activation_bytes,
         kept_l2, l2_capacity);
  FIGURE(trace, stream_time,
         (weight_bytes * (1 - weights_in_l2) + activation_bytes * missed) / (bandwidth * bandwidth_efficiency) +
             weight_bytes * weights_in_l2 / l2_rate,
         (Note{"Time to move the data", "at the achievable bandwidth", kSource}), weight_bytes, weights_in_l2, activation_bytes, missed,
         bandwidth, bandwidth_efficiency, l2_rate);
  return {weight_bytes, stream_time};
}

// FLOPs of the product, and the rate of one SM, which falls in a long kernel.
struct ComputeRate {
  Flops flops;
  FlopsPerSecond unit_rate;
};
ComputeRate RateOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, FlopsPerSecond peak_rate, Trace& trace) {
  const double m = gemm.m, n = gemm.n, k = gemm.k, groups = gemm.groups, units = static_cast<double>(device.units);
  const double gemm_efficiency = parameters.gemm_efficiency, clock_derating = parameters.clock_derating;
  const Seconds derating_ramp = parameters.derating_ramp;
  const Flops pair = 2 * kFlop;
  FIGURE(trace, flops, pair * groups * m * n * k, (Note{"FLOPs", "a multiply-add counts as two"}), pair, groups, m, n, k);
  FIGURE(trace, ideal_time, flops / (peak_rate * gemm_efficiency),
         (Note{"Ideal compute time", "at the GEMM efficiency of the best tile", kSource}), flops, peak_rate, gemm_efficiency);
  FIGURE(trace, unit_rate, peak_rate * gemm_efficiency / units / (1 + clock_derating * ideal_time / (ideal_time + derating_ramp)),
         (Note{"Rate of one SM", "the power limit lowers the clock in long kernels", kSource}), peak_rate, gemm_efficiency, units,
         clock_derating, ideal_time, derating_ramp);
  return {flops, unit_rate};
}

Seconds ConvertTime(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace) {
  const double n = gemm.n, k = gemm.k, groups = gemm.groups, units = static_cast<double>(device.units);
  const Hertz clock = device.clock;
  // The vector units beside a few large engines are as wide as those of 128 small SMs.
  const double convert_per_clock = parameters.convert_per_clock * (device.architecture->traits.tiled ? 1 : max(1.0, 128 / units));
  FIGURE(trace, convert_time, groups * n * k / (units * clock * convert_per_clock),
         (Note{"Time to convert the weights", "to the compute precision, on the vector units", kSource}), groups, n, k, units, clock,
         convert_per_clock);
  return convert_time;
}

Candidate BestCandidate(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, const ComputeRate& rate,
                        Seconds memory_time, Trace& trace) {
  const double units = static_cast<double>(device.units);
  const Seconds ideal = rate.flops / (rate.unit_rate * units);
  const KernelTraits& traits = device.architecture->traits;
  if (!traits.tiled) {
    Candidate engine;  // the compiler fits the tiles to large engines: no waves
    engine.compute = ideal;
    return engine;
  }
  const GemmTable& table = device.architecture->gemm;
  const bool narrow_fragments = BytesPerElement(gemm.weights) < BytesPerElement(NativePrecision(device, gemm.precision));
  const double mma_rows = min(traits.mma_rows, narrow_fragments ? 16 : 64);
  const BytesPerSecond copy_rate = table.copy_bytes_per_clock * device.clock;
  const Flops pair = 2 * kFlop;
  const double copied_rows = traits.asynchronous_mma ? rate.unit_rate / copy_rate * ElementSize(gemm.weights) / pair : mma_rows;
  const Shape shape{
      gemm.m,         gemm.n,      gemm.k,          gemm.groups, mma_rows,           units, rate.unit_rate, parameters.step_latency,
      L2Rate(device), copied_rows, table.tile_load, table.fill,  table.split_k_merge};
  const Candidate best = Choose(shape, parameters, ideal, memory_time);
  if (trace.on()) ComputeTime(shape, TilingOf(shape, best.tile, trace), best.split, trace);
  return best;
}

}  // namespace

KernelTime TimeOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace) {
  assert(gemm.m > 0 && gemm.n > 0 && gemm.k > 0 && gemm.groups > 0);
  const double m = gemm.m, n = gemm.n, k = gemm.k, groups = gemm.groups;
  const Precision native = NativePrecision(device, gemm.precision);
  const FlopsPerSecond peak_rate = PeakRate(device, native, trace);
  trace.Input("bandwidth", device.memory.bandwidth, "cluster.device.memory.bandwidth");
  trace.Input("units", static_cast<double>(device.units), "cluster.device.units");
  trace.Input("l2_capacity", L2Capacity(device), "cluster.device.caches");
  const GemmTable& table = device.architecture->gemm;
  const Trace::Citing citing(trace, SourceOf(device, table.source));
  Explain(gemm, parameters, device, trace);

  const DataMovement data = MoveData(gemm, device, parameters, trace);
  const ComputeRate rate = RateOf(gemm, device, parameters, peak_rate, trace);
  const bool weight_only = parameters.convert_per_clock > 0;
  const Seconds memory_time = weight_only ? max(data.time, ConvertTime(gemm, device, parameters, trace)) : data.time;
  const Candidate best = BestCandidate(gemm, device, parameters, rate, memory_time, trace);
  const Seconds compute_time = best.compute, merge_time = best.merge, launch = parameters.launch;
  FIGURE(trace, overlapped_time, norm(compute_time, memory_time, 3),
         (Note{"Compute and data movement together", "they overlap, except for the cubic norm: equal times take 1.26 of one", kSource}),
         compute_time, memory_time);
  Seconds quantize_time = parameters.extra_launch;
  if (parameters.quantize_bytes > 0) {
    quantize_time += PassTime(parameters.quantize_bytes * kB * groups * m * k, 2 * kB * groups * m * k, table.l2.quantized_activations,
                              *device.efficiency.bandwidth_efficiency, parameters.quantize_efficiency, device);
  }
  FIGURE(trace, time, launch + overlapped_time + merge_time + quantize_time,
         (Note{"GEMM time", "launch, overlapped work, split-K merge, quantization", kSource, "time_s"}), launch, overlapped_time,
         merge_time, quantize_time);

  KernelTime result;
  result.time = time;
  result.compute = compute_time;
  result.memory = memory_time;
  result.bound = launch + merge_time + quantize_time > overlapped_time ? Bound::kLatency
                 : compute_time >= memory_time                         ? Bound::kCompute
                                                                       : Bound::kMemory;
  result.flops = rate.flops;
  const Bytes output = groups * m * n * (gemm.output_bytes * kB);
  result.bytes = DramBytes(gemm, best, groups * m * k * ElementSize(native) + data.weights, output, device);
  const InnerTraffic inner = InnerBytes(gemm, best, data.weights, output, result.bytes, device);
  result.l2_bytes = inner.l2;
  result.l1_bytes = inner.l1;
  return result;
}

}  // namespace slipstick
