#include "core/engine_step/step_limits.h"

#include <algorithm>

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

bool IsLarge(const LargeDeviceSteps& large, const Device& device) {
  return UsableMemory(device) >= large.device_memory &&
         (large.devices.empty() ||
          std::find(large.devices.begin(), large.devices.end(), device.architecture) != large.devices.end());
}

}  // namespace

StepLimits DefaultStepLimits(const MemoryBudget& rule, const Device& device) {
  const std::string memory = "serving.engine.memory.";
  for (std::size_t i = rule.large_devices.size(); i-- > 0;) {
    const LargeDeviceSteps& large = rule.large_devices[i];
    if (IsLarge(large, device))
      return {large.activation_tokens, large.logit_sequences, memory + "large_devices." + std::to_string(i) + "."};
  }
  return {rule.activation_tokens, rule.logit_sequences, memory};
}

StepLimit StepTokensOf(const ServingLoad& load, const Device& device) {
  if (load.prefill_chunk) return {*load.prefill_chunk, "serving.prefill_chunk"};
  const StepLimits limits = DefaultStepLimits(load.engine.memory, device);
  const bool divides = load.engine.memory.divides_step && !load.tuning.raises_limits;
  const Count groups = divides ? load.mapping.attention_dp : Tally(1);
  if (limits.tokens > 0) return {limits.tokens, limits.TokensPath(), std::min<Count>(groups, limits.tokens)};
  return {load.engine.scheduler.prefill_tokens, "serving.engine.prefill_tokens"};
}

StepLimit SequencesOf(const ServingLoad& load, const Device& device) {
  if (load.max_requests) return {*load.max_requests, "serving.max_requests"};
  const StepLimit scheduler{load.engine.scheduler.max_sequences, "serving.engine.max_sequences"};
  const bool queues = load.concurrency || load.requests_per_s;
  if (load.tuning.raises_limits || !queues) return scheduler;
  const StepLimits limits = DefaultStepLimits(load.engine.memory, device);
  return limits.sequences > 0 && limits.sequences < scheduler.stated
             ? StepLimit{limits.sequences, limits.SequencesPath()}
             : scheduler;
}

}  // namespace slipstick
