#include "core/operators/gemm.h"

#include <algorithm>
#include <cassert>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Whether the kernel works in output tiles. One for stored weights may go row by row, or split k evenly over all SMs.
bool HasTiles(const Device& device, const GemmKernelParameters& parameters) {
  return device.architecture->traits.tiled && !(parameters.stored_per_clock > Flops{});
}

}  // namespace

Seconds PassTime(Bytes bytes, Bytes resident, Ratio kept_l2, Ratio bandwidth_efficiency, Ratio efficiency,
                 const Device& device) {
  const BytesPerSecond stream = SlowestStream(device).bandwidth * bandwidth_efficiency;
  const Bytes reach = resident + kept_l2 * L2Capacity(device);
  if (!(reach > Bytes{})) return bytes / stream / efficiency;
  const std::string_view source = SourceOf(device, device.architecture->gemm.source);
  const Ratio missed = Figure("Fraction that goes to memory", resident / reach,
                              "the rest is found in L2, where the kernel before left it", source);
  return Figure("Time of the pass over memory",
                (bytes * missed / stream + bytes * (1 - missed) / L2Rate(device)) / efficiency, "", source);
}

double WeightsLeftInL2(Bytes weights, double max_copies, const Device& device) {
  const Bytes l2 = L2Capacity(device);
  if (!(l2 > Bytes{}) || !(weights > Bytes{})) return 0;
  // A working set as large as the L2 stays resident in an undivided L2 (L40S, RTX PRO 6000: at least 0.75 usable), but
  // not if the L2 has two halves (A100, H100, B200: 0.6), because these keep some lines twice.
  const double copies = std::clamp<double>(ceil(l2 / weights), 1, max_copies);
  const L2Reuse& reuse = device.architecture->gemm.l2;
  const double largest =
      min(reuse.max_weights, reuse.min_weights + *device.efficiency.usable_l2_fraction / reuse.usable_over_min);
  return std::clamp<double>((largest - copies * (weights / l2)) / reuse.falloff, 0, 1);
}

namespace {

Bytes WeightSize(const Gemm& gemm) { return SizeOf(gemm.weight_size, gemm.weights); }
Bytes ActivationSize(const Gemm& gemm, const Device& device) {
  return SizeOf(gemm.activation_size, NativePrecision(device, gemm.precision));
}

// FLOPs of the product, and the rate of one SM, which is lower in a long kernel.
struct ComputeRate {
  Flops flops;
  FlopsPerSecond unit_rate;
};
ComputeRate TensorRate(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters,
                       FlopsPerSecond peak_rate) {
  const std::string_view source = SourceOf(device, device.architecture->gemm.source);
  const Flops flops =
      Figure("FLOPs", gemm.groups * 2 * kFlop * gemm.m * gemm.n * gemm.k, "a multiply-add counts as two");
  const FlopsPerSecond best = peak_rate * parameters.gemm_efficiency;
  const FlopsPerSecond unit_rate = best / Ratio(device.units);
  constexpr std::string_view kTitle = "Rate of one SM", kNote = "the power limit lowers the clock in long kernels";
  // The fitted efficiencies of grouped kernels outside a training step include the derating.
  if (gemm.groups != 1 && parameters.setting != GemmSetting::kTraining)
    return {flops, Figure(kTitle, unit_rate, kNote, source)};
  const Seconds ideal = Figure("Ideal compute time", flops / best, "at the GEMM efficiency of the best tile", source);
  return {flops,
          Figure(kTitle, unit_rate / (1 + parameters.clock_derating * ideal / (ideal + parameters.derating_ramp)),
                 kNote, source)};
}

// Share of a grouped kernel's rows that belong to a token. The number of tokens in the pass sets the tile, up to the
// largest tile, however many rows an expert gets; on average the last tile is half full.
Ratio UsedRows(const Gemm& gemm, const GemmKernelParameters& parameters) {
  return Figure("Share of the computed rows that are a token's",
                gemm.m / max(parameters.stored_tile, gemm.m + parameters.stored_tile / 2),
                "a tile has as many rows as the pass has tokens; the last is half full");
}

ComputeRate RateOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters,
                   FlopsPerSecond peak_rate) {
  const ComputeRate own = TensorRate(gemm, device, parameters, peak_rate);
  if (!(parameters.stored_per_clock > Flops{})) return own;
  const FlopsPerSecond rate = min(own.unit_rate, parameters.stored_per_clock * device.clock);
  const bool is_grouped = gemm.groups > 1 && parameters.stored_tile > 0;
  return {own.flops, Figure("Rate of one SM", is_grouped ? rate * UsedRows(gemm, parameters) : rate,
                            "between its matrix instructions it converts weights and applies scales")};
}

