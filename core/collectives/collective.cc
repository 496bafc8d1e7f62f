#include "core/collectives/collective.h"

#include "core/collectives/algorithm.h"

namespace slipstick {
namespace {

template <class Use>
void ForEach(const Problem& problem, const Use& use) {
  for (const AlgorithmFamily family : AlgorithmFamilies()) {
    for (const Algorithm& row : family()) {
      if (row.transport == problem.call.transport && row.applies(problem)) use(row);
    }
  }
}

}  // namespace

const std::vector<AlgorithmFamily>& AlgorithmFamilies() {
  static const std::vector<AlgorithmFamily> families{LibraryAlgorithms,   EngineAlgorithms,       RingAlgorithms,
                                                     RecursiveAlgorithms, DirectAlgorithms,       TreeAlgorithms,
                                                     GridAlgorithms,      HierarchicalAlgorithms, InNetworkAlgorithms};
  return families;
}

Bytes MinimumBytes(Pattern pattern, Bytes bytes, double ranks) {
  switch (pattern) {
    case Pattern::kAllReduce:
      return 2 * (ranks - 1) / ranks * bytes;
    case Pattern::kAllGather:
    case Pattern::kReduceScatter:
    case Pattern::kAllToAll:
      return (ranks - 1) / ranks * bytes;
    case Pattern::kBroadcast:
    case Pattern::kSendReceive:
      break;
  }
  return bytes;
}

CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster, Trace& trace) {
  const GroupView view = ViewOf(group, cluster);
  CollectiveTime best;
  if (view.ranks <= 1) return best;
  const Problem problem{call, view};
  const bool is_free = call.algorithm == "auto";
  const Algorithm* chosen = nullptr;
  Trace off = Trace::Off();
  ForEach(problem, [&](const Algorithm& row) {
    if (!is_free && row.name != call.algorithm) return;
    const AlgorithmTime made = row.time(problem, off);
    if (chosen != nullptr && !(made.time < best.time)) return;
    chosen = &row;
    best.time = made.time;
    best.latency = made.latency;
    best.algorithm = row.name;
    best.bytes = made.bytes.value_or(MinimumBytes(call.pattern, call.bytes, view.ranks));
  });
  if (chosen == nullptr) {
    best.applies = false;
  } else if (trace.on()) {
    chosen->time(problem, trace);
  }
  return best;
}

std::vector<std::string_view> AlgorithmsFor(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster) {
  const GroupView view = ViewOf(group, cluster);
  std::vector<std::string_view> names;
  if (view.ranks <= 1) return names;
  ForEach(Problem{call, view}, [&](const Algorithm& row) { names.push_back(row.name); });
  return names;
}

}  // namespace slipstick
