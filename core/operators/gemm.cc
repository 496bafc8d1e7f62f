#include "core/operators/gemm.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/base/sum.h"
#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm_tiles.h"
#include "core/operators/gemm_traffic.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

// A kernel for stored weights works row by row, or splits its tiles along k over all SMs alike.
bool HasTiles(const Device& device, const GemmKernelParameters& parameters) {
  return device.architecture->traits.tiled && !(parameters.stored_per_clock > Flops{});
}

struct DataMovement : GemmData {
  Seconds time;
  Bound bound = Bound::kMemory;  // of that time
};

}  // namespace

Seconds PassTime(Bytes bytes, Bytes resident, double kept_l2, double bandwidth_efficiency, double efficiency,
                 const Device& device, Trace& trace) {
  const BytesPerSecond l2_rate = L2Rate(device, trace), bandwidth = SlowestStream(device, trace).bandwidth;
  const Bytes l2_capacity = L2Capacity(device, trace);
  const Bytes reach = resident + kept_l2 * l2_capacity;
  if (!(reach > Bytes{})) return bytes / (bandwidth * bandwidth_efficiency) / efficiency;
  FIGURE(
      trace, missed, resident / (resident + kept_l2 * l2_capacity),
      (Note{"Fraction that goes to memory", "the rest is found in L2, where the kernel before left it", kFamilySource}),
      resident, kept_l2, l2_capacity);
  FIGURE(trace, pass_time,
         (bytes * missed / (bandwidth * bandwidth_efficiency) + bytes * (1 - missed) / l2_rate) / efficiency,
         (Note{"Time of the pass over memory", "", kFamilySource}), bytes, missed, bandwidth, bandwidth_efficiency,
         l2_rate, efficiency);
  return pass_time;
}

Seconds PassTime(Bytes bytes, Bytes resident, double kept_l2, double bandwidth_efficiency, double efficiency,
                 const Device& device) {
  Trace off = Trace::Off();
  return PassTime(bytes, resident, kept_l2, bandwidth_efficiency, efficiency, device, off);
}

double WeightsLeftInL2(Bytes weights, double max_copies, const Device& device) {
  const Bytes l2 = L2Capacity(device);
  if (!(l2 > Bytes{}) || !(weights > Bytes{})) return 0;
  // A working set as large as the L2 stays resident in an undivided L2 (L40S, RTX PRO 6000: at least 0.75 usable), but
  // not in one of two halves (A100, H100, B200: 0.6), which keep some lines twice.
  const double copies = std::clamp<double>(ceil(l2 / weights), 1, max_copies);
  const L2Reuse& reuse = device.architecture->gemm.l2;
  const double largest =
      min(reuse.max_weights, reuse.min_weights + *device.efficiency.usable_l2_fraction / reuse.usable_over_min);
  return std::clamp<double>((largest - copies * (weights / l2)) / reuse.falloff, 0, 1);
}

namespace {

// Traffic of the caches. Output tiles stream their rows and columns of the operands from L2: in the largest tile of the
// family, as libraries choose it, share its loads between blocks or order the tiles where L2 would bind. Tensor cores
// read them in fragments from shared memory.
LevelTraffic TrafficOf(const Gemm& gemm, const Device& device, Trace& trace) {
  const double m = gemm.m, n = gemm.n, k = gemm.k, groups = gemm.groups;
  const Bytes activation_size = ElementSize(NativePrecision(device, gemm.precision)),
              weight_size = ElementSize(gemm.weights), output_size = gemm.output_bytes * kB;
  const KernelTraits& traits = device.architecture->traits;
  constexpr Note kL2{"Traffic of the L2", "each tile of outputs streams its rows and columns of the operands"};
  constexpr Note kL1{"Traffic of shared memory", "the tensor cores read the operands in fragments"};
  if (!traits.tiled) {
    // Large engines (128 x 128, Jouppi et al. 2017) hold a block of weights while all rows pass.
    FIGURE_OVER_GROUPS(trace, l2_traffic, (n * k * weight_size + m * k * activation_size + m * n * output_size), kL2, n,
                       k, weight_size, m, activation_size, output_size);
    FIGURE_OVER_GROUPS(trace, l1_traffic,
                       (n * k * weight_size + m * k * ceil(n / 128) * activation_size + m * n * output_size), kL1, n, k,
                       weight_size, m, activation_size, output_size);
    return {l2_traffic, l1_traffic};
  }
  const double l2_rows = traits.l2_rows, l2_columns = traits.l2_columns, fragment_rows = traits.fragment_rows,
               fragment_columns = traits.fragment_columns;
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->gemm.source), l2_rows,
            l2_columns, fragment_rows, fragment_columns);
  FIGURE_OVER_GROUPS(
      trace, l2_traffic,
      (m * n * k * (activation_size / min(l2_columns, n) + weight_size / min(l2_rows, m)) + m * n * output_size), kL2,
      m, n, k, activation_size, l2_columns, weight_size, l2_rows, output_size);
  FIGURE_OVER_GROUPS(trace, l1_traffic,
                     (m * n * k * (activation_size / min(fragment_columns, n) + weight_size / min(fragment_rows, m)) +
                      m * n * output_size),
                     kL1, m, n, k, activation_size, fragment_columns, weight_size, fragment_rows, output_size);
  return {l2_traffic, l1_traffic};
}

