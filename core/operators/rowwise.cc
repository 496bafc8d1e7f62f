#include "core/operators/rowwise.h"

#include <cassert>

#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = "fitted to microsoft/vidur profiles at 7d47513 (A100, H100) and LLMCompass at 2e015fd (softmax, GELU)";

struct Row {
  RowKind kind;
  bool gated;
  double launch;             // of a matrix product's launch, which is the longer
  double stream;             // u
  double cache_factor;       // c
  double column_latency_ns;  // s_r
};
constexpr Row kRows[] = {
    {RowKind::kNorm, false, 0.71, 0.32, 0.38, 0.51}, {RowKind::kRope, false, 0.62, 0.48, 0.02, 0.34},
    {RowKind::kAdd, false, 0.49, 0.76, 2.1, 0},      {RowKind::kGelu, true, 0.37, 0.52, 0.04, 0.52},
    {RowKind::kGelu, false, 0.5, 0.80, 0.3, 0},      {RowKind::kSoftmax, false, 0.6, 0.475, 0.3, 0},
};

const Row& RowOf(const RowKernel& kernel) {
  for (const Row& row : kRows) {
    if (row.kind == kernel.kind && row.gated == (kernel.gated && kernel.kind == RowKind::kGelu)) return row;
  }
  return kRows[0];
}

// Elements read and written an output element.
double Accesses(const RowKernel& kernel) { return kernel.kind == RowKind::kAdd || (kernel.kind == RowKind::kGelu && kernel.gated) ? 3 : 2; }

// Arithmetic an element, for reports: no such kernel is bound by it.
double ArithmeticPerElement(RowKind kind) {
  switch (kind) {
    case RowKind::kNorm:
      return 7;
    case RowKind::kSoftmax:
      return 7;
    case RowKind::kGelu:
      return 10;
    case RowKind::kRope:
      return 3;
    case RowKind::kAdd:
      return 1;
  }
  return 1;
}

}  // namespace

RowRegime AloneRegime(const RowKernel& kernel, const Device& device) {
  assert(device.efficiency.launch);
  const Row& row = RowOf(kernel);
  return {row.launch * *device.efficiency.launch, row.stream, row.cache_factor, row.column_latency_ns * kNs};
}

KernelTime TimeOf(const RowKernel& kernel, const Device& device, const RowRegime& regime, Trace& trace) {
  const double rows = kernel.rows, columns = kernel.columns, accesses = Accesses(kernel), units = static_cast<double>(device.units);
  const double stream_share = regime.stream_share, cache_factor = regime.cache_factor;
  const Bytes element = ElementSize(kernel.precision), last_cache = LastCache(device);
  const BytesPerSecond bandwidth = device.memory.bandwidth, cache_rate = CacheRate(device);
  const Seconds launch = regime.launch, column_latency = regime.column_latency;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  const Trace::Citing citing(trace, SourceInPlace(device));
  FIGURE(trace, bytes, accesses * rows * columns * element, (Note{"Bytes read and written", ""}), accesses, rows, columns, element);
  FIGURE(trace, missed, bytes / (bytes + cache_factor * last_cache),
         (Note{"Share that goes to memory", "the rest stays in the last cache between kernels", kSource}), bytes, cache_factor, last_cache);
  FIGURE(trace, stream_time, bytes * missed / (bandwidth * stream_share) + bytes * (1 - missed) / cache_rate,
         (Note{"Time to move the data", "", kSource}), bytes, missed, bandwidth, stream_share, cache_rate);
  FIGURE(trace, row_time, ceil(rows / (2 * units)) * columns * column_latency,
         (Note{"Time of the rows of a unit", "a block walks one row; two blocks a unit", kSource}), rows, units, columns, column_latency);
  FIGURE(trace, time, launch + norm(stream_time, row_time, 3), (Note{"Time of the kernel", "", kSource, "time_s"}), launch, stream_time,
         row_time);
  KernelTime result;
  result.time = time;
  result.memory = stream_time;
  result.compute = row_time;
  result.bound = launch > time / 2 ? Bound::kLatency : Bound::kMemory;
  result.flops = ArithmeticPerElement(kernel.kind) * rows * columns * kFlop;
  result.bytes = bytes;
  return result;
}

}  // namespace slipstick
