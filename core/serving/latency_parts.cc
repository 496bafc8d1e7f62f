#include "core/serving/latency_parts.h"

#include <string>

#include "core/base/figure.h"
#include "core/serving/load_model.h"

namespace slipstick {
namespace {

struct NamedWork {
  std::string_view name;
  Work work;
};
// Operators whose kind cannot be derived from FLOPs and traffic.
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

// Splits `total` in proportion to the times of its operators; shown at the paths below `report`.
TimeByWork SplitByWork(Seconds total, const OperatorBreakdown& operators, const std::string& report,
                       const Deployment& deployment) {
  TimeByWork times;
  for (const OperatorTime& one : operators) times.Of(WorkOf(one)) += one.count * PlainOf(one.kernel.time);
  const Seconds whole = PlainOf(operators.TimeOf());
  for (const auto& [work, name] : EnumNames<Work>::names) {
    Seconds& time = times.Of(work);
    if (!(time > Seconds{})) continue;
    const Ratio share = ConstantAt(report + "." + std::string(name) + "_share", time / whole, "Share of the operators",
                                   "of this kind, by their times in the report", deployment.tape());
    time = Figure(kWorkTitles[static_cast<std::size_t>(work)], total * share,
                  "the operators of this kind, of the report's list");
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

LatencyParts LatencyPartsOf(const Deployment& deployment, const ServingPerformance& performance) {
  LatencyParts parts;
  parts.tpot.prefill =
      Figure("Prefills of other requests", performance.tpot - performance.decode.token, "between decode steps");
  parts.tpot.step =
      SplitByWork(performance.decode.token, performance.decode.step.operators, "serving.tpot_parts_s", deployment);
  TtftParts& ttft = parts.ttft;
  ttft.handling = Figure("Request handling", performance.handling, "with the step in progress");
  ttft.queue = Figure("Queue", performance.queue, "for a slot or a pool");
  ttft.prefill =
      SplitByWork(performance.prefill.first, performance.prefill.alone.operators, "serving.ttft_parts_s", deployment);
  if (!(performance.transfer > Seconds{})) {
    ttft.others =
        Figure("Prefills of other requests", performance.prefills_before, "before the own one, or in the same pass");
    return parts;
  }
  ttft.transfer = Figure("KV-cache transfer", performance.transfer, "between the pools");
  ttft.first_step = Figure("First decode step", performance.tpot, "yields the first token on the decode pool");
  return parts;
}

}  // namespace slipstick
