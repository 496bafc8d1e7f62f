// How a serving engine is run, as data: tuned as in vendors' benchmarks, or by a plain command. Presets:
// core/presets/tunings/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/architecture.h"
#include "core/base/field.h"
#include "core/software/engine.h"
#include "core/workload/precision.h"

namespace slipstick {

// How far a measurement may be below or above an answer, as logarithms.
struct LogSpread {
  Ratio below = 0, above = 0;
};
FIELDS_OF(LogSpread);

// Exception on one device architecture.
struct TuningOn {
  Architecture architecture;
  Ratio experts = 1, dense = 1;
};
FIELDS_OF(TuningOn);

// Factors on the times of a tuned run, and a time added to them.
struct Tuning {
  std::string preset = "tuned";
  std::string name = "Tuned";
  Ratio dense = 1;            // on a decode step of a dense model
  Ratio experts = 1;          // on that of a mixture of experts
  Ratio experts_fp8 = 1;      // on that of a mixture whose experts are in fp8
  std::vector<TuningOn> on;   // exceptions
  Seconds sequence{};         // added per sequence to a decode step of a dense model
  Ratio host = 1;             // on the host's time for a request and for the launches of its prefill
  bool collects = true;       // prompts wait for others, so that the passes of a prefill are full
  bool raises_limits = true;  // more sequences run than the engine's default for the device, where they fit
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
// Factor on a decode step. It is 1 if the engine's constants were fitted to plain commands.
// `experts`: their format, if the model has experts.
TuningFactor StepFactor(const Tuning& tuning, const Engine& engine, std::optional<Precision> experts,
                        Architecture architecture);
Ratio HostFactor(const Tuning& tuning, const Engine& engine);
// Converts times of a tuned engine to this way of running it: a decode step, its overhead per sequence (`share`: part
// of the host's further work that it holds), and host time per operation of a prefill.
Seconds StepAsRun(Seconds tuned_step, const Engine& engine, Ratio step_factor);
Seconds SequenceAsRun(const Tuning& tuning, const Engine& engine, bool has_experts, Seconds tuned, Ratio share);
Seconds LaunchAsRun(const Tuning& tuning, const Engine& engine, Seconds tuned_launch);

}  // namespace slipstick
