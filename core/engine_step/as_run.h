// What a plain command takes over a tuned one (software/tuning.h).
#pragma once

#include "core/base/figure.h"
#include "core/software/tuning.h"

namespace slipstick {

// Host's time per operation of a prefill.
inline Seconds LaunchAsRun(const Tuning& tuning, const Engine& engine, Seconds tuned_launch) {
  if (engine.plain) return tuned_launch;
  return Figure("Host's time per operation of a prefill", tuned_launch * tuning.host, "as the engine is run");
}

// The time of a step that decodes, as a tuned engine takes it: as this one is run.
inline Seconds StepAsRun(Seconds tuned_step, const Engine& engine, Ratio step_factor) {
  if (engine.plain) return tuned_step;
  return Figure("Step as the engine is run", tuned_step * step_factor, "over that of a tuned run");
}

}  // namespace slipstick
