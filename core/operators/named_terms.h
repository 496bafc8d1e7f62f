// Where callers that name their terms meet the kernels of this folder, whose numbers remember: devices, families and
// kernels get the nodes of what a trace knows them by. It goes when no caller names its terms any more.
#pragma once

#include <string_view>

#include "core/base/trace.h"
#include "core/hardware/device.h"
#include "core/operators/attention.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/kernel.h"
#include "core/operators/recurrence.h"
#include "core/operators/sparse_attention.h"
#include "core/workload/model.h"

namespace slipstick {

// The device with the nodes of its inputs and of its family's constants; of a trace that is off the device itself.
const Device& Named(const Device& device, Trace& trace);

// With these names: peak_rate, l2_rate, l2_capacity, bandwidth, sustained_clock_derating.
FlopsPerSecond PeakRate(const Device& device, Precision precision, Trace& trace);
BytesPerSecond L2Rate(const Device& device, Trace& trace);
Bytes L2Capacity(const Device& device, Trace& trace);
Stream SlowestStream(const Device& device, Trace& trace);
Ratio SustainedClockDerating(const Device& device, Trace& trace);
// Binds a constant of the family's table `step`.
template <class T>
void BindEstimate(std::string_view symbol, T value, const Device& device, Trace& trace) {
  if (trace.on()) trace.Constants(KernelTable(device, "step"), device.architecture->step.source, symbol, value);
}
// Registers the rules that filled members of the cluster's device.
void AssumeRules(const Device& device, Trace& trace);
// The times are the figures l2_time and l1_time. Names: l2_traffic, l1_traffic.
LevelTimes TimesThroughCaches(const LevelTraffic& traffic, const Device& device, Trace& trace);
// The time is the figure bounded_time.
Seconds SlowestLevel(Seconds work, std::string_view work_is, const LevelTimes& levels, Trace& trace);

// Kernels, whose figures are called time, flops and bytes. Their shapes have the names of their members, and formats
// those of their sizes: kv_element and row_element.
KernelTime TimeOf(const Attention& attention, const Device& device, Trace& trace);
KernelTime TimeOf(const LatentAttention& mla, const Device& device, Trace& trace);
SparseAttentionTime TimeOf(const SparseAttention& attention, const Device& device, Trace& trace);
IndexingTime IndexingOf(const SparseAttention& attention, const Device& device, Trace& trace);
// Name: index_dim. It is the figure key.
Bytes IndexKeyBytes(double index_dim, Trace& trace);
// The model's layers. The caller sets the tokens and the device's part.
Recurrence RecurrenceOf(const LinearAttention& layer, Trace& trace);
// Names: rows, tokens, recurrent_heads, recurrent_columns, recurrent_inner.
KernelTime TimeOf(const Recurrence& recurrence, const Device& device, Trace& trace);

}  // namespace slipstick
