// How a serving engine is run, as data: as vendors' benchmarks tune it, or by a plain command. Presets:
// core/presets/tunings/.
#pragma once

#include <string>
#include <vector>

#include "core/base/architecture.h"
#include "core/base/field.h"
#include "core/software/engine.h"

namespace slipstick {

// How much less or more than an answer a measurement may be, as logarithms.
struct LogSpread {
  Ratio below = 0, above = 0;
};
FIELDS_OF(LogSpread);

// On one device architecture.
struct TuningOn {
  Architecture architecture;
  Ratio experts = 1;
};
FIELDS_OF(TuningOn);

// Factors over a tuned run.
struct Tuning {
  std::string preset = "tuned";
  std::string name = "Tuned";
  Ratio dense = 1;           // of a step that decodes, of a dense model
  Ratio experts = 1;         // of a mixture of experts
  std::vector<TuningOn> on;  // exceptions
  Ratio host = 1;            // of the host's time for a request and for the launches of its prefill
  LogSpread token, first_token;
};
template <>
struct Schema<Tuning> {
  static constexpr std::string_view preset_kind = "tuning";
  static const Fields fields;
};

// A factor, and the path of the input that states it.
struct TuningFactor {
  Ratio value = 1;
  std::string path;
};
// Of a step that decodes. 1 where the engine's constants are those of plain commands.
TuningFactor StepFactor(const Tuning& tuning, const Engine& engine, bool has_experts, Architecture architecture);
double HostFactor(const Tuning& tuning, const Engine& engine);
// What a tuned engine takes, as this one is run: a step that decodes, and the host per operation of a prefill.
Seconds StepAsRun(Seconds tuned_step, const Engine& engine, Ratio step_factor);
Seconds LaunchAsRun(const Tuning& tuning, const Engine& engine, Seconds tuned_launch);

}  // namespace slipstick
