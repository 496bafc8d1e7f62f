#include "core/collectives/collective.h"

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

}  // namespace

CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster, Trace& trace) {
  const GroupView view = ViewOf(group, cluster);
  CollectiveTime best;
  if (view.ranks <= 1) return best;
  const CollectiveInstance instance{call, view};
  const bool is_free = call.algorithm == "auto";
  const Algorithm* chosen = nullptr;
  Trace off = Trace::Off();
  ForEach(instance, [&](const Algorithm& row) {
    if (!is_free && row.name != call.algorithm) return;
    const AlgorithmTime made = row.time(instance, off);
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
