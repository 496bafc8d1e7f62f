#include "core/collectives/collective.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/figure.h"
#include "core/base/fix.h"
#include "core/collectives/algorithm.h"

namespace slipstick {
namespace {

constexpr std::string_view kAnyAlgorithm = "auto";

template <class Use>
void ForEach(const CollectiveInstance& instance, CollectiveLibrary library, const Use& use) {
  for (const AlgorithmFamily& family : AlgorithmFamilies()) {
    if (family.library != library) continue;
    for (const Algorithm& row : family.rows) {
      if (row.applies(instance)) use(row);
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

}  // namespace

CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster) {
  return TimeOf(call, ViewOf(group, cluster), cluster.collectives);
}

CollectiveTime TimeOf(const CollectiveCall& call, const GroupView& group, const CollectiveChoice& choice) {
  CollectiveTime best;
  if (group.ranks <= 1) return best;
  const CollectiveInstance instance{call, group};
  const CollectiveLibrary library = call.library.value_or(choice.Library());
  const std::string_view asked = AlgorithmOf(call, choice);
  const Algorithm* chosen = nullptr;
  std::size_t place = 0;                                    // of the chosen algorithm
  std::vector<std::pair<std::string, Seconds>> candidates;  // recorded if numbers have nodes
  const auto choose_among = [&](std::string_view name) {
    ForEach(instance, library, [&](const Algorithm& row) {
      if (name != kAnyAlgorithm && row.name != name) return;
      const AlgorithmTime made = row.time(instance);
      const std::size_t at = candidates.size();
      if (made.time.node() != nullptr) candidates.emplace_back(row.title, made.time);
      if (chosen != nullptr && !(made.time < best.time)) return;
      chosen = &row;
      place = at;
      best.time = made.time;
      best.latency = made.latency;
      best.algorithm = row.name;
      best.bytes = made.bytes.value_or(MinimumBytes(call.type, call.bytes, group.ranks));
    });
  };
  choose_among(asked);
  if (chosen == nullptr) {
    best.applies = false;
    choose_among(kAnyAlgorithm);
  }
  if (candidates.size() > 1) {
    std::optional<Seconds> next;  // of the second fastest
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (i != place && (!next || candidates[i].second < *next)) next = candidates[i].second;
    }
    best.time = Procedure("Time of the collective", best.time, {{best.time, 1}, InSteps(*next)},
                          "of the fastest algorithm, beside the next", "", candidates, place);
  }
  return best;
}

std::vector<std::string_view> AlgorithmsFor(const CollectiveCall& call, const GroupPlacement& group,
                                            const Cluster& cluster) {
  const GroupView view = ViewOf(group, cluster);
  std::vector<std::string_view> names;
  if (view.ranks <= 1) return names;
  ForEach(CollectiveInstance{call, view}, call.library.value_or(cluster.collectives.Library()),
          [&](const Algorithm& row) { names.push_back(row.name); });
  return names;
}

std::size_t SlowestLevel(CollectiveType type, const GroupPlacement& group, const Cluster& cluster) {
  const GroupView view = ViewOf(group, cluster);
  std::size_t slowest = 0;
  Seconds longest;
  double inner = 1;  // ranks per unit of the level
  for (int i = 0; i < view.count; ++i) {
    const LevelView& level = view.levels[i];
    double carried = 1;  // bytes on a rank's own wires, in the same unit on every level
    if (type == CollectiveType::kAllToAll) {
      carried = inner * (level.ranks - 1) * WireLoadOf(level).detour;
    } else if (type != CollectiveType::kSendReceive) {
      carried = (level.ranks - 1) / level.ranks / inner;
    }
    if (type != CollectiveType::kAllToAll) carried *= NarrowingOfRing(level);
    const Seconds time = carried * kB / (type == CollectiveType::kSendReceive ? level.link : level.injection);
    if (time >= longest) {
      longest = time;
      slowest = static_cast<std::size_t>(level.index);
    }
    inner *= level.ranks;
  }
  return slowest;
}

std::vector<NetworkLevelTime> NetworkLevelTimes::List(Seconds to_host) const {
  std::vector<NetworkLevelTime> list;
  for (std::size_t i = 0; i < times_.size(); ++i) list.push_back({cluster_.networks[i].name, times_[i]});
  if (to_host > Seconds{}) list.push_back({"host", to_host});
  return list;
}

void CollectiveLog::Add(std::string_view group_name, const CollectiveCall& call, const GroupPlacement& group,
                        const Cluster& cluster) {
  if (ViewOf(group, cluster).ranks <= 1 || !(call.bytes > Bytes{})) return;
  const auto known = std::find_if(uses_.begin(), uses_.end(), [&](const CollectiveUse& use) {
    return use.group == group_name && use.pattern == call.type;
  });
  if (known != uses_.end() && known->bytes >= call.bytes) return;
  const CollectiveTime made = TimeOf(call, group, cluster);
  CollectiveUse use{group_name, call.type, group.Ranks(), call.bytes, made.algorithm, made.time, {}, made.applies};
  use.level = cluster.networks[SlowestLevel(call.type, group, cluster)].name;
  if (!made.applies) use.possible = AlgorithmsFor(call, group, cluster);
  if (known != uses_.end()) {
    *known = std::move(use);
  } else {
    uses_.push_back(std::move(use));
  }
}

void CheckAlgorithms(const CollectiveLog& log, Issues& issues) {
  for (const CollectiveUse& use : log.uses()) {
    if (use.applies) continue;
    std::string names;
    for (const std::string_view name : use.possible) names += ", " + std::string(name);
    std::vector<std::string> values{std::string(kAnyAlgorithm)};
    values.insert(values.end(), use.possible.begin(), use.possible.end());
    const std::string path = "cluster.collectives." + std::string(NameOf(use.pattern));
    const bool is_known =
        std::any_of(issues.begin(), issues.end(), [&](const Issue& issue) { return issue.path == path; });
    if (is_known) continue;
    issues.push_back({path,
                      "This algorithm cannot run over the " + NumberText(use.ranks) + " ranks of " +
                          std::string(use.group) + ": choose auto" + names,
                      SetToEach(path, values)});
  }
}

bool NamesAlgorithm(const CollectiveChoice& choice) {
  for (const std::string* name :
       {&choice.all_reduce, &choice.all_gather, &choice.reduce_scatter, &choice.all_to_all, &choice.send_recv}) {
    if (*name != kAnyAlgorithm) return true;
  }
  return false;
}

}  // namespace slipstick