// Time to move the operands and the output. The symbols are inputs and efficiencies recorded by TimeOf.
DataMovement MoveData(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace) {
  const double m = gemm.m, n = gemm.n, k = gemm.k, groups = gemm.groups;
  const Bytes activation_size = ElementSize(NativePrecision(device, gemm.precision)),
              weight_size = ElementSize(gemm.weights);
  const Bytes output_size = gemm.output_bytes * kB, l2_capacity = L2Capacity(device, trace);
  const BytesPerSecond bandwidth = device.memory.bandwidth, l2_rate = L2Rate(device, trace);
  const double bandwidth_efficiency = parameters.bandwidth_efficiency, weights_in_l2 = gemm.weights_in_l2;
  const double activations = device.architecture->gemm.l2.activations, kept_l2 = activations;
  CONSTANTS(trace, KernelTable(device, "gemm.cache"), SourceOf(device, device.architecture->gemm.source), activations);
  const Bytes weight_bytes = WeightBytes(gemm, device, parameters, trace);
  FIGURE_OVER_GROUPS(trace, activation_bytes, m * (k * activation_size + n * output_size),
                     (Note{"Activations in and out", ""}), m, k, activation_size, n, output_size);
  trace.Alias("kept_l2", kept_l2, "activations");
  FIGURE(
      trace, missed, activation_bytes / (activation_bytes + kept_l2 * l2_capacity),
      (Note{"Fraction of the activations that goes to memory", "the rest stays in L2 between kernels", kFamilySource}),
      activation_bytes, kept_l2, l2_capacity);
  constexpr Note kNote{"Time to move the data", "at the achievable bandwidth", kFamilySource};
  if (!(weights_in_l2 > 0)) {
    FIGURE(trace, stream_time, (weight_bytes + activation_bytes * missed) / (bandwidth * bandwidth_efficiency), kNote,
           weight_bytes, activation_bytes, missed, bandwidth, bandwidth_efficiency);
    return {{gemm.m, gemm.n, gemm.k, gemm.groups, weight_bytes, activation_bytes, weight_size, activation_size},
            stream_time};
  }
  FIGURE(trace, stream_time,
         (weight_bytes * (1 - weights_in_l2) + activation_bytes * missed) / (bandwidth * bandwidth_efficiency) +
             weight_bytes * weights_in_l2 / l2_rate,
         kNote, weight_bytes, weights_in_l2, activation_bytes, missed, bandwidth, bandwidth_efficiency, l2_rate);
  return {{gemm.m, gemm.n, gemm.k, gemm.groups, weight_bytes, activation_bytes, weight_size, activation_size},
          stream_time,
          BoundOfData(stream_time, weight_bytes * weights_in_l2 / l2_rate)};
}

