#include "core/operators/time_by_bound.h"

#include <string>

namespace slipstick {
namespace {

struct BoundPart {
  std::string_view name, share, title;
  Seconds ByBound<Seconds>::* time;
  Beside ByBound<Beside>::* beside;
};
using BoundTimes = ByBound<Seconds>;
using BoundOthers = ByBound<Beside>;
constexpr BoundPart kBoundParts[] = {
    {"compute", "compute_share", "Compute-bound", &BoundTimes::compute, &BoundOthers::compute},
    {"l1", "l1_share", "Bound by L1, shared memory or the intake of the SMs", &BoundTimes::l1, &BoundOthers::l1},
    {"l2", "l2_share", "Bound by the L2 cache", &BoundTimes::l2, &BoundOthers::l2},
    {"memory", "memory_share", "Memory-bandwidth-bound", &BoundTimes::memory, &BoundOthers::memory},
    {"network", "network_share", "Communication-bound", &BoundTimes::network, &BoundOthers::network},
    {"latency", "latency_share", "Latency-bound", &BoundTimes::latency, &BoundOthers::latency},
    {"bubble", "bubble_share", "Pipeline bubble", &BoundTimes::bubble, &BoundOthers::bubble}};

void Explain(const BoundPart& part, Seconds time, Seconds total, std::string_view total_is, double share,
             const Beside& beside, std::string_view report, Trace& trace) {
  if (!trace.on() || !(time > Seconds{})) return;
  const std::string path = std::string(report) + "." + std::string(part.name),
                    with = std::string(total_is) + " * " + std::string(part.share),
                    names = std::string(total_is) + ", " + std::string(part.share), other(beside.symbol);
  const Note note{part.title, "the operators that it bounds, of the report's list", "", path};
  if (share > 0)
    trace.Constants(report, "share of the operators that it bounds, by their times in the report", part.share, share);
  if (!(share > 0)) return trace.Record(part.name, "1 * " + other, time, note, other, beside.time);
  if (other.empty()) return trace.Record(part.name, with, time, note, names, total, share);
  trace.Record(part.name, with + " + " + other, time, note, names + ", " + other, total, share, beside.time);
}

}  // namespace

TimeByBound SplitByBound(Seconds total, std::string_view total_is, const TimeByBound& operators,
                         const ByBound<Beside>& beside, std::string_view report, Trace& trace) {
  const Trace::Scope scope(trace, "time_by_bound");
  const Seconds whole = operators.Total();
  TimeByBound split;
  for (const BoundPart& part : kBoundParts) {
    const bool is_rest = !(whole > Seconds{}) && part.time == &BoundTimes::compute;
    const double share = is_rest ? Ratio(1) : whole > Seconds{} ? operators.*part.time / whole : Ratio(0);
    const Beside& other = beside.*part.beside;
    split.*part.time = total * share + other.time;
    Explain(part, split.*part.time, total, total_is, share, other, report, trace);
  }
  return split;
}

}  // namespace slipstick
