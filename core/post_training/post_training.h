// Post-training by reinforcement learning: the serving part generates rollouts, models score them, the training part
// learns from them, and the new weights return to the serving engine. One such iteration is a step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/base/issue.h"
#include "core/base/tally.h"
#include "core/base/units.h"
#include "core/engine_step/serving_load.h"
#include "core/hardware/cluster.h"
#include "core/training_stage/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

enum class RlAlgorithm { kGrpo, kPpo };
ENUM_NAMES(RlAlgorithm, {kGrpo, "grpo"}, {kPpo, "ppo"});

// colocated: generation and training take turns on all devices. pools: each has its own devices.
enum class RlPlacement { kColocated, kPools };
ENUM_NAMES(RlPlacement, {kColocated, "colocated"}, {kPools, "pools"});

// reference: the GRPO example of NVIDIA-NeMo/RL has a KL penalty. sync_rate: colocated, DeepSeek-V3 in 35 s:
// 38 GB/s (NVIDIA-NeMo/RL pull request 1267); between pools, DeepSeek-V3 in 14 s, Qwen3-235B-A22B in 5.5 s: 90 GB/s
// (pull request 1379); MoonshotAI/checkpoint-engine states 60 to 75 GB/s.
struct PostTraining {
  RlAlgorithm algorithm = RlAlgorithm::kGrpo;
  Tally prompts = 1;
  Tally responses_per_prompt = 1;
  Tally epochs = 1;
  std::optional<Count> max_response;  // tokens; absent: no limit
  Ratio length_variation = 0;         // lognormal responses, unless serving.lengths states a distribution
  bool old_log_probs = true;
  bool reference = true;
  bool reward_model = false;
  RlPlacement placement = RlPlacement::kColocated;
  Tally steps_off = 0;
  std::optional<Tally> generation_devices;  // for pools; absent: the best split
  Seconds step_overhead;
  Seconds engine_switch;
  BytesPerSecond swap_rate;
  std::optional<BytesPerSecond> sync_rate;  // default: 38 GB/s colocated, 90 GB/s between pools
};
template <>
struct Schema<PostTraining> {
  static constexpr std::string_view standard = "post_training";
  static const Fields fields;
};

// Critical path of a step; the parts add up to the step.
struct PostTrainingTime {
  Seconds generation, reward, old_log_probs, reference, values, training, weight_sync, engine_switch;
  [[nodiscard]] Seconds Total() const {
    return generation + reward + old_log_probs + reference + values + training + weight_sync + engine_switch;
  }
};

// One way to split the devices.
struct DeviceSplit {
  Count generation_devices = 0, training_devices = 0;
  Seconds step_time;
  bool fits = false;
};

struct PostTrainingReport {
  Seconds step_time;
  PostTrainingTime time;
  Seconds generation, learning;  // full times, hidden or not: rollouts; scoring and training
  Ratio samples = 0, updates = 0;
  TokensPerSecond tokens_per_s, tokens_per_s_per_device;
  Tokens mean_response, longest_response;
  Ratio running = 0;       // sequences of an attention group at the start of the rollouts
  Ratio slots_in_use = 0;  // mean share of these that still generate
  Ratio generation_idle = 0, training_idle = 0, idle = 0;  // shares of device time spent waiting
  Count generation_devices = 0, training_devices = 0;
  Bytes synced_weights;
  Bytes host;                       // host memory per device
  std::vector<DeviceSplit> splits;  // splits that were compared
  std::vector<Infeasibility> infeasible;
  std::vector<std::string> warnings;
};

// The parts of a scenario that post-training uses; each must be valid by itself.
struct PostTrainingParts {
  const Model& model;
  const Cluster& cluster;
  const TrainingRun& training;
  const ServingLoad& serving;
};

// Reports contradictions with the other parts, with the nearest valid values. Null: the part is off.
void Validate(const PostTraining& asked, const Cluster& cluster, const TrainingRun* training,
              const ServingLoad* serving, const std::string& path, Issues& issues);

PostTrainingReport EvaluatePostTraining(const PostTraining& asked, const PostTrainingParts& parts,
                                        Tape* tape = nullptr);

}  // namespace slipstick