Seconds ConvertTime(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace) {
  const double n = gemm.n, k = gemm.k, groups = gemm.groups, units = static_cast<double>(device.units);
  const Hertz clock = device.clock;
  // The vector units beside a few large engines are as wide as those of 128 small SMs.
  const double convert_per_clock = parameters.convert_per_clock,
               engine_width = device.architecture->traits.tiled ? 1 : 128 / units;
  if (device.architecture->traits.tiled) {
    trace.Constants("gemm.conversion", "small SMs convert with their own vector units", "engine_width", engine_width);
  } else {
    trace.Record("engine_width", "128 / units", engine_width,
                 Note{"Vector units of an engine", "over those of one of 128 small SMs"}, "units", units);
  }
  FIGURE(trace, converted, convert_per_clock * max(1.0, engine_width),
         (Note{"Weights converted per clock and engine",
               "the vector units beside a large engine are as wide as many SMs", kFamilySource}),
         convert_per_clock, engine_width);
  FIGURE_OVER_GROUPS(
      trace, convert_time, n * k / (units * clock * converted),
      (Note{"Time to convert the weights", "to the compute precision, on the vector units", kFamilySource}), n, k,
      units, clock, converted);
  return convert_time;
}

// Conversion runs beside the loads.
Seconds SlowerOf(Seconds stream_time, Seconds convert_time, Trace& trace) {
  FIGURE(trace, slower_time, max(stream_time, convert_time),
         (Note{"Time to load and convert the weights", "side by side", kFamilySource}), stream_time, convert_time);
  return slower_time;
}

// Properties of the matrix units that a GEMM meets.
struct MatrixUnits {
  double mma_rows, copied_rows;
};
MatrixUnits UnitsFor(const Gemm& gemm, const Device& device, FlopsPerSecond unit_rate, Trace& trace) {
  const KernelTraits& traits = device.architecture->traits;
  const Precision computed = NativePrecision(device, gemm.precision);
  const bool narrow_fragments =
      !SameElements(gemm.weights, computed) && BytesPerElement(gemm.weights) < BytesPerElement(computed);
  const double row_grain = traits.mma_rows, mma_rows = min(row_grain, narrow_fragments ? 16 : 64);
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->gemm.source), row_grain);
  trace.Record(
      "mma_rows", narrow_fragments ? "min(row_grain, 16)" : "min(row_grain, 64)", mma_rows,
      Note{"Rows that a tensor core computes together", "16 at most where weights are converted", kFamilySource},
      "row_grain", row_grain);
  if (!traits.asynchronous_mma) {
    trace.Alias("copied_rows", mma_rows, "mma_rows");
    return {mma_rows, mma_rows};
  }
  const Bytes feed = device.architecture->gemm.copy_bytes_per_clock, weight_size = ElementSize(gemm.weights);
  const Hertz clock = device.clock;
  CONSTANTS(trace, KernelTable(device, "gemm"), SourceOf(device, device.architecture->gemm.source), feed);
  FIGURE(trace, copied_rows, unit_rate / (feed * clock) * weight_size / (2 * kFlop),
         (Note{"Rows that take as long as the weights take to arrive", "asynchronous copies feed the tensor cores",
               kFamilySource}),
         unit_rate, feed, clock, weight_size);
  return {mma_rows, copied_rows};
}

// At which an SM writes the outputs of a tile after its k loop; none where that hides behind the next tile.
BytesPerSecond DrainRate(const Device& device, const GemmKernelParameters& parameters, Trace& trace) {
  const Bytes drain_per_clock = parameters.drain_per_clock;
  if (!(drain_per_clock > Bytes{})) return {};
  const Hertz clock = device.clock;
  CONSTANTS(trace, KernelTable(device, "gemm"), SourceOf(device, device.architecture->gemm.source), drain_per_clock);
  FIGURE(trace, drain_rate, drain_per_clock * clock,
         (Note{"Rate at which an SM writes the outputs of a tile", "", kFamilySource}), drain_per_clock, clock);
  return drain_rate;
}

