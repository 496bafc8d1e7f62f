#include "core/collectives/collective.h"

#include <string>
#include <utility>
#include <vector>

#include "core/collectives/algorithm.h"

namespace slipstick {
namespace {

template <class Use>
void ForEach(const CollectiveInstance& instance, const Use& use) {
  for (const AlgorithmFamily family : AlgorithmFamilies()) {
    for (const Algorithm& row : family()) {
      if (row.cost_model == instance.call.cost_model && row.applies(instance)) use(row);
    }
  }
}

using Candidates = std::vector<std::pair<std::string, Seconds>>;

// The time just explained, as that of the collective.
void ExplainChoice(Seconds time, std::string_view title, const Candidates& candidates, Trace& trace) {
  const std::string symbol = trace.figures().back().symbol;
  if (candidates.size() < 2) return trace.Alias("collective_time", time, symbol);
  std::size_t place = 0;
  while (candidates[place].first != title) ++place;
  trace.Choice("collective_time", time, Note{"Time of the collective", "of the fastest algorithm"}, candidates, place, symbol, time);
}

}  // namespace

CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster, Trace& trace) {
  const GroupView view = ViewOf(group, cluster);
  CollectiveTime best;
  if (view.ranks <= 1) return best;
  const CollectiveInstance instance{call, view};
  const bool is_free = call.algorithm == "auto";
  const Algorithm* chosen = nullptr;
  Trace off = Trace::Off();
  Candidates candidates;
  ForEach(instance, [&](const Algorithm& row) {
    if (!is_free && row.name != call.algorithm) return;
    const AlgorithmTime made = row.time(instance, off);
    if (trace.on()) candidates.emplace_back(row.title, made.time);
    if (chosen != nullptr && !(made.time < best.time)) return;
    chosen = &row;
    best.time = made.time;
    best.latency = made.latency;
    best.algorithm = row.name;
    best.bytes = made.bytes.value_or(MinimumBytes(call.type, call.bytes, view.ranks));
  });
  if (chosen == nullptr) {
    best.applies = false;
  } else if (trace.on()) {
    chosen->time(instance, trace);
    ExplainChoice(best.time, chosen->title, candidates, trace);
  }
  return best;
}

std::vector<std::string_view> AlgorithmsFor(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster) {
  const GroupView view = ViewOf(group, cluster);
  std::vector<std::string_view> names;
  if (view.ranks <= 1) return names;
  ForEach(CollectiveInstance{call, view}, [&](const Algorithm& row) { names.push_back(row.name); });
  return names;
}

}  // namespace slipstick
