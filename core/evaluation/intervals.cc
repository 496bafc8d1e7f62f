#include "core/evaluation/intervals.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/economics/uncertainty.h"
#include "core/evaluation/evidence_files.h"
#include "core/evidence/run_setting.h"

namespace slipstick {
namespace {

constexpr double kLevel = 9. / 10;
constexpr Count kSamples = 60;  // of a cost, each a bill of its own: the ends move by some per cent with another seed
constexpr double kReproduced = 5. / 1e3;  // relative: an answer so near to one's own measurement is what was measured
constexpr std::uint64_t kSeed = 1;        // the same answer every time
constexpr std::string_view kFromRuns =
    "the middle half of the errors of published runs, the nearest counting most, and beyond it what the next publisher "
    "may differ by";
constexpr std::string_view kFromDraws = "cut from a Monte Carlo run over the uncertain inputs of cost";

// "8 % less", "15 % more" of a ratio to the answer.
std::string ShareText(double ratio) {
  const auto percent = static_cast<long>(std::lround(100 * std::abs(ratio - 1)));
  return std::to_string(percent) + (ratio < 1 ? " % less" : " % more");
}

std::string WhyText(const Likely& likely, MeasuredKind kind) {
  std::string text = "If ten people measured a system like yours, about nine would find between " +
                     ShareText(likely.low) + " and " + ShareText(likely.high) + " than this.";
  if (!likely.nearest.empty()) {
    const MeasuredRun& nearest = *likely.nearest.front();
    text += " Nearest: " + std::string(nearest.id) + " (" +
            std::string(MeasuredSources()[static_cast<std::size_t>(nearest.source)].name) + ").";
  }
  if (!likely.is_measured && kind != MeasuredKind::kImageOrClip) {
    text +=
        " No published run has this software, this architecture and this kind of model together, which widens the "
        "range, most towards slower.";
  }
  if (likely.is_as_run) text += " Plain commands differ more than tuned runs, which widens it too.";
  if (likely.IsFar()) text += " Nothing very like it has been measured.";
  if (likely.is_by_data_sheet) text += " The device is known by its data sheet only, which widens the range.";
  return text;
}

template <class Quantity>
Interval<Quantity> IntervalOf(Quantity value, const Likely& likely, std::string why) {
  Interval<Quantity> interval{likely.low * value, likely.high * value, kLevel, {}, {}, std::move(why)};
  for (const MeasuredRun* run : likely.nearest) interval.rows.push_back(run->id);
  if (!interval.rows.empty()) interval.nearest = interval.rows.front();
  return interval;
}

template <class Quantity>
Interval<Quantity> IntervalAround(Quantity value, MeasuredKind kind, const RunSetting& setting, const Device& device) {
  const Likely likely = LikelyRange(kind, setting, IsAssumed(device), PublishedEvidence());
  return IntervalOf(value, likely, WhyText(likely, kind));
}

// "19 published runs of 4 publishers".
std::string CountText(MeasuredKind kind) {
  const std::span<const MeasuredRun> runs = RunsOfKind(kind, PublishedEvidence());
  std::set<std::string_view> publishers;
  for (const MeasuredRun& run : runs) {
    const std::string_view name = MeasuredSources()[static_cast<std::size_t>(run.source)].name;
    publishers.insert(name.substr(0, name.find(", ")));
  }
  return std::to_string(runs.size()) + " published runs of " + std::to_string(publishers.size()) + " publishers";
}

std::string RepeatedText(double low, double high) {
  return "You measured it, and repeated runs of one system lie between " + ShareText(low) + " and " + ShareText(high) +
         " than this.";
}

// Narrows an interval around an answer that was moved to measurements of one's own: the figure measured is as sure as
// repeated runs, another of the kind as runs of a machine that one of them calibrated.
template <class Quantity, class Report>
void Narrow(Interval<Quantity>& interval, Quantity value, MeasuredKind kind,
            const std::vector<OwnMeasurement>& measured, const Report& report) {
  for (const OwnMeasurement& own : measured) {
    const std::optional<EvidenceFigure> figure = FigureOf(report, own.path);
    if (!own.Moves() || !figure || figure->kind != kind) continue;
    const bool is_measured = std::abs(figure->value / own.value - 1) <= kReproduced;
    const RunDistance& by = MeasuredDistance();
    LogSpread spread = is_measured ? by.repeated : SpreadOf(kind, by.spread).calibrated;
    if (kind == MeasuredKind::kThroughput) std::swap(spread.below, spread.above);  // stated of the time
    const Quantity low = std::exp(-spread.below) * value, high = std::exp(spread.above) * value;
    if (low <= interval.low && high >= interval.high) continue;
    interval.low = std::max(low, interval.low), interval.high = std::min(high, interval.high);
    const double below = interval.low / value, above = interval.high / value;
    interval.why = is_measured ? RepeatedText(below, above)
                               : "You measured this system; other runs of a system so calibrated lie between " +
                                     ShareText(below) + " and " + ShareText(above) + " than this.";
  }
}

// Whether the time of an image or clip is what somebody measured, to which it was moved.
bool IsOwn(const DiffusionReport& report, const OwnMeasurement& own) {
  return own.path == kImageOrClipFigure && own.Moves() &&
         std::abs(report.latency.base() / own.value - 1) <= kReproduced;
}

std::string ImageWhyText(const Likely& likely, bool is_own) {
  if (is_own) return RepeatedText(likely.low, likely.high);
  constexpr MeasuredKind kind = MeasuredKind::kImageOrClip;
  return WhyText(likely, kind) + " It rests on " + CountText(kind) + ", few of their kind.";
}

// The ends as figures of the report, which rest on the answer and the measured errors.
struct EndPaths {
  std::string_view low, high, how = kFromRuns;
};
template <class Quantity>
void RecordEnds(const Interval<Quantity>& interval, std::string_view answer, Quantity value, const EndPaths& paths,
                Trace& trace) {
  trace.Procedure("low_end", interval.low, Note{"Low end of the 90 % interval", paths.how, "", paths.low}, answer,
                  value);
  trace.Procedure("high_end", interval.high, Note{"High end of the 90 % interval", paths.how, "", paths.high}, answer,
                  value);
}

TypicalRun TypicalOf(const TrainingReport& report, Trace& trace) {
  const WholeRuns runs = WholeRunGap(PublishedEvidence());
  const double whole_run_gap =
      trace.Constant("whole_run_gap", runs.gap, "evidence.whole_runs", "published whole runs, core/presets/evidence");
  const Seconds step_time = report.step_time;
  const TokensPerSecond tokens_per_s = report.tokens_per_s;
  const double model_flops_utilization = report.model_flops_utilization;
  FIGURE(trace, typical_step_time, step_time * whole_run_gap,
         (Note{"Step time, typical of production runs", "", "", "training.typical.step_time_s"}), step_time,
         whole_run_gap);
  FIGURE(trace, typical_tokens_per_s, tokens_per_s / whole_run_gap,
         (Note{"Throughput (tokens/s), typical of production runs", "", "", "training.typical.tokens_per_s"}),
         tokens_per_s, whole_run_gap);
  FIGURE(trace, typical_utilization, model_flops_utilization / whole_run_gap,
         (Note{"MFU, typical of production runs", "", "", "training.typical.model_flops_utilization"}),
         model_flops_utilization, whole_run_gap);
  TypicalRun typical{typical_step_time, typical_tokens_per_s, typical_utilization, {}, {}};
  for (const MeasuredRun& run : runs.runs) typical.rows.push_back(run.id);
  typical.why = "The answer is a tuned step. Whole production runs took " + ShareText(runs.gap) +
                " time per step than we put it, the median of " + std::to_string(runs.runs.size()) + " published runs.";
  return typical;
}

void JudgeMemory(const TrainingReport& report, TrainingIntervals& made) {
  const Bytes needed = report.memory.Total(), capacity = report.memory.capacity;
  const bool fits = needed <= capacity, is_certain = fits ? made.memory.high <= capacity : made.memory.low > capacity;
  made.memory_verdict = fits ? (is_certain ? "fits" : "tight") : (is_certain ? "does_not_fit" : "may_not_fit");
  if (is_certain) return;
  const std::string range = GibText(made.memory.low) + " to " + GibText(made.memory.high);
  made.memory_warning = (fits ? "Training may run out of memory: " : "Training may fit all the same: ") +
                        GibText(needed) + " of " + GibText(capacity) +
                        " is the estimate, and nine of ten measured runs like it would need " + range;
}

}  // namespace

TrainingIntervals IntervalsOf(const Scenario& scenario, const TrainingReport& report, Trace& trace) {
  const Trace::Scope scope(trace, "training");
  const RunSetting setting = SettingOf(scenario.model, scenario.cluster, *scenario.training, report);
  const Device& device = scenario.cluster.device;
  TrainingIntervals made{IntervalAround(report.step_time, MeasuredKind::kStepTime, setting, device),
                         IntervalAround(report.memory.Total(), MeasuredKind::kTrainingMemory, setting, device), "", "",
                         TypicalOf(report, trace)};
  Narrow(made.step_time, report.step_time, MeasuredKind::kStepTime, scenario.measured, report);
  Narrow(made.memory, report.memory.Total(), MeasuredKind::kTrainingMemory, scenario.measured, report);
  JudgeMemory(report, made);
  RecordEnds(made.step_time, "step_time", report.step_time,
             {"training.step_time_interval.low", "training.step_time_interval.high"}, trace);
  RecordEnds(made.memory, "total", report.memory.Total(),
             {"training.memory_interval.low", "training.memory_interval.high"}, trace);
  return made;
}

ServingIntervals IntervalsOf(const Scenario& scenario, const ServingReport& report, Trace& trace) {
  const Trace::Scope scope(trace, "serving");
  const auto around = [&](auto value, MeasuredKind kind) {
    const RunSetting setting = SettingOf(kind, scenario.model, scenario.cluster, *scenario.serving, report);
    auto interval = IntervalAround(value, kind, setting, scenario.cluster.device);
    Narrow(interval, value, kind, scenario.measured, report);
    return interval;
  };
  ServingIntervals made{around(report.tpot, MeasuredKind::kTokenTime), around(report.ttft, MeasuredKind::kFirstToken),
                        around(report.tokens_per_s, MeasuredKind::kThroughput),
                        around(report.memory.Total(), MeasuredKind::kServingMemory)};
  RecordEnds(made.tpot, "tpot", report.tpot, {"serving.tpot_interval.low", "serving.tpot_interval.high"}, trace);
  RecordEnds(made.ttft, "ttft", report.ttft, {"serving.ttft_interval.low", "serving.ttft_interval.high"}, trace);
  RecordEnds(made.throughput, "rate", report.tokens_per_s,
             {"serving.throughput_interval.low", "serving.throughput_interval.high"}, trace);
  RecordEnds(made.memory, "memory", report.memory.Total(),
             {"serving.memory_interval.low", "serving.memory_interval.high"}, trace);
  return made;
}

DiffusionIntervals IntervalsOf(const Scenario& scenario, const DiffusionReport& report,
                               const std::optional<Dollars>& price, Trace& trace) {
  const Trace::Scope scope(trace, "diffusion");
  const RunSetting setting = SettingOf(scenario.cluster, *scenario.diffusion, report);
  Likely time =
      LikelyRange(MeasuredKind::kImageOrClip, setting, IsAssumed(scenario.cluster.device), PublishedEvidence());
  const bool is_own = std::any_of(scenario.measured.begin(), scenario.measured.end(),
                                  [&report](const OwnMeasurement& own) { return IsOwn(report, own); });
  if (is_own) {
    const LogSpread& repeated = MeasuredDistance().repeated;
    time.low = std::max<double>(time.low, std::exp(-repeated.below));
    time.high = std::min<double>(time.high, std::exp(repeated.above));
  }
  Likely rate = time;
  rate.low = 1 / time.high, rate.high = 1 / time.low;
  DiffusionIntervals made{IntervalOf(report.latency, time, ImageWhyText(time, is_own)),
                          IntervalOf(report.items_per_hour, rate, ImageWhyText(rate, is_own)),
                          {}};
  RecordEnds(made.latency, "latency", report.latency,
             {"diffusion.latency_interval.low", "diffusion.latency_interval.high"}, trace);
  RecordEnds(made.items_per_hour, "items_per_hour", report.items_per_hour,
             {"diffusion.items_per_hour_interval.low", "diffusion.items_per_hour_interval.high"}, trace);
  if (!price) return made;
  made.cost = IntervalOf(*price, time, ImageWhyText(time, is_own) + " The price of an hour is taken as it is.");
  RecordEnds(*made.cost, "cost", *price, {"diffusion.cost_interval.low", "diffusion.cost_interval.high"}, trace);
  return made;
}

Interval<Dollars> DeviceCostInterval(const Scenario& scenario, const CostReport& report, Trace& trace) {
  std::vector<DrawnCost> samples = DrawOutcomes(scenario.cluster, *scenario.cost, kSeed, 0, kSamples);
  std::sort(samples.begin(), samples.end(), [](const DrawnCost& a, const DrawnCost& b) { return a.device < b.device; });
  const auto cut = static_cast<std::size_t>(std::lround((1 - kLevel) / 2 * kSamples));
  const Dollars low = std::min(report.device, samples[cut].device),
                high = std::max(report.device, samples[samples.size() - 1 - cut].device);
  Interval<Dollars> interval{
      low, high, kLevel, {}, {}, "Monte Carlo over the uncertain inputs of cost: nine of ten samples lie between."};
  const Trace::Scope scope(trace, "cost");
  RecordEnds(interval, "device_usd", report.device,
             {"cost.device_interval.low", "cost.device_interval.high", kFromDraws}, trace);
  return interval;
}

}  // namespace slipstick
