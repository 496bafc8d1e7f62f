#include "core/operators/rowwise.h"

#include <cassert>
#include <string>

#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

const RowwiseRow& RowOf(const RowwiseTable& table, const RowKernel& kernel) {
  switch (kernel.kind) {
    case RowKind::kNorm:
      break;
    case RowKind::kSoftmax:
      return table.softmax;
    case RowKind::kGelu:
      return kernel.gated ? table.gated_gelu : table.gelu;
    case RowKind::kRope:
      return table.rope;
    case RowKind::kAdd:
      return table.add;
  }
  return table.norm;
}

// Elements read and written per output element.
double Accesses(const RowKernel& kernel) {
  return kernel.kind == RowKind::kAdd || (kernel.kind == RowKind::kGelu && kernel.gated) ? 3 : 2;
}

std::string_view RowName(const RowKernel& kernel) {
  return kernel.kind == RowKind::kGelu && kernel.gated ? "gated_gelu" : NameOf(kernel.kind);
}

// Records the origins of the parameters.
void Explain(const RowKernel& kernel, const RowKernelParameters& parameters, const Device& device, Trace& trace) {
  if (!trace.on()) return;
  const RowwiseRow& row = RowOf(device.architecture->rowwise, kernel);
  const std::string table = KernelTable(device, "rowwise." + std::string(RowName(kernel)));
  const std::string_view source = SourceOf(device, device.architecture->rowwise.source);
  const double launch_factor = row.launch_factor, stream = row.bandwidth_efficiency, kept_l2 = row.kept_l2;
  const double lanes = device.architecture->traits.threads_per_clock;
  const Bytes thread_bytes = row.bytes_per_thread_clock;
  const Seconds column_latency = row.column_latency, device_launch = *device.efficiency.launch_latency;
  CONSTANTS(trace, table, source, launch_factor, stream, kept_l2, column_latency, thread_bytes);
  CONSTANTS(trace, KernelTable(device, "traits"), source, lanes);
  trace.Input("device_launch", device_launch, "cluster.device.efficiency.launch");
  trace.Alias("bandwidth_efficiency", parameters.bandwidth_efficiency, "stream");
  trace.Record("launch", "launch_factor * device_launch", parameters.launch,
               Note{"Launch latency", "over that of a GEMM, which is longer", kFamilySource},
               "launch_factor, device_launch", launch_factor, device_launch);
  if (!(parameters.bytes_per_sm_clock > Bytes{})) return;
  trace.Record("bytes_per_sm_clock", "thread_bytes * lanes", parameters.bytes_per_sm_clock,
               Note{"Issue limit per SM and clock", "", kFamilySource}, "thread_bytes, lanes", thread_bytes, lanes);
}

// Operations per element, for reports: no such kernel is compute-bound.
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

RowKernelParameters IsolatedKernelParameters(const RowKernel& kernel, const Device& device) {
  assert(device.efficiency.launch_latency);
  const RowwiseRow& row = RowOf(device.architecture->rowwise, kernel);
  const KernelTraits& traits = device.architecture->traits;
  RowKernelParameters parameters;
  parameters.launch = row.launch_factor * *device.efficiency.launch_latency;
  parameters.bandwidth_efficiency = row.bandwidth_efficiency;
  if (traits.tiled) parameters.bytes_per_sm_clock = row.bytes_per_thread_clock * traits.threads_per_clock;
  parameters.kept_l2 = row.kept_l2;
  parameters.column_latency = row.column_latency;
  return parameters;
}

