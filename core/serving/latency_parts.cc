#include "core/serving/latency_parts.h"

#include <string>

#include "core/serving/load_model.h"

namespace slipstick {
namespace {

struct NamedWork {
  std::string_view name;
  Work work;
};
// Operators that their FLOPs and traffic do not tell apart.
constexpr NamedWork kWorks[] = {{"attention", Work::kAttention},
                                {"sliding-window attention", Work::kAttention},
                                {"recurrence", Work::kAttention},
                                {kCacheFromHost, Work::kAttention},
                                {kPrefixFromHost, Work::kAttention},
                                {kExpertsFromHost, Work::kGemm},
                                {kExpertsOnHost, Work::kGemm},
                                {"scheduler overhead per step", Work::kScheduler},
                                {"scheduler overhead per prefill step", Work::kScheduler},
                                {"engine overhead per sequence", Work::kScheduler},
                                {"engine overhead", Work::kScheduler},
                                {"waiting for the host", Work::kScheduler}};
constexpr std::string_view kWorkTitles[] = {"Matrix products", "Attention and KV cache", "Communication",
                                            "Small kernels and launches", "Scheduler and host"};

// `total`, whose symbol is `total_is`, in proportion to its operators.
TimeByWork SplitByWork(Seconds total, std::string_view total_is, const OperatorBreakdown& operators,
                       const std::string& report, Trace& trace) {
  TimeByWork times;
  for (const OperatorTime& one : operators) times.Of(WorkOf(one)) += one.count * one.kernel.time;
  const Seconds whole = operators.TimeOf();
  for (const auto& [work, name] : EnumNames<Work>::names) {
    Seconds& time = times.Of(work);
    if (!(time > Seconds{})) continue;
    const double share = time / whole;
    time = total * share;
    if (!trace.on()) continue;
    const std::string path = report + "." + std::string(name), part = std::string(name) + "_share";
    trace.Constants(report, "share of the operators of this kind, by their times in the report", part, share);
    trace.Record(
        name, std::string(total_is) + " * " + part, time,
        Note{kWorkTitles[static_cast<std::size_t>(work)], "the operators of this kind, of the report's list", "", path},
        std::string(total_is) + ", " + part, total, share);
  }
  return times;
}

}  // namespace

Work WorkOf(const OperatorTime& one) {
  for (const NamedWork& row : kWorks) {
    if (row.name == one.name) return row.work;
  }
  if (one.kernel.bound == Bound::kNetwork) return Work::kCommunication;
  return one.kernel.flops > Flops{} ? Work::kGemm : Work::kSmallKernels;
}

LatencyParts LatencyPartsOf(const ServingPerformance& performance, Trace& trace) {
  LatencyParts parts;
  const Seconds mean_step = performance.decode.token, tpot = performance.tpot,
                first_prefill = performance.prefill.first;
  {
    const Trace::Scope scope(trace, "tpot_parts");
    FIGURE(trace, other_prefills, tpot - mean_step,
           (Note{"Prefills of other requests", "between decode steps", "", "serving.tpot_parts_s.prefill"}), tpot,
           mean_step);
    parts.tpot.prefill = other_prefills;
    parts.tpot.step =
        SplitByWork(mean_step, "mean_step", performance.decode.step.operators, "serving.tpot_parts_s", trace);
  }
  const Trace::Scope scope(trace, "ttft_parts");
  const Seconds handling = performance.handling, queue = performance.queue,
                prefills_before = performance.prefills_before;
  FIGURE(trace, handled, 1 * handling,
         (Note{"Request handling", "with the step in progress", "", "serving.ttft_parts_s.handling"}), handling);
  FIGURE(trace, queued, 1 * queue, (Note{"Queue", "for a slot or a pool", "", "serving.ttft_parts_s.queue"}), queue);
  parts.ttft.handling = handled;
  parts.ttft.queue = queued;
  parts.ttft.prefill =
      SplitByWork(first_prefill, "first_prefill", performance.prefill.alone.operators, "serving.ttft_parts_s", trace);
  if (!(performance.transfer > Seconds{})) {
    FIGURE(trace, waited, 1 * prefills_before,
           (Note{"Prefills of other requests", "before the own one, or in the same pass", "",
                 "serving.ttft_parts_s.others"}),
           prefills_before);
    parts.ttft.others = waited;
    return parts;
  }
  const Seconds transfer_time = performance.transfer;
  FIGURE(trace, transferred, 1 * transfer_time,
         (Note{"KV-cache transfer", "between the pools", "", "serving.ttft_parts_s.transfer"}), transfer_time);
  FIGURE(
      trace, first_step, 1 * tpot,
      (Note{"First decode step", "yields the first token on the decode pool", "", "serving.ttft_parts_s.first_step"}),
      tpot);
  parts.ttft.transfer = transferred;
  parts.ttft.first_step = first_step;
  return parts;
}

}  // namespace slipstick