// Bytes of the weights read from memory. A kernel for stored weights reads them once per tile of rows.
Bytes WeightBytes(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters) {
  const Bytes weight_size = SizeOf(gemm.weight_size, gemm.weights);
  const Bytes once = gemm.groups * gemm.n * gemm.k * weight_size;
  if (!(parameters.stored_tile > 0)) return Figure("Weights", once, "read once");
  const Bytes matrix = Figure("Weights of a matrix", gemm.n * gemm.k * weight_size);
  const Ratio lost = Figure("Share of the weights that L2 has lost before the next rows",
                            max(0.0, 1 - *device.efficiency.usable_l2_fraction * L2Capacity(device) / matrix), "",
                            SourceOf(device, device.architecture->gemm.source));
  const Ratio reads =
      Figure("Times that the weights are read", 1 + max(0.0, gemm.m / parameters.stored_tile - 1) * lost,
             "once per tile of rows, as far as L2 has lost them since");
  return Figure("Weights", once * reads, "as often as they are read");
}

// Traffic of the caches. Output tiles stream their rows and columns of the operands from L2. The family's largest tile
// counts: where L2 would be the bound, libraries choose it, share its loads between blocks, or reorder the tiles.
// Tensor cores read the operands in fragments from shared memory.
LevelTraffic TrafficOf(const Gemm& gemm, const Device& device) {
  const Ratio m = gemm.m, n = gemm.n, k = gemm.k, groups = gemm.groups;
  const Bytes activation_size = ActivationSize(gemm, device), weight_size = WeightSize(gemm),
              outputs = m * n * (gemm.output_bytes * kB);
  const KernelTraits& traits = device.architecture->traits;
  LevelTraffic traffic;
  if (traits.tiled) {
    const auto read = [&](Ratio rows, Ratio columns) {
      return groups * (m * n * k * (activation_size / min(columns, n) + weight_size / min(rows, m)) + outputs);
    };
    traffic = {read(traits.l2_rows, traits.l2_columns), read(traits.fragment_rows, traits.fragment_columns)};
  } else {
    // Large engines (128 x 128, Jouppi et al. 2017) hold a block of weights while all rows pass through.
    traffic = {groups * (n * k * weight_size + m * k * activation_size + outputs),
               groups * (n * k * weight_size + m * k * ceil(n / 128) * activation_size + outputs)};
  }
  return {Figure("Traffic of the L2", traffic.l2, "each tile of outputs streams its rows and columns of the operands"),
          Figure("Traffic of shared memory", traffic.l1, "the tensor cores read the operands in fragments")};
}

// Operands and output of a GEMM, and the time to move them.
struct DataMovement {
  Bytes weights, activations;
  Bytes weight_size, activation_size;  // per element
  Seconds time{};
  Bound bound = Bound::kMemory;  // of the time
};
DataMovement MoveData(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters) {
  const std::string_view source = SourceOf(device, device.architecture->gemm.source);
  const Bytes weight_size = WeightSize(gemm), activation_size = ActivationSize(gemm, device);
  const Bytes weights = WeightBytes(gemm, device, parameters);
  const Bytes activations = Figure(
      "Activations in and out", gemm.groups * gemm.m * (gemm.k * activation_size + gemm.n * (gemm.output_bytes * kB)));
  const Bytes kept = device.architecture->gemm.l2.activations * L2Capacity(device);
  const Ratio missed = Figure("Fraction of the activations that goes to memory", activations / (activations + kept),
                              "the rest stays in L2 between kernels", source);
  const BytesPerSecond stream = device.memory.bandwidth * parameters.bandwidth_efficiency;
  DataMovement moved{weights, activations, weight_size, activation_size};
  constexpr std::string_view kTitle = "Time to move the data", kNote = "at the achievable bandwidth";
  if (!(gemm.weights_in_l2 > 0)) {
    moved.time = Figure(kTitle, (weights + activations * missed) / stream, kNote, source);
    return moved;
  }
  const Seconds hits = weights * gemm.weights_in_l2 / L2Rate(device);
  moved.time =
      Figure(kTitle, (weights * (1 - gemm.weights_in_l2) + activations * missed) / stream + hits, kNote, source);
  moved.bound = BoundOfData(moved.time, hits);
  return moved;
}

Seconds ConvertTime(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters) {
  const std::string_view source = SourceOf(device, device.architecture->gemm.source);
  const Ratio units = device.units;
  // The vector units of a large engine are as wide as those of many SMs: all engines together equal 128 small SMs.
  const Ratio converted =
      device.architecture->traits.tiled
          ? parameters.convert_per_clock
          : Figure("Weights converted per clock and engine", parameters.convert_per_clock * max(1.0, 128 / units),
                   "the vector units beside a large engine are as wide as many SMs", source);
  return Figure("Time to convert the weights", gemm.groups * gemm.n * gemm.k / (units * device.clock * converted),
                "to the compute precision, on the vector units", source);
}

