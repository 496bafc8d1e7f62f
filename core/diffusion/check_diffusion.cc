// Checks a diffusion run for contradictions, and fills in values from the model.
#include <string>
#include <utility>

#include "core/base/fix.h"
#include "core/base/nearest_counts.h"
#include "core/base/standard.h"
#include "core/diffusion/diffusion.h"

namespace slipstick {
namespace {

constexpr Count kMostPixels = 1 << 14;  // as in the field table

void CheckModel(const DiffusionModel& model, const std::string& path, Issues& issues) {
  if (model.joint_blocks + model.single_blocks + model.cross_blocks < 1) {
    issues.push_back({path + ".joint_blocks",
                      "Add blocks: the transformer has none",
                      {SetTo(path + ".joint_blocks", 1), SetTo(path + ".preset", Standard<DiffusionModel>().preset)}});
  }
  if (model.hidden % model.heads != 0) {
    issues.push_back({path + ".heads", "Must divide the hidden size, " + std::to_string(model.hidden),
                      SetToEach(path + ".heads", NearestDivisors(model.hidden, model.heads))});
  }
}

void CheckFrames(const DiffusionRun& run, const std::string& path, Issues& issues) {
  const DiffusionModel& model = run.model;
  if (*run.frames > 1 && model.latent_frames == 1) {
    issues.push_back({path + ".frames", "Must be 1: the model makes images", {SetTo(path + ".frames", 1)}});
  }
  const Count side = model.latent_side * model.patch;
  for (const auto& [name, pixels] : {std::pair{".width", *run.width}, std::pair{".height", *run.height}}) {
    if (pixels % side == 0) continue;
    issues.push_back({path + name, "Must be a multiple of " + std::to_string(side) + ", the side of a token in pixels",
                      SetToEach(path + name, NearestMultiples(pixels, side, kMostPixels))});
  }
}

void CheckDevices(DiffusionRun& run, const Cluster& cluster, const std::string& path, Issues& issues) {
  if (run.model.heads % run.ulysses != 0) {
    issues.push_back({path + ".ulysses", "Must divide the heads, " + std::to_string(run.model.heads),
                      SetToEach(path + ".ulysses", NearestDivisors(run.model.heads, run.ulysses))});
  }
  if (run.guidance_parallel && !*run.guided) {
    issues.push_back({path + ".guidance_parallel",
                      "Needs guidance: a step has one pass only",
                      {LeaveOut(path + ".guidance_parallel"), Fix{{path + ".guided", "true"}}}});
  }
  const Count replica = run.ulysses * run.ring * (run.guidance_parallel ? 2 : 1);
  if (replica > cluster.devices) {
    issues.push_back(
        {path + (run.ring > run.ulysses ? ".ring" : ".ulysses"),
         "An image or clip takes " + std::to_string(replica) + " devices of " + std::to_string(cluster.devices),
         {SetTo("cluster.devices", replica)}});
    return;
  }
  if (!run.devices) run.devices = replica;
  const Count most = cluster.devices - cluster.devices % replica;
  if (*run.devices > cluster.devices || *run.devices % replica != 0) {
    issues.push_back({path + ".devices",
                      "Must be a multiple of " + std::to_string(replica) + ", the devices of a replica, and at most " +
                          std::to_string(most),
                      SetToEach(path + ".devices", NearestMultiples(*run.devices, replica, most))});
  }
}

}  // namespace

void ValidateAndFillDefaults(DiffusionRun& run, const Cluster& cluster, const std::string& path, Issues& issues) {
  const DiffusionModel& model = run.model;
  if (!run.steps) run.steps = model.steps;
  if (!run.width) run.width = model.width;
  if (!run.height) run.height = model.height;
  if (!run.frames) run.frames = model.frames;
  if (!run.guided) run.guided = model.guided;
  CheckModel(model, path + ".model", issues);
  CheckFrames(run, path, issues);
  CheckDevices(run, cluster, path, issues);
}

}  // namespace slipstick
