// Where callers that name their terms meet the kernels of this folder, whose numbers remember: devices, families and
// kernels get the nodes of what a trace knows them by. It goes when no caller names its terms any more.
#pragma once

#include <string>
#include <string_view>

#include "core/base/trace.h"
#include "core/hardware/cluster.h"
#include "core/operators/attention.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/operators/kernel.h"
#include "core/operators/moe.h"
#include "core/operators/recurrence.h"
#include "core/operators/sparse_attention.h"
#include "core/operators/time_by_bound.h"
#include "core/software/utilizations.h"
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
// In place of the inputs that utilizations scale or set, those that they make of them (AtUtilizations). `path` is that
// of the utilizations.
void ReplaceByUtilizations(const Cluster& stated, const Utilizations& utilizations, const std::string& path,
                           Trace& trace);
// The times are the figures l2_time and l1_time. Names: l2_traffic, l1_traffic.
LevelTimes TimesThroughCaches(const LevelTraffic& traffic, const Device& device, Trace& trace);
// The time is the figure bounded_time.
Seconds SlowestLevel(Seconds work, std::string_view work_is, const LevelTimes& levels, Trace& trace);

// Kernels, whose figures are called time, flops and bytes. Their shapes have the names of their members, and formats
// those of their sizes: kv_element and row_element.
// Those of a product are m, n, k, groups, weight_size, activation_size and output_size. Its parameters have nodes.
KernelTime TimeOf(const Gemm& gemm, const Device& device, const GemmKernelParameters& parameters, Trace& trace);
// Those of experts are group_tokens, held_tokens, held_experts, top_k, hidden, expert_ffn, expert_tp, ep, imbalance
// and the sizes of a product. The parameters have nodes.
KernelTime TimeOf(const MoeLayer& layer, const Device& device, const MoeKernelParameters& parameters, Trace& trace);
// Under serving's preference. Names: held_experts, ep, top_k, rows. It is the figure experts_hit.
double ExpertsHit(const MoeLayer& layer, double rows, const Device& device, Trace& trace);
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

// What stands beside a time that is split: a part's time, and its symbol in the current scope; "": none.
struct Beside {
  Seconds time;
  std::string_view symbol;
};
// `total`, whose symbol is `total_is`, split as the operators that it consists of, and what stands beside it. Each part
// is the figure at "`report`.compute" and so on.
TimeByBound SplitByBound(Seconds total, std::string_view total_is, const TimeByBound& operators,
                         const ByBound<Beside>& beside, std::string_view report, Trace& trace);

// Records a figure "groups * ..." of grouped GEMMs; a single GEMM's formula does without the factor 1.
template <class Q, class... Terms>
void RecordOverGroups(Trace& trace, internal::FigureText text, double groups, Q value, Terms... terms) {
  if (groups != 1) return trace.Record(text, value, groups, terms...);
  text.formula.remove_prefix(std::string_view("groups * ").size());
  text.terms.remove_prefix(std::string_view("groups, ").size());
  trace.Record(text, value, terms...);
}

// A FIGURE whose expression is `groups` times this one.
#define FIGURE_OVER_GROUPS(trace, name, expression, description, ...)                                     \
  const auto name = groups * expression;                                                                  \
  if ((trace).on()) {                                                                                     \
    static constexpr ::slipstick::internal::FigureText figure_text{#name, "groups * " #expression,        \
                                                                   "groups, " #__VA_ARGS__, description}; \
    ::slipstick::RecordOverGroups(trace, figure_text, groups, name, __VA_ARGS__);                         \
  }                                                                                                       \
  static_assert(true)

}  // namespace slipstick