KernelTime TimeOf(const RowKernel& kernel, const Device& device, const RowKernelParameters& parameters, Trace& trace) {
  const double rows = kernel.rows, columns = kernel.columns, accesses = Accesses(kernel),
               units = static_cast<double>(device.units);
  const double bandwidth_efficiency = parameters.bandwidth_efficiency, kept_l2 = parameters.kept_l2;
  const Bytes element = ElementSize(kernel.precision), l2_capacity = L2Capacity(device, trace);
  const BytesPerSecond bandwidth = device.memory.bandwidth, l2_rate = L2Rate(device, trace);
  const Seconds launch = parameters.launch, column_latency = parameters.column_latency;
  trace.Input("bandwidth", bandwidth, "cluster.device.memory.bandwidth");
  trace.Input("units", units, "cluster.device.units");
  const Trace::Citing citing(trace, SourceOf(device, device.architecture->rowwise.source));
  Explain(kernel, parameters, device, trace);
  FIGURE(trace, bytes, accesses * rows * columns * element, (Note{"Bytes read and written", ""}), accesses, rows,
         columns, element);
  FIGURE(trace, missed, bytes / (bytes + kept_l2 * l2_capacity),
         (Note{"Fraction that goes to memory", "the rest stays in L2 between kernels", kFamilySource}), bytes, kept_l2,
         l2_capacity);
  BytesPerSecond stream_rate = bandwidth * bandwidth_efficiency;
  if (!(parameters.bytes_per_sm_clock > Bytes{})) {
    trace.Record("stream_rate", "bandwidth * bandwidth_efficiency", stream_rate,
                 Note{"Streaming rate", "of the memory", kFamilySource}, "bandwidth, bandwidth_efficiency", bandwidth,
                 bandwidth_efficiency);
  }
  if (parameters.bytes_per_sm_clock > Bytes{}) {
    const Bytes bytes_per_sm_clock = parameters.bytes_per_sm_clock;
    const Hertz clock = device.clock;
    trace.Input("clock", clock, "cluster.device.clock");
    FIGURE(trace, slower_rate, min(bandwidth * bandwidth_efficiency, bytes_per_sm_clock * units * clock),
           (Note{"Streaming rate", "memory bandwidth, or the issue limit of the SMs", kFamilySource}), bandwidth,
           bandwidth_efficiency, bytes_per_sm_clock, units, clock);
    stream_rate = slower_rate;
    trace.Alias("stream_rate", stream_rate, "slower_rate");
  }
  FIGURE(trace, stream_time, bytes * missed / stream_rate + bytes * (1 - missed) / l2_rate,
         (Note{"Time to move the data", "", kFamilySource}), bytes, missed, stream_rate, l2_rate);
  FIGURE(trace, row_time, ceil(rows / (2 * units)) * columns * column_latency,
         (Note{"Time of the rows per SM", "a block walks one row; two blocks per SM", kFamilySource}), rows, units,
         columns, column_latency);
  FIGURE(trace, overlapped_time, norm(stream_time, row_time, 3), (Note{"Data and rows together", "", kFamilySource}),
         stream_time, row_time);
  const LevelTraffic traffic{bytes, bytes};
  trace.Alias("l2_traffic", bytes, "bytes");
  trace.Alias("l1_traffic", bytes, "bytes");
  const LevelTimes levels = TimesThroughCaches(traffic, device, trace);
  const Seconds bounded_time = SlowestLevel(overlapped_time, "overlapped_time", levels, device, trace);
  FIGURE(trace, time, launch + bounded_time, (Note{"Kernel time", "", kFamilySource, "time_s"}), launch, bounded_time);
  KernelTime result;
  result.time = time;
  result.memory = stream_time;
  const double operations = ArithmeticPerElement(kernel.kind);
  CONSTANTS(trace, "rowwise", "count of the operations per element", operations);
  FIGURE(trace, flops, operations * rows * columns * kFlop, (Note{"FLOPs", ""}), operations, rows, columns);
  result.flops = flops;
  result.bytes = bytes;
  const Bound data = BoundOfData(stream_time, bytes * (1 - missed) / l2_rate);
  const bool is_fed = data == Bound::kMemory && stream_rate < bandwidth * bandwidth_efficiency;
  SetLevels(traffic, levels, overlapped_time, is_fed ? Bound::kL1 : data, result);
  if (is_fed) result.l1 = max(result.l1, bytes * missed / stream_rate);
  result.compute = row_time;
  if (launch > time / 2) result.bound = Bound::kLatency;
  return result;
}

}  // namespace slipstick