TileChoice BestCandidate(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters,
                         const ComputeRate& rate, Seconds memory_time, Trace& trace) {
  const double units = static_cast<double>(device.units);
  const Seconds ideal = rate.flops / (rate.unit_rate * units);
  if (!HasTiles(device, parameters)) {
    const Flops flops = rate.flops;
    const FlopsPerSecond unit_rate = rate.unit_rate;
    FIGURE(
        trace, compute_time, flops / (unit_rate * units),
        (Note{"Time on the matrix engines",
              "no waves: a compiler fits the tiles to large engines, and a vector kernel has no tiles", kFamilySource}),
        flops, unit_rate, units);
    TileChoice engine;
    engine.compute = compute_time;
    return engine;
  }
  const GemmTable& table = device.architecture->gemm;
  const auto [mma_rows, copied_rows] = UnitsFor(gemm, device, rate.unit_rate, trace);
  const TiledGemm shape{gemm.m,
                        gemm.n,
                        gemm.k,
                        gemm.groups,
                        mma_rows,
                        units,
                        rate.unit_rate,
                        parameters.step_latency,
                        L2Rate(device),
                        copied_rows,
                        table.tile_load,
                        table.fill,
                        table.split_k_merge,
                        DrainRate(device, parameters, trace),
                        gemm.output_bytes * kB,
                        table.overlap,
                        parameters.max_split,
                        parameters.columns_by_96,
                        parameters.columns_by_32,
                        parameters.split_fills_two_waves};
  return ChooseTiles(shape, ideal, memory_time, trace);
}

// Quantizing pass before the GEMM, with its launch.
Seconds QuantizeTime(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace) {
  const Seconds extra_launch = parameters.extra_launch;
  if (!(parameters.quantize_bytes > 0)) {
    trace.Alias("quantize_time", extra_launch, "extra_launch");
    return extra_launch;
  }
  const double m = gemm.m, k = gemm.k, groups = gemm.groups, quantize_bytes = parameters.quantize_bytes;
  Trace::Scope scope(trace, "quantize");
  trace.Alias("kept_l2", device.architecture->gemm.l2.quantized_activations, "quantized");
  trace.Alias("bandwidth_efficiency", *device.efficiency.bandwidth_efficiency, "device_stream");
  trace.Alias("efficiency", parameters.quantize_efficiency, "quantize_share");
  FIGURE_OVER_GROUPS(trace, bytes, quantize_bytes * kB * m * k, (Note{"Bytes moved by the quantizing pass"}),
                     quantize_bytes, m, k);
  FIGURE_OVER_GROUPS(trace, resident, 2 * kB * m * k, (Note{"Activations in 16 bits, that the kernel before wrote"}), m,
                     k);
  const Seconds pass_time =
      PassTime(bytes, resident, device.architecture->gemm.l2.quantized_activations,
               *device.efficiency.bandwidth_efficiency, parameters.quantize_efficiency, device, trace);
  return Sum<Seconds>(trace, "quantize_time", Note{"Time to quantize the activations", "", kFamilySource},
                      {{"extra_launch", extra_launch, extra_launch > Seconds{}}, {"pass_time", pass_time}});
}

// Nothing rests on the traffic of a training step's kernels where their tiles share what they read, so there it is not
// explained.
DramTraffic MemoryTraffic(const DataMovement& data, const TileChoice& best, Bytes l2_traffic, const Device& device,
                          const GemmKernelParameters& parameters, Trace& trace) {
  if (!HasTiles(device, parameters)) {
    const Bytes weight_bytes = data.weights, activation_bytes = data.activations;
    FIGURE(trace, bytes, weight_bytes + activation_bytes, (Note{"Memory traffic", "operands and output, each once"}),
           weight_bytes, activation_bytes);
    return {bytes, {}};
  }
  Trace off = Trace::Off();
  const DramTraffic found = TrafficOfTiles(data, best, l2_traffic, device, off);
  if (!trace.on() || (parameters.setting == GemmSetting::kTraining && !(found.again > Bytes{}))) return found;
  return TrafficOfTiles(data, best, l2_traffic, device, trace);
}

// The kernel waits for its data where rereads take longer than all else.
Seconds Fed(Seconds overlapped_time, Seconds reread_time, Trace& trace) {
  FIGURE(trace, fed_time, max(overlapped_time, reread_time),
         (Note{"Compute and data movement together", "or the data with what each tile reads on its own"}),
         overlapped_time, reread_time);
  return fed_time;
}

// The data's time with the operands that the tiles read on their own.
Seconds TimeWithRereads(Seconds stream_time, Bytes again_bytes, const Device& device,
                        const GemmKernelParameters& parameters, Trace& trace) {
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  const double bandwidth_efficiency = parameters.bandwidth_efficiency;
  FIGURE(trace, reread_time, stream_time + again_bytes / (bandwidth * bandwidth_efficiency),
         (Note{"Time to move the data", "with what each tile reads on its own", kFamilySource}), stream_time,
         again_bytes, bandwidth, bandwidth_efficiency);
  return reread_time;
}