// Properties of the matrix units for this GEMM.
struct MatrixUnits {
  Ratio mma_rows, copied_rows;
};
MatrixUnits UnitsFor(const Gemm& gemm, const Device& device, FlopsPerSecond unit_rate) {
  const std::string_view source = SourceOf(device, device.architecture->gemm.source);
  const KernelTraits& traits = device.architecture->traits;
  const Precision computed = NativePrecision(device, gemm.precision);
  const bool narrow_fragments =
      !SameElements(gemm.weights, computed) && BytesPerElement(gemm.weights) < BytesPerElement(computed);
  const Ratio mma_rows =
      Figure("Rows that a tensor core computes together", min(traits.mma_rows, narrow_fragments ? 16 : 64),
             "16 at most where weights are converted", source);
  if (!traits.asynchronous_mma) return {mma_rows, mma_rows};
  const BytesPerSecond arriving = device.architecture->gemm.copy_bytes_per_clock * device.clock;
  return {mma_rows, Figure("Rows that take as long as the weights take to arrive",
                           unit_rate / arriving * WeightSize(gemm) / (2 * kFlop),
                           "asynchronous copies feed the tensor cores", source)};
}

TileChoice BestCandidate(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters,
                         const ComputeRate& rate, Seconds memory_time) {
  const GemmTable& table = device.architecture->gemm;
  const std::string_view source = SourceOf(device, table.source);
  const Ratio units = device.units;
  const Seconds ideal = rate.flops / (rate.unit_rate * units);
  if (!HasTiles(device, parameters)) {
    TileChoice engine;
    engine.compute =
        Figure("Time on the matrix engines", ideal,
               "no waves: a compiler fits the tiles to large engines, and a vector kernel has no tiles", source);
    return engine;
  }
  const auto [mma_rows, copied_rows] = UnitsFor(gemm, device, rate.unit_rate);
  // Outputs of a tile after its k loop; zero if the next tile hides the write.
  const BytesPerSecond drain =
      Figure("Rate at which an SM writes the outputs of a tile", parameters.drain_per_clock * device.clock, "", source);
  // A serving step's tokens prefer some experts; benchmarks and training balance them.
  const bool groups_differ = gemm.groups != 1 && parameters.setting == GemmSetting::kServing;
  const TiledGemm<Ratio> shape{gemm.m,
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
                               drain,
                               gemm.output_bytes * kB,
                               table.overlap,
                               parameters.tiles,
                               groups_differ,
                               source};
  return ChooseTiles(shape, ideal, memory_time);
}

// Time of the quantizing pass before the GEMM, including its launch.
Seconds QuantizeTime(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters) {
  if (!(parameters.quantize_bytes > 0)) return parameters.extra_launch;
  const Bytes moved =
      Figure("Bytes moved by the quantizing pass", gemm.groups * parameters.quantize_bytes * kB * gemm.m * gemm.k);
  const Bytes resident =
      Figure("Activations in 16 bits, that the kernel before wrote", gemm.groups * 2 * kB * gemm.m * gemm.k);
  return Figure("Time to quantize the activations",
                parameters.extra_launch + PassTime(moved, resident, device.architecture->gemm.l2.quantized_activations,
                                                   *device.efficiency.bandwidth_efficiency,
                                                   parameters.quantize_efficiency, device),
                "", SourceOf(device, device.architecture->gemm.source));
}

// Memory traffic, and the part that tiles read separately because L2 cannot hold the data that they share.
struct DramTraffic {
  Bytes bytes, again;
};

// Outputs that the tiles resident at once hold. A tile has at most the matrix's own rows and columns: one token's row
// does not make a tile read 16.
Ratio OutputsAtOnce(const Gemm& gemm, const TileChoice& best, Ratio resident) {
  return resident * min(best.rows, gemm.m) * min(best.columns, gemm.n);
}

// Fraction of the operands shared by resident tiles that is found in L2. The tiles advance along k together, at most a
// shared-memory buffer's depth apart, so L2 must hold rows and columns of that depth. Without L2 every tile reads its
// own operands from memory.
Ratio SharedInL2(const Gemm& gemm, const DataMovement& data, const TileChoice& best, Ratio resident,
                 const Device& device) {
  const Bytes l1 = device.caches.size() > 1 ? device.caches.front().capacity : Bytes{},
              last = device.caches.empty() ? Bytes{} : device.caches.back().capacity;  // L2, or a scratchpad
  const Ratio depth =
      Figure("Depth along k of a resident tile's buffers",
             min(gemm.k, max(64, l1 / max(resident, Ratio(device.units)) /
                                     (best.rows * data.activation_size + best.columns * data.weight_size))),
             "one k step of 64 inputs at least");
  const Bytes window =
      Figure("Rows and columns of that depth that the resident tiles share",
             sqrt(OutputsAtOnce(gemm, best, resident)) * depth * (data.activation_size + data.weight_size));
  return Figure("Fraction of the tiles' common operands that they find in L2", min(1.0, last / window),
                "it must hold the depth along k by which the resident tiles are apart");
}

