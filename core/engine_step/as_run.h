// What a plain command takes over a tuned one (software/tuning.h).
#pragma once

#include <string_view>

#include "core/base/trace.h"
#include "core/base/units.h"
#include "core/software/tuning.h"

namespace slipstick {

// Step that decodes, over that of a tuned run.
double StepFactorAsRun(const Tuning& tuning, const Engine& engine, bool has_experts, Architecture architecture,
                       Trace& trace);

// Host's time per operation of a prefill.
Seconds LaunchAsRun(const Tuning& tuning, const Engine& engine, Seconds tuned_launch, Trace& trace);

// The time of a step that decodes, `symbol` of the current scope as a tuned engine takes it: as this one is run.
Seconds StepAsRun(Seconds tuned_step, std::string_view symbol, const Engine& engine, double step_factor, Trace& trace);

}  // namespace slipstick
