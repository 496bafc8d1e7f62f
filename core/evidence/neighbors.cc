#include "core/evidence/neighbors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

namespace slipstick {
namespace {

constexpr std::size_t kShown = 5;

int GroupOf(MeasuredKind kind) {
  const bool is_output =
      kind == MeasuredKind::kTokenTime || kind == MeasuredKind::kThroughput || kind == MeasuredKind::kStaticLatency;
  if (is_output) return static_cast<int>(MeasuredKind::kTokenTime);
  return static_cast<int>(kind == MeasuredKind::kServingMemory ? MeasuredKind::kTrainingMemory : kind);
}

std::span<const MeasuredRun> GroupWith(MeasuredKind kind, std::span<const MeasuredRun> runs) {
  const int group = GroupOf(kind);
  const auto first = std::partition_point(runs.begin(), runs.end(),
                                          [group](const MeasuredRun& run) { return GroupOf(run.kind) < group; });
  const auto last =
      std::partition_point(first, runs.end(), [group](const MeasuredRun& run) { return GroupOf(run.kind) == group; });
  return runs.subspan(static_cast<std::size_t>(first - runs.begin()), static_cast<std::size_t>(last - first));
}

struct Say {
  double nearest = 0, total = 0, runs = 0, share = 0;
};

struct Weights {
  std::vector<double> of_runs;
  double total = 0;
};
// Weight of each run. A source has the total weight of its nearest run, reduced if it has few runs.
Weights WeightsOf(std::span<const MeasuredRun> runs, const std::vector<double>& closeness, double few) {
  std::vector<Say> says;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto source = static_cast<std::size_t>(runs[i].source);
    if (source >= says.size()) says.resize(source + 1);
    Say& say = says[source];
    say.nearest = std::max(say.nearest, closeness[i]);
    say.total += closeness[i];
    if (closeness[i] > 0) ++say.runs;
  }
  double all = 0;
  for (Say& say : says) {
    if (say.runs > 0) say.nearest *= say.runs / (say.runs + few);
    all += say.nearest;
    say.share = say.total > 0 ? say.nearest / say.total : 0;
  }
  Weights weights{std::vector<double>(runs.size()), all};
  for (std::size_t i = 0; i < runs.size(); ++i)
    weights.of_runs[i] = closeness[i] * says[static_cast<std::size_t>(runs[i].source)].share;
  return weights;
}

// The weighted median of the errors, and the quantiles that leave out a tail below and a tail above.
struct Quantiles {
  double low = 0, middle = 0, high = 0;
};
struct Tails {
  double below = 0, above = 0;
};
Quantiles QuantilesOf(std::span<const MeasuredRun> runs, const Weights& weights, const Tails& tails) {
  Quantiles found;
  const std::pair<double, double*> ends[] = {{tails.below * weights.total, &found.low},
                                             {weights.total / 2, &found.middle},
                                             {(1 - tails.above) * weights.total, &found.high}};
  const auto* end = std::begin(ends);
  double below = 0;
  for (std::size_t i = 0; i < runs.size() && end != std::end(ends); ++i) {
    below += weights.of_runs[i];
    for (; end != std::end(ends) && below >= end->first; ++end) *end->second = runs[i].log_error;
  }
  return found;
}

// The nearest runs; equal distances keep their order.
std::vector<const MeasuredRun*> NearestOf(std::span<const MeasuredRun> runs, const std::vector<double>& closeness) {
  std::array<std::size_t, kShown> places{};
  std::size_t shown = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!(closeness[i] > (shown < kShown ? 0 : closeness[places[kShown - 1]]))) continue;
    std::size_t place = shown < kShown ? shown++ : kShown - 1;
    for (; place > 0 && closeness[places[place - 1]] < closeness[i]; --place) places[place] = places[place - 1];
    places[place] = i;
  }
  std::vector<const MeasuredRun*> nearest;
  for (std::size_t place = 0; place < shown; ++place) nearest.push_back(&runs[places[place]]);
  return nearest;
}

// Close to e^-d, but far runs keep more weight, and no exponential is computed.
double ClosenessAt(double distance) {
  const double once = 1 / (1 + distance / 8), twice = once * once, four = twice * twice;
  return four * four;
}

bool IsOfOneKind(const RunSetting& a, const RunSetting& b) {
  return a.architecture == b.architecture && a.software == b.software && a.has_experts == b.has_experts;
}

