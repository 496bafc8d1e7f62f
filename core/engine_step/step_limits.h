// Limits on the tokens and sequences of an engine's step, if the load does not state them.
#pragma once

#include <string>

#include "core/engine_step/serving_load.h"
#include "core/hardware/device.h"

namespace slipstick {

struct StepLimits {
  Count tokens = 0;     // 0: the engine states none
  Count sequences = 0;  // sequences that are sampled; 0: the engine states none
  std::string path{};   // of the part that states both
  [[nodiscard]] std::string TokensPath() const { return path + "activation_tokens"; }
  [[nodiscard]] std::string SequencesPath() const { return path + "logit_sequences"; }
};
// The engine's defaults for the device.
StepLimits DefaultStepLimits(const MemoryBudget& rule, const Device& device);

struct StepLimit {
  Count stated = 0;
  std::string path{};  // of the input that sets it
  Count groups = 1;    // attention groups that divide it
  [[nodiscard]] Count Most() const { return stated / groups; }
};
// Maximum prompt tokens per step of an attention group: the load's chunk; else the engine's default for the device,
// which the groups may divide unless tuning raises limits; else the scheduler's limit.
StepLimit StepTokensOf(const ServingLoad& load, const Device& device);

// Maximum sequences that run at once: as the load states it, else the scheduler's limit. With a queue of requests, the
// engine's default for the device applies if it is lower, unless tuning raises limits.
StepLimit SequencesOf(const ServingLoad& load, const Device& device);

// Whether a prompt longer than a step is split over several steps.
inline bool SplitsPrompts(const ServingLoad& load) {
  return load.prefill_chunk || load.engine.scheduler.splits_prompts;
}

}  // namespace slipstick
