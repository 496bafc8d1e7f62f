#include "core/engine_step/step.h"

#include <string>

#include "core/base/sum.h"

namespace slipstick {
namespace {

// Symbols that tell the operators of a pass apart.
std::string FlopsSymbol(std::string_view name) { return std::string(name) + " FLOPs"; }
std::string BytesSymbol(std::string_view name) { return std::string(name) + " bytes"; }
std::string RunsSymbol(std::string_view name) { return std::string(name) + " runs"; }

bool HasWork(const KernelTime& kernel) { return kernel.flops > Flops{} || kernel.bytes > Bytes{}; }

}  // namespace

void OperatorBreakdown::BindWork(std::string_view name, const KernelTime& kernel, Ratio count,
                                 std::string_view count_is, Trace& trace) {
  if (!HasWork(kernel)) return;
  trace.Alias(FlopsSymbol(name), kernel.flops, "flops");
  trace.Alias(BytesSymbol(name), kernel.bytes, "bytes");
  if (!count_is.empty()) trace.Alias(RunsSymbol(name), count, count_is);
}

void OperatorBreakdown::Repeat(Ratio times) {
  for (int i = 0; i < size_; ++i) operators_[i].count *= times;
}

void OperatorBreakdown::Repeat(Ratio times, std::string_view times_is, Trace& trace) {
  for (int i = 0; i < size_; ++i) {
    OperatorTime& one = operators_[i];
    const Ratio runs = one.count;
    one.count *= times;
    if (!trace.on() || !HasWork(one.kernel)) continue;
    if (runs == 1) {
      trace.Alias(RunsSymbol(one.name), times, times_is);
      continue;
    }
    trace.Alias("runs", runs, RunsSymbol(one.name));
    trace.Alias("times", times, times_is);
    trace.Record("all_runs", "runs * times", one.count, Note{"Runs of an operator", "of every part of the pass"},
                 "runs, times", runs, times);
    trace.Alias(RunsSymbol(one.name), one.count, "all_runs");
  }
}

Seconds OperatorBreakdown::TimeOf() const {
  Seconds sum;
  for (const OperatorTime& one : *this) sum += one.count * one.kernel.time;
  return sum;
}

Bound OperatorBreakdown::BoundOf() const {
  std::array<Seconds, EnumNames<Bound>::names.size()> by{};
  for (const OperatorTime& one : *this) by[static_cast<std::size_t>(one.kernel.bound)] += one.count * one.kernel.time;
  std::size_t largest = 0;
  for (std::size_t i = 1; i < by.size(); ++i) {
    if (by[i] > by[largest]) largest = i;
  }
  return static_cast<Bound>(largest);
}

namespace {

template <class Q>
Q SumOverRuns(const OperatorBreakdown& operators, Q KernelTime::* work, std::string (*symbol_of)(std::string_view),
              std::string_view symbol, const Note& note, Trace& trace) {
  Q total{};
  for (const OperatorTime& one : operators) total += one.count * (one.kernel.*work);
  if (!trace.on()) return total;
  ListedSum<Q> sum(trace);
  for (const OperatorTime& one : operators) {
    if (one.kernel.*work > Q{})
      sum.Add(one.name, one.kernel.*work, one.count, symbol_of(one.name), RunsSymbol(one.name));
  }
  return sum.Record(symbol, total, note);
}

}  // namespace

Flops OperatorBreakdown::FlopsOf(Trace& trace) const {
  return SumOverRuns(*this, &KernelTime::flops, FlopsSymbol, "executed_flops",
                     {"FLOPs of the pass", "of its kernels on one device"}, trace);
}

Bytes OperatorBreakdown::BytesOf(Trace& trace) const {
  return SumOverRuns(*this, &KernelTime::bytes, BytesSymbol, "moved_bytes",
                     {"Memory traffic of the pass", "of its kernels on one device"}, trace);
}

}  // namespace slipstick
