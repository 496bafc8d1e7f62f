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
