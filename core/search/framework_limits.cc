#include "core/search/framework_limits.h"

#include <algorithm>

namespace slipstick {
namespace {

// Whether a limit lists values for a member, or excludes every value that the framework runs.
bool Leaves(const SpaceLimits& limits, std::string_view member, const std::vector<Count>& run) {
  const auto found = limits.find(member);
  if (found == limits.end()) return false;
  const SpaceLimit& limit = found->second;
  return !limit.among.empty() || std::none_of(run.begin(), run.end(), [&](Count one) { return limit.Allows(one); });
}

bool Lists(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

SpaceLimits WithinFramework(const FrameworkCapabilities& can, SpaceLimits limits) {
  const auto at_most_one = [&](const char* member) {
    if (!Leaves(limits, member, {1})) limits[member].high = std::min(limits[member].high, 1.0);
  };
  for (const char* degree : {"tp", "cp", "pp", "ep"}) {
    if (!can.parallelism.empty() && !Lists(can.parallelism, degree)) at_most_one(degree);
  }
  if (!can.interleaves) at_most_one("virtual_stages");
  if (!can.schedules.empty() && limits["schedule"].among.empty()) limits["schedule"].among = can.schedules;
  if (!can.zero.empty() && !Leaves(limits, "zero", can.zero)) {
    for (const Count stage : can.zero) {
      limits["zero"].among.push_back(std::to_string(stage));
      limits["zero"].numbers.push_back(static_cast<double>(stage));
    }
  }
  return limits;
}

bool MayOverlapExperts(const FrameworkCapabilities& can, const TrainingMapping& mapping) {
  // The overlap runs one chunk's forward pass beside another's backward pass. DualPipe pairs passes itself.
  const bool has_pairs = mapping.pp == 1 || mapping.virtual_stages > 1, exchanges = mapping.ep * mapping.expert_tp > 1;
  return can.overlaps_experts && exchanges && has_pairs && mapping.schedule == PipelineSchedule::kOneFOneB &&
         !mapping.overlap.ep;
}

std::vector<std::optional<ExpertDispatch>> DispatchersOf(const FrameworkCapabilities& can,
                                                         const TrainingMapping& mapping) {
  const Count ranks = mapping.ep * mapping.expert_tp;
  if (mapping.dispatch || ranks <= 1 || can.dispatchers.empty()) return {mapping.dispatch};
  std::vector<std::optional<ExpertDispatch>> all;
  for (const auto& [dispatch, name] : EnumNames<ExpertDispatch>::names) {
    const bool is_too_wide = dispatch == ExpertDispatch::kDedicated && ranks > can.dedicated_ranks;
    if (Lists(can.dispatchers, name) && !is_too_wide) all.emplace_back(dispatch);
  }
  return all.empty() ? std::vector{mapping.dispatch} : all;
}

}  // namespace slipstick
