#include "core/evaluation/intervals.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/economics/uncertainty.h"
#include "core/evaluation/evidence_files.h"
#include "core/evidence/run_setting.h"
#include "core/scenario/designed_device.h"

namespace slipstick {
namespace {

constexpr double kLevel = 9. / 10;
constexpr Count kSamples = 60;  // of a cost, each with its own bill; another seed moves the ends by a few per cent
constexpr double kReproduced = 5. / 1e3;  // relative: an answer this near to the user's measurement counts as measured
constexpr std::uint64_t kSeed = 1;        // the same answer every time
constexpr std::string_view kFromRuns =
    "the middle half of the errors of published runs, the nearest counting most, and beyond it what the next publisher "
    "may differ by";
constexpr std::string_view kFromDraws = "cut from a Monte Carlo run over the uncertain inputs of cost";

// "8 % less" or "15 % more", from a ratio to the answer.
std::string ShareText(double ratio) {
  const long percent = std::lround(100 * std::abs(ratio - 1));
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
Interval<Quantity> IntervalAround(Quantity value, MeasuredKind kind, const RunSetting& setting) {
  const Likely likely = LikelyRange(kind, setting, PublishedEvidence());
  return IntervalOf(value, likely, WhyText(likely, kind));
}

// Text such as "49 published runs of 5 publishers".
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

// Narrows the interval of an answer that was moved to the user's own measurements: for the measured figure to the
// spread of repeated runs, for other figures of its kind to the error on a machine calibrated by one run.
template <class Quantity, class Report>
void Narrow(Interval<Quantity>& interval, Quantity value, MeasuredKind kind,
            const std::vector<OwnMeasurement>& measured, const Report& report) {
  for (const OwnMeasurement& own : measured) {
    const std::optional<EvidenceFigure> figure = FigureOf(report, own.path);
    if (!own.Moves() || !figure || figure->kind != kind) continue;
    const bool is_measured = std::abs(figure->value / own.value - 1) <= kReproduced;
    const RunDistance& by = MeasuredDistance();
    LogSpread spread = is_measured ? by.repeated : SpreadOf(kind, by.spread).calibrated;
    if (kind == MeasuredKind::kThroughput) std::swap(spread.below, spread.above);  // the spread is of the time
    const Quantity low = std::exp(-spread.below) * value, high = std::exp(spread.above) * value;
    if (low <= interval.low && high >= interval.high) continue;
    interval.low = std::max(low, interval.low), interval.high = std::min(high, interval.high);
    const double below = interval.low / value, above = interval.high / value;
    interval.why = is_measured ? RepeatedText(below, above)
                               : "You measured this system; other runs of a system so calibrated lie between " +
                                     ShareText(below) + " and " + ShareText(above) + " than this.";
  }
}

// Whether the user measured the time of an image or clip and the answer was moved to it.
bool IsOwn(const DiffusionReport& report, const OwnMeasurement& own) {
  return own.path == kImageOrClipFigure && own.Moves() &&
         std::abs(report.latency.base() / own.value - 1) <= kReproduced;
}

std::string ImageWhyText(const Likely& likely, bool is_own) {
  if (is_own) return RepeatedText(likely.low, likely.high);
  constexpr MeasuredKind kind = MeasuredKind::kImageOrClip;
  return WhyText(likely, kind) + " It rests on " + CountText(kind) + ", few of their kind.";
}

// Records the ends in explanations as procedures that rest on the answer.
template <class Quantity>
Interval<Quantity> Explained(Interval<Quantity> interval, Quantity value, std::string_view how = kFromRuns) {
  interval.low = Procedure("Low end of the 90 % interval", interval.low, {{value, 1}}, how);
  interval.high = Procedure("High end of the 90 % interval", interval.high, {{value, 1}}, how);
  return interval;
}

TypicalRun TypicalOf(const TrainingReport& report, Tape* tape) {
  const WholeRuns runs = WholeRunGap(PublishedEvidence());
  const Ratio gap = ConstantAt("evidence.whole_runs.whole_run_gap", Ratio(runs.gap), "Whole runs over tuned steps",
                               "published whole runs, core/presets/evidence", tape);
  TypicalRun typical{Figure("Step time, typical of production runs", report.step_time * gap),
                     Figure("Throughput (tokens/s), typical of production runs", report.tokens_per_s / gap),
                     Figure("MFU, typical of production runs", report.model_flops_utilization / gap),
                     {},
                     {}};
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
  made.memory_warning = (fits ? "Training may run out of memory: " : "Training may still fit: ") + GibText(needed) +
                        " of " + GibText(capacity) +
                        " is the estimate, and nine of ten measured runs like it would need " + range;
}

}  // namespace

TrainingIntervals IntervalsOf(const Scenario& scenario, const TrainingReport& report, Tape* tape) {
  const RunSetting setting = SettingOf(scenario.model, scenario.cluster, *scenario.training, report);
  TrainingIntervals made{IntervalAround(report.step_time, MeasuredKind::kStepTime, setting),
                         IntervalAround(report.memory.Total(), MeasuredKind::kTrainingMemory, setting), "", "",
                         TypicalOf(report, tape)};
  Narrow(made.step_time, report.step_time, MeasuredKind::kStepTime, scenario.measured, report);
  Narrow(made.memory, report.memory.Total(), MeasuredKind::kTrainingMemory, scenario.measured, report);
  JudgeMemory(report, made);
  made.step_time = Explained(made.step_time, report.step_time);
  made.memory = Explained(made.memory, report.memory.Total());
  return made;
}

ServingIntervals IntervalsOf(const Scenario& scenario, const ServingReport& report) {
  const auto around = [&](auto value, MeasuredKind kind) {
    const RunSetting setting = SettingOf(kind, scenario.model, scenario.cluster, *scenario.serving, report);
    auto interval = IntervalAround(value, kind, setting);
    Narrow(interval, value, kind, scenario.measured, report);
    return Explained(interval, value);
  };
  return {around(report.tpot, MeasuredKind::kTokenTime), around(report.ttft, MeasuredKind::kFirstToken),
          around(report.tokens_per_s, MeasuredKind::kThroughput),
          around(report.memory.Total(), MeasuredKind::kServingMemory)};
}

DiffusionIntervals IntervalsOf(const Scenario& scenario, const DiffusionReport& report,
                               const std::optional<Dollars>& price) {
  const RunSetting setting = SettingOf(scenario.cluster, *scenario.diffusion, report);
  Likely time = LikelyRange(MeasuredKind::kImageOrClip, setting, PublishedEvidence());
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
  made.latency = Explained(made.latency, report.latency);
  made.items_per_hour = Explained(made.items_per_hour, report.items_per_hour);
  if (!price) return made;
  made.cost = Explained(
      IntervalOf(*price, time, ImageWhyText(time, is_own) + " The price of an hour is taken as it is."), *price);
  return made;
}

Interval<Dollars> DeviceCostInterval(const Scenario& scenario, const CostReport& report) {
  const std::optional<CostInputs> split = SplitCosts(scenario.partition, *scenario.cost, nullptr);
  std::vector<DrawnCost> samples = DrawOutcomes(scenario.cluster, split ? *split : *scenario.cost, kSeed, 0, kSamples);
  std::sort(samples.begin(), samples.end(), [](const DrawnCost& a, const DrawnCost& b) { return a.device < b.device; });
  const auto cut = static_cast<std::size_t>(std::lround((1 - kLevel) / 2 * kSamples));
  const Dollars low = std::min(report.device, samples[cut].device),
                high = std::max(report.device, samples[samples.size() - 1 - cut].device);
  constexpr std::string_view kWhy = "Monte Carlo over the uncertain inputs of cost: nine of ten samples lie between.";
  return Explained<Dollars>({low, high, kLevel, {}, {}, std::string(kWhy)}, report.device, kFromDraws);
}

}  // namespace slipstick
