#include "core/engine_step/as_run.h"

namespace slipstick {

double StepFactorAsRun(const Tuning& tuning, const Engine& engine, bool has_experts, Architecture architecture,
                       Trace& trace) {
  const TuningFactor step = StepFactor(tuning, engine, has_experts, architecture);
  if (trace.on()) trace.Input("step_factor", step.value, step.path);
  return step.value;
}

Seconds LaunchAsRun(const Tuning& tuning, const Engine& engine, Seconds tuned_launch, Trace& trace) {
  if (engine.plain) return tuned_launch;
  const double host_factor = HostFactor(tuning, engine);
  trace.Input("host_factor", host_factor, "serving.tuning.host");
  trace.Input("tuned_launch", tuned_launch, "serving.engine.prefill_launch");
  FIGURE(trace, operation_launch, tuned_launch * host_factor,
         (Note{"Host's time per operation of a prefill", "as the engine is run"}), tuned_launch, host_factor);
  return operation_launch;
}

Seconds StepAsRun(Seconds tuned_step, std::string_view symbol, const Engine& engine, double step_factor, Trace& trace) {
  if (engine.plain) return tuned_step;
  trace.Alias("tuned_step", tuned_step, symbol);
  FIGURE(trace, step_as_run, tuned_step * step_factor, (Note{"Step as the engine is run", "over that of a tuned run"}),
         tuned_step, step_factor);
  trace.Alias(symbol, step_as_run, "step_as_run");
  return step_as_run;
}

}  // namespace slipstick