Seconds Together(Seconds compute_time, Seconds memory_time, const Device& device,
                 const GemmKernelParameters& parameters, Trace& trace) {
  if (parameters.in_turn) {
    FIGURE(trace, overlapped_time, compute_time + memory_time,
           (Note{"Compute and data movement in turn", "the kernel does not load ahead"}), compute_time, memory_time);
    return overlapped_time;
  }
  const GemmTable& table = device.architecture->gemm;
  const double overlap = table.overlap;
  CONSTANTS(trace, KernelTable(device, "gemm"), SourceOf(device, table.source), overlap);
  FIGURE(trace, overlapped_time, norm(compute_time, memory_time, overlap),
         (Note{"Compute and data movement together",
               "they overlap as far as the exponent of their norm says: with 3, equal times take 1.26 of one",
               kFamilySource}),
         compute_time, memory_time, overlap);
  return overlapped_time;
}

}  // namespace

KernelTime TimeOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace) {
  assert(gemm.m > 0 && gemm.n > 0 && gemm.k > 0 && gemm.groups > 0);
  const bool is_integer = parameters.stored_per_clock > Flops{} && Supports(device, Precision::kInt8);
  const FlopsPerSecond peak_rate =
      PeakRate(device, is_integer ? Precision::kInt8 : NativePrecision(device, gemm.precision), trace);
  trace.Input("bandwidth", device.memory.bandwidth, "cluster.device.memory.bandwidth");
  trace.Input("units", static_cast<double>(device.units), "cluster.device.units");
  const GemmTable& table = device.architecture->gemm;
  const Trace::Citing citing(trace, SourceOf(device, table.source));
  Explain(gemm, parameters, device, trace);

  const DataMovement data = MoveData(gemm, device, parameters, trace);
  const ComputeRate rate = RateOf(gemm, device, parameters, peak_rate, trace);
  const bool weight_only = parameters.convert_per_clock > 0;
  const Seconds memory_time =
      weight_only ? SlowerOf(data.time, ConvertTime(gemm, device, parameters, trace), trace) : data.time;
  trace.Alias("memory_time", memory_time, weight_only ? "slower_time" : "stream_time");
  const TileChoice best = BestCandidate(gemm, device, parameters, rate, memory_time, trace);
  const Seconds compute_time = best.compute, merge_time = best.merge, launch = parameters.launch;
  const Seconds overlapped_time = Together(compute_time, memory_time, device, parameters, trace);
  const LevelTraffic traffic = TrafficOf(gemm, device, trace);
  LevelTimes levels = TimesThroughCaches(traffic, device, trace);
  levels.intake = best.intake;
  const DramTraffic dram = MemoryTraffic(data, best, traffic.l2, device, parameters, trace);
  const bool rereads = dram.again > Bytes{};
  const Seconds reread_time = rereads ? TimeWithRereads(data.time, dram.again, device, parameters, trace) : Seconds{};
  const Seconds work = rereads ? Fed(overlapped_time, reread_time, trace) : overlapped_time;
  const Seconds bounded_time = SlowestLevel(work, rereads ? "fed_time" : "overlapped_time", levels, trace);
  const Seconds quantize_time = QuantizeTime(gemm, device, parameters, trace);
  const bool quantizes = parameters.quantize_bytes > 0 || parameters.extra_launch > Seconds{};
  const Seconds time = Sum<Seconds>(
      trace, "time", Note{"GEMM time", "launch, overlapped work, split-K merge, quantization", kFamilySource, "time_s"},
      {{"launch", launch, launch > Seconds{}},
       {"bounded_time", bounded_time},
       {"merge_time", merge_time, HasTiles(device, parameters)},
       {"quantize_time", quantize_time, quantizes}});

  KernelTime result;
  result.time = time;
  result.compute = compute_time;
  result.memory = max(memory_time, reread_time);
  result.flops = rate.flops;
  result.bytes = dram.bytes;
  SetLevels(traffic, levels, work, data.bound, result);
  if (launch + merge_time + quantize_time > bounded_time) result.bound = Bound::kLatency;
  return result;
}

}  // namespace slipstick
