#include "core/software/tuning.h"

#include <algorithm>
#include <vector>

#include "core/base/figure.h"

namespace slipstick {
namespace {

bool ChoosesTiles(const Engine& engine, Precision experts, Architecture architecture) {
  const std::vector<Architecture>& families = engine.kernels.chooses_expert_tiles;
  return (IsEightBitFloat(experts) || BytesPerElement(experts) >= 2) &&
         std::find(families.begin(), families.end(), architecture) != families.end();
}

}  // namespace

TuningFactor StepFactor(const Tuning& tuning, const Engine& engine, std::optional<Precision> experts,
                        Architecture architecture) {
  if (engine.plain) return {1, "serving.engine.plain"};
  const auto row = std::find_if(tuning.on.begin(), tuning.on.end(),
                                [&](const TuningOn& one) { return one.architecture == architecture; });
  if (row != tuning.on.end()) {
    const std::string path = "serving.tuning.on." + std::to_string(row - tuning.on.begin());
    return experts ? TuningFactor{row->experts, path + ".experts"} : TuningFactor{row->dense, path + ".dense"};
  }
  if (!experts) return {tuning.dense, "serving.tuning.dense"};
  if (ChoosesTiles(engine, *experts, architecture)) return {tuning.dense, "serving.tuning.dense"};
  if (IsEightBitFloat(*experts)) return {tuning.experts_fp8, "serving.tuning.experts_fp8"};
  return {tuning.experts, "serving.tuning.experts"};
}

Ratio HostFactor(const Tuning& tuning, const Engine& engine) { return engine.plain ? Ratio(1) : tuning.host; }

Seconds StepAsRun(Seconds tuned_step, const Engine& engine, Ratio step_factor) {
  if (engine.plain) return tuned_step;
  return Figure("Step as the engine is run", tuned_step * step_factor, "over that of a tuned run");
}

Seconds SequenceAsRun(const Tuning& tuning, const Engine& engine, bool has_experts, Seconds tuned, Ratio share) {
  if (engine.plain || has_experts) return tuned;
  return Figure("Engine's overhead per sequence", tuned + share * tuning.sequence, "as the engine is run");
}

Seconds LaunchAsRun(const Tuning& tuning, const Engine& engine, Seconds tuned_launch) {
  if (engine.plain) return tuned_launch;
  return Figure("Host's time per operation of a prefill", tuned_launch * tuning.host, "as the engine is run");
}

}  // namespace slipstick
