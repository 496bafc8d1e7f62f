#include "core/engine_step/step_time.h"

namespace slipstick {

const StepComposition& CompositionOf(const Engine& engine) {
  switch (engine.composition) {
    case Composition::kCompiledGraph:
      return kCompiledGraphSteps;
    case Composition::kLayerPipelined:
      return kLayerPipelinedSteps;
    case Composition::kKernels:
      break;
  }
  return kKernelSteps;
}

std::vector<MissingDegree> MissingDegrees(const Engine& engine, const ServingMapping& mapping) {
  const StepComposition& composition = CompositionOf(engine);
  const bool has_all = engine.communication.split == ReplicaSplit::kAny;
  std::vector<MissingDegree> missing;
  if (!composition.tensor_parallel && mapping.tp != 1) {
    missing.push_back({"tp", "Must be 1: this engine splits layers over pp"});
  } else if (!has_all && mapping.tp != 1 && mapping.pp != 1) {
    missing.push_back({"pp", "Must be 1 with TP: this engine splits tensors or layers, not both"});
  }
  if (!(composition.attention_groups && has_all) && mapping.attention_dp != 1)
    missing.push_back({"attention_dp", "Must be 1: this engine has no DP attention"});
  if (!has_all && mapping.ep != 1) missing.push_back({"ep", "Must be 1: this engine has no expert parallelism"});
  return missing;
}

bool HasPrefillContext(const Engine& engine) {
  return engine.communication.prompt_exchange != PromptExchange::kNone && CompositionOf(engine).splits_context;
}

PassCost TimeOf(const PrefillPass& pass, const Deployment& deployment) {
  return CompositionOf(deployment.engine).prefill(pass, deployment);
}

PassCost TimeOf(const DecodePass& pass, const Deployment& deployment) {
  PassCost step = CompositionOf(deployment.engine).decode(pass, deployment);
  const Seconds as_run = StepAsRun(step.time, deployment.engine, deployment.step_factor), more = as_run - step.time;
  step.operators.Add("what tuning would save", Waiting(more), 1);
  step.time = as_run;
  step.occupancy += more;
  return step;
}

}  // namespace slipstick
