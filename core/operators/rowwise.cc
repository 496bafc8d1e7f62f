#include "core/operators/rowwise.h"

#include <cassert>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Elements read and written per output element.
double Accesses(const RowKernel& kernel) {
  return kernel.kind == RowKind::kAdd || (kernel.kind == RowKind::kGelu && kernel.gated) ? 3 : 2;
}

// Operations per element, for reports: no such kernel is compute-bound.
double ArithmeticPerElement(RowKind kind) {
  switch (kind) {
    case RowKind::kNorm:
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

KernelTime TimeOf(const RowKernel& kernel, const Device& device) {
  assert(device.efficiency.launch_latency);
  const RowwiseTable& table = device.architecture->rowwise;
  const KernelTraits& traits = device.architecture->traits;
  const std::string_view source = SourceOf(device, table.source);
  // Elementwise kernels run at memory bandwidth, whether row by row or not.
  const bool is_plain = kernel.kind == RowKind::kAdd || (kernel.kind == RowKind::kGelu && !kernel.gated);
  const Seconds launch = table.launch_factor * *device.efficiency.launch_latency;
  const Seconds column_latency = is_plain || kernel.kind == RowKind::kSoftmax ? Seconds{} : table.column_latency;
  const Bytes issued = table.bytes_per_thread_clock * traits.threads_per_clock;  // limit per SM and clock; 0: none
  const Ratio rows = kernel.rows, columns = kernel.columns, units = device.units;
  const BytesPerSecond of_memory = device.memory.bandwidth * table.bandwidth_efficiency;
  KernelTime result;
  result.bytes = Figure("Bytes read and written", Accesses(kernel) * rows * columns * ElementSize(kernel.precision));
  const Ratio missed =
      Figure("Fraction that goes to memory", result.bytes / (result.bytes + table.kept_l2 * L2Capacity(device)),
             "the rest stays in L2 between kernels", source);
  const bool is_issued = traits.tiled && !is_plain && issued > Bytes{};
  const BytesPerSecond stream =
      Figure("Streaming rate", is_issued ? min(of_memory, issued * units * device.clock) : of_memory,
             "memory bandwidth, or the issue limit of the SMs", source);
  const Seconds hits = result.bytes * (1 - missed) / L2Rate(device);
  result.memory = Figure("Time to move the data", result.bytes * missed / stream + hits, "", source);
  const Seconds row_time = Figure("Time of the rows per SM", ceil(rows / (2 * units)) * columns * column_latency,
                                  "a block walks one row; two blocks per SM", source);
  const Seconds overlapped = Figure("Data and rows together", norm(result.memory, row_time, 3), "", source);
  const LevelTraffic traffic{result.bytes, result.bytes};
  const LevelTimes levels = TimesThroughCaches(traffic, device);
  result.time = Figure("Kernel time", launch + SlowestLevel(overlapped, levels), "", source);
  result.flops = Figure("FLOPs", ArithmeticPerElement(kernel.kind) * rows * columns * kFlop);
  const Bound data = BoundOfData(result.memory, hits);
  const bool is_fed = data == Bound::kMemory && stream < of_memory;
  SetLevels(traffic, levels, overlapped, is_fed ? Bound::kL1 : data, result);
  result.compute = row_time;
  if (is_fed) result.l1 = max(result.l1, result.bytes * missed / stream);
  if (launch > result.time / 2) result.bound = Bound::kLatency;
  return result;
}

}  // namespace slipstick