// Memory does not depend on what takes the time.
double SettingDistance(const MeasuredRun& run, MeasuredKind kind, const RunSetting& setting, const RunDistance& by) {
  if (GroupOf(kind) != static_cast<int>(MeasuredKind::kTrainingMemory)) return DistanceOf(setting, run.setting, by);
  RunSetting like = setting;
  like.network = run.setting.network, like.latency = run.setting.latency;
  return DistanceOf(like, run.setting, by);
}

double DistanceTo(const MeasuredRun& run, MeasuredKind kind, const RunSetting& setting, const RunDistance& by) {
  return SettingDistance(run, kind, setting, by) + (run.kind != kind ? by.kind : 0);
}

}  // namespace

Evidence PublishedEvidence() { return {MeasuredRuns(), MeasuredDistance()}; }

std::span<const MeasuredRun> RunsOfKind(MeasuredKind kind, const Evidence& evidence) {
  return GroupWith(kind, evidence.runs);
}

void OrderRuns(std::vector<MeasuredRun>& runs) {
  std::sort(runs.begin(), runs.end(), [](const MeasuredRun& a, const MeasuredRun& b) {
    return std::tuple(GroupOf(a.kind), a.log_error, a.id) < std::tuple(GroupOf(b.kind), b.log_error, b.id);
  });
}

Likely LikelyRange(MeasuredKind kind, const RunSetting& setting, const Evidence& evidence, int left_out) {
  const RunDistance& by = evidence.distance;
  const std::span<const MeasuredRun> runs = GroupWith(kind, evidence.runs);
  std::vector<double> closeness(runs.size());
  Likely likely;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].source == left_out) continue;
    closeness[i] = ClosenessAt(DistanceTo(runs[i], kind, setting, by));
    likely.is_measured = likely.is_measured || IsOfOneKind(runs[i].setting, setting);
  }
  likely.nearest = NearestOf(runs, closeness);
  if (likely.nearest.empty()) return likely;
  likely.distance = SettingDistance(*likely.nearest.front(), kind, setting, by);
  const Weights weights = WeightsOf(runs, closeness, by.few);
  const bool is_rate = kind == MeasuredKind::kThroughput;  // its error is the corresponding time's
  const Tails tails = is_rate ? Tails{by.tail_above, by.tail_below} : Tails{by.tail_below, by.tail_above};
  const Quantiles at = QuantilesOf(runs, weights, tails);
  likely.is_as_run = setting.tuning.above > 0;
  const double widened = 1 + by.widening * likely.distance;
  const LogSpread& ends = EndsOf(kind, by.spread, likely.is_measured);
  // How the engine is run and who measures are independent, so their spreads add in quadrature.
  const double below = std::hypot(ends.below, setting.tuning.below),
               above = std::hypot(ends.above, setting.tuning.above);
  // A few percent of memory decide whether requests queue for it: the low end excludes the time in that queue.
  const double low = at.middle - widened * (at.middle - at.low) - below + std::log(1 - setting.queued);
  const double high = at.middle + widened * (at.high - at.middle) + above;
  likely.low = std::min(1., std::exp(is_rate ? -high : low));
  likely.high = std::max(1., std::exp(is_rate ? -low : high));
  return likely;
}

std::vector<Neighbor> NeighborsOf(MeasuredKind kind, const RunSetting& setting, const Evidence& evidence) {
  const std::span<const MeasuredRun> runs = GroupWith(kind, evidence.runs);
  std::vector<Neighbor> neighbors;
  std::vector<double> closeness;
  for (const MeasuredRun& run : runs) {
    neighbors.push_back({&run, DistanceTo(run, kind, setting, evidence.distance), 0});
    closeness.push_back(ClosenessAt(neighbors.back().distance));
  }
  const Weights weights = WeightsOf(runs, closeness, evidence.distance.few);
  for (std::size_t i = 0; i < runs.size(); ++i) neighbors[i].share = weights.of_runs[i] / weights.total;
  std::stable_sort(neighbors.begin(), neighbors.end(),
                   [](const Neighbor& a, const Neighbor& b) { return a.distance < b.distance; });
  return neighbors;
}

WholeRuns WholeRunGap(const Evidence& evidence) {
  const std::span<const MeasuredRun> runs = GroupWith(MeasuredKind::kWholeRun, evidence.runs);
  const std::vector<double> closeness(runs.size(), 1);
  return {std::exp(QuantilesOf(runs, WeightsOf(runs, closeness, 0), {}).middle), runs};
}

}  // namespace slipstick
