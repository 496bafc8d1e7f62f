#include <algorithm>
#include <cmath>

#include "core/base/fix.h"
#include "core/post_training/post_training.h"
#include "core/post_training/split.h"

namespace slipstick {
namespace {

// Sizes of the possible generation pools nearest to the wanted one.
std::vector<std::int64_t> NearestPools(const std::vector<DeviceSplit>& splits, Count wanted) {
  std::vector<std::int64_t> sizes;
  for (const DeviceSplit& split : splits) sizes.push_back(split.generation_devices);
  std::stable_sort(sizes.begin(), sizes.end(),
                   [wanted](Count a, Count b) { return std::abs(a - wanted) < std::abs(b - wanted); });
  constexpr std::size_t kOffered = 3;
  sizes.resize(std::min(sizes.size(), kOffered));
  return sizes;
}

bool HasSplit(const std::vector<DeviceSplit>& splits, Count generation) {
  return std::any_of(splits.begin(), splits.end(),
                     [generation](const DeviceSplit& one) { return one.generation_devices == generation; });
}

void CheckPools(const PostTraining& asked, Count devices, const TrainingRun& training, const ServingLoad& serving,
                const std::string& path, Issues& issues) {
  const std::string placement = path + ".placement", generation = path + ".generation_devices";
  const std::vector<DeviceSplit> splits = SplitsOf(training, serving, devices);
  if (splits.empty()) {
    issues.push_back({placement,
                      std::to_string(devices) + " devices do not split into replicas of " +
                          std::to_string(DevicesPerReplica(serving.mapping)) + " and copies of the training mapping",
                      {SetTo(placement, "colocated")}});
  } else if (asked.generation_devices && !HasSplit(splits, *asked.generation_devices)) {
    issues.push_back(
        {generation, "Must be whole replicas, and leave whole copies of the training mapping",
         Joined({SetToEach(generation, NearestPools(splits, *asked.generation_devices)), {LeaveOut(generation)}})});
  }
}

}  // namespace

void Validate(const PostTraining& asked, const Cluster& cluster, const TrainingRun* training,
              const ServingLoad* serving, const std::string& path, Issues& issues) {
  for (const auto& [part, is_on] :
       {std::pair{"training", training != nullptr}, std::pair{"serving", serving != nullptr}}) {
    if (!is_on) issues.push_back({path, std::string("Rests on the ") + part + " part, which is off", {LeaveOut(path)}});
  }
  if (training == nullptr || serving == nullptr) return;
  const Count devices = training->devices.value_or(cluster.devices);
  if (asked.placement == RlPlacement::kPools) return CheckPools(asked, devices, *training, *serving, path, issues);
  if (asked.steps_off > 0) {
    issues.push_back({path + ".steps_off",
                      "Devices that take turns are on policy: must be 0 without pools",
                      {SetTo(path + ".steps_off", 0), SetTo(path + ".placement", "pools")}});
  }
  if (asked.generation_devices) {
    issues.push_back({path + ".generation_devices",
                      "Colocated, all devices generate: only for pools",
                      {LeaveOut(path + ".generation_devices"), SetTo(path + ".placement", "pools")}});
  }
  const Count replica = DevicesPerReplica(serving->mapping);
  if (replica > devices) {
    issues.push_back({path,
                      "A replica of the serving part takes " + std::to_string(replica) +
                          " devices, the training part has " + std::to_string(devices),
                      {SetTo("serving.mapping.tp", 1), LeaveOut(path)}});
  }
}

}  // namespace slipstick
