#include "core/collectives/collective.h"

#include <string>
#include <utility>
#include <vector>

#include "core/collectives/algorithm.h"

namespace slipstick {
namespace {

constexpr std::string_view kAnyAlgorithm = "auto";

template <class Use>
void ForEach(const CollectiveInstance& instance, CollectiveLibrary library, const Use& use) {
  for (const AlgorithmFamily family : AlgorithmFamilies()) {
    for (const Algorithm& row : family()) {
      if (row.library == library && row.applies(instance)) use(row);
    }
  }
}

std::string_view AlgorithmOf(const CollectiveCall& call, const CollectiveChoice& choice) {
  if (!call.algorithm.empty()) return call.algorithm;
  switch (call.type) {
    case CollectiveType::kAllReduce:
      return choice.all_reduce;
    case CollectiveType::kAllGather:
      return choice.all_gather;
    case CollectiveType::kReduceScatter:
      return choice.reduce_scatter;
    case CollectiveType::kAllToAll:
      return choice.all_to_all;
    case CollectiveType::kSendReceive:
      return choice.send_recv;
    case CollectiveType::kBroadcast:
      break;
  }
  return kAnyAlgorithm;
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
  const CollectiveLibrary library = call.library.value_or(cluster.collectives.library);
  const std::string_view asked = AlgorithmOf(call, cluster.collectives);
  const Algorithm* chosen = nullptr;
  Trace off = Trace::Off();
  Candidates candidates;
  ForEach(instance, library, [&](const Algorithm& row) {
    if (asked != kAnyAlgorithm && row.name != asked) return;
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
  ForEach(CollectiveInstance{call, view}, call.library.value_or(cluster.collectives.library),
          [&](const Algorithm& row) { names.push_back(row.name); });
  return names;
}

}  // namespace slipstick