// Memory traffic of a tiled GEMM: each generation of resident tiles rereads operands that miss L2 (mean error 15 % over
// 39 profiled CUTLASS kernels on A100), and tiles read operands separately to the extent that L2 cannot hold the shared
// ones. `l2_traffic`: total reads of the tiles.
DramTraffic TrafficOfTiles(const Gemm& gemm, const DataMovement& data, const TileChoice& best, Bytes l2_traffic,
                           const Device& device) {
  const L2Reuse& reuse = device.architecture->gemm.l2;
  const Bytes operands =
      Figure("Operands", gemm.groups * gemm.m * gemm.k * data.activation_size + data.weights, "each once");
  const Ratio tiles = Figure("Output tiles of a group", ceil(gemm.m / best.rows) * ceil(gemm.n / best.columns));
  const Ratio resident =
      Figure("Tiles resident at once", min(tiles, (best.rows * best.columns > 128 * 128 ? 2 : 3) * Ratio(device.units)),
             "three per SM, two of those larger than 128 × 128", SourceOf(device, device.architecture->gemm.source));
  const Bytes reads = Figure("Operands that the tiles read",
                             gemm.groups * max(1.0, tiles / resident) * sqrt(OutputsAtOnce(gemm, best, resident)) *
                                 gemm.k * (data.activation_size + data.weight_size),
                             "those resident at once form a square and share rows and columns");
  const Ratio shared = SharedInL2(gemm, data, best, resident, device);
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

Seconds Together(Seconds compute, Seconds memory, const Device& device, const GemmKernelParameters& parameters) {
  const GemmTable& table = device.architecture->gemm;
  if (parameters.in_turn)
    return Figure("Compute and data movement in turn", compute + memory, "the kernel does not load ahead");
  return Figure("Compute and data movement together", norm(compute, memory, table.overlap),
                "they overlap as far as the exponent of their norm says: with 3, equal times take 1.26 of one",
                SourceOf(device, table.source));
}

}  // namespace

KernelTime TimeOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters) {
  assert(gemm.m > 0 && gemm.n > 0 && gemm.k > 0 && gemm.groups > 0);
  const std::string_view source = SourceOf(device, device.architecture->gemm.source);
  const bool is_integer = parameters.stored_per_clock > Flops{} && Supports(device, Precision::kInt8);
  const FlopsPerSecond peak_rate =
      PeakRate(device, is_integer ? Precision::kInt8 : NativePrecision(device, gemm.precision));
  const DataMovement data = MoveData(gemm, device, parameters);
  const ComputeRate rate = RateOf(gemm, device, parameters, peak_rate);
  // Conversion overlaps with the loads.
  const Seconds memory = parameters.convert_per_clock > 0
                             ? Figure("Time to load and convert the weights",
                                      max(data.time, ConvertTime(gemm, device, parameters)), "side by side", source)
                             : data.time;
  const TileChoice best = BestCandidate(gemm, device, parameters, rate, memory);
  Seconds work = Together(best.compute, memory, device, parameters), reread_time;
  const LevelTraffic traffic = TrafficOf(gemm, device);
  LevelTimes levels = TimesThroughCaches(traffic, device);
  levels.intake = best.intake;
  const DramTraffic dram =
      HasTiles(device, parameters)
          ? TrafficOfTiles(gemm, data, best, traffic.l2, device)
          : DramTraffic{Figure("Memory traffic", data.weights + data.activations, "operands and output, each once"),
                        {}};
  if (dram.again > Bytes{}) {
    reread_time = Figure("Time to move the data",
                         data.time + dram.again / (device.memory.bandwidth * parameters.bandwidth_efficiency),
                         "with what each tile reads on its own", source);
    // The kernel waits for its data if rereads take longer than everything else.
    work = Figure("Compute and data movement together", max(work, reread_time),
                  "or the data with what each tile reads on its own");
  }
  const Seconds bounded = SlowestLevel(work, levels), quantizing = QuantizeTime(gemm, device, parameters);
  KernelTime result;
  result.time = Figure("GEMM time", parameters.launch + bounded + best.merge + quantizing,
                       "launch, overlapped work, split-K merge, quantization", source);
  result.compute = best.compute;
  result.memory = max(memory, reread_time);
  result.flops = rate.flops;
  result.bytes = dram.bytes;
  SetLevels(traffic, levels, work, data.bound, result);
  if (parameters.launch + best.merge + quantizing > bounded) result.bound = Bound::kLatency;
  return result;
}

}  // namespace slipstick
