#include "core/post_training/learning.h"

#include <algorithm>
#include <cmath>

#include "core/base/figure.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

// Micro-batches of packed sequences, each with as many tokens as the training part's sequence times its micro-batch
// size. Attention uses the mean length of a sequence over the tokens.
struct Packing {
  Count sequences = 1, length = 1;  // of a micro-batch
};

Packing PackingOf(const TrainingRun& run, double token_sequence) {
  const Count room = run.sequence * run.mapping.micro_batch;
  const Count unit = 2 * run.mapping.cp * run.mapping.tp;  // context and sequence parallelism must divide it
  Packing packing;
  const Count wanted = std::llround(static_cast<double>(room) / token_sequence);
  packing.sequences = std::max<Count>(1, std::min(wanted, room / unit));
  packing.length = std::max(std::min(unit, room), room / packing.sequences / unit * unit);
  return packing;
}

}  // namespace

StepInputs InputsOf(const PostTraining& asked, const PostTrainingParts& parts) {
  const auto& [model, cluster, training, serving] = parts;
  const Count sharing = model.moe ? training.mapping.ep * training.mapping.expert_tp : 1;
  StepInputs inputs{asked, parts};
  inputs.trained_models = asked.algorithm == RlAlgorithm::kPpo ? 2 : 1;
  // Without its adapters the policy is the reference model.
  const bool has_copy = asked.reference && training.trainable != Trainable::kLora;
  inputs.frozen_models = (has_copy ? 1 : 0) + (asked.reward_model ? 1 : 0);
  inputs.swapped_trainings =
      (asked.placement == RlPlacement::kColocated ? 1 : 0) + (asked.algorithm == RlAlgorithm::kPpo ? 1 : 0);
  inputs.prompt = serving.prompt;
  inputs.output = serving.output;
  inputs.prefix_hit = serving.prefix_hit;
  inputs.attention_dp = serving.mapping.attention_dp;
  inputs.replica_devices = DevicesPerReplica(serving.mapping);
  inputs.devices = training.devices.value_or(cluster.devices);
  inputs.global_batch = training.global_batch;
  inputs.model_ranks = ModelParallelDevices(training.mapping);
  inputs.copy_devices = training.mapping.pp * std::max<Count>(training.mapping.tp, sharing);
  inputs.pack_tokens = training.sequence * training.mapping.micro_batch;
  inputs.parameters = CountParameters(model).total;
  inputs.host_bandwidth = cluster.device.host.bandwidth;
  // The default if colocated: through shared memory, tensor by tensor.
  inputs.sync_rate = asked.sync_rate.value_or((asked.placement == RlPlacement::kColocated ? 38 : 90) * kGBps);
  return inputs;
}

Learning TimeLearning(const StepInputs& inputs, Ratio devices, const Samples& sampled) {
  const PostTrainingParts& parts = inputs.parts;
  TrainingRun run = parts.training;
  const Packing packing = PackingOf(run, sampled.lengths.MeanOfToken(inputs.prompt));
  Learning learning;
  const Ratio updates =
      Figure("Updates per epoch", ceil(sampled.count / inputs.global_batch), "batches of the training part");
  const Ratio dp = Figure("Data-parallel ranks", max(1.0, floor(devices / inputs.model_ranks)));
  const Ratio update_tokens =
      Figure("Tokens of an update", sampled.count / updates * (inputs.prompt + sampled.mean_response),
             "prompts and responses");
  const Ratio micro_batches = Figure("Micro-batches of an update", ceil(update_tokens / (inputs.pack_tokens * dp)),
                                     "of packed sequences, on the data-parallel rank with the most");
  run.devices = static_cast<Count>(devices);
  run.mapping.dp.reset();
  run.batch_ramp.reset();
  run.documents.reset();
  run.sequence = packing.length;
  run.mapping.micro_batch = packing.sequences;
  run.global_batch = static_cast<Count>(dp * micro_batches) * packing.sequences;
  learning.updates = updates;
  ValidateAndFillDefaults(run, parts.model, parts.cluster, "training", learning.issues);
  if (!learning.issues.empty()) return learning;
  const TrainingDetail detail{.operators = false, .timeline = false};
  learning.update = EvaluateTraining(parts.model, parts.cluster, run, detail);
  learning.weights = learning.update.memory.weights;
  if (run.offload.parameters > 0) {
    run.offload.parameters = 0;
    learning.weights = EvaluateTraining(parts.model, parts.cluster, run, detail).memory.weights;
  }
  const Seconds update_step =
      Procedure("One update", learning.update.step_time, {micro_batches, dp, inputs.pack_tokens},
                "a step of the training part on these micro-batches; open the training part for its formulas");
  const Seconds update_scoring = Procedure(
      "Forward passes over the same samples", learning.update.scoring, {micro_batches, dp, inputs.pack_tokens},
      "of the training part's mapping: every micro-batch on the slowest stage, the first one through all");
  learning.training = Figure("Training", Ratio(inputs.asked.epochs) * updates * inputs.trained_models * update_step,
                             "of the policy; under PPO of a critic of its size too");
  learning.pass = Figure("A forward pass over all samples", updates * update_scoring);
  return learning;
}

}  // namespace slipstick
