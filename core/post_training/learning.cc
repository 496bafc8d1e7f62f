#include "core/post_training/learning.h"

#include <algorithm>
#include <cmath>

#include "core/training/training.h"

namespace slipstick {
namespace {

// Micro-batches of packed sequences, each as many tokens as the training part's sequence times its micro-batch size.
// Attention sees a sequence as long as the one that a token is in, in the mean.
struct Packing {
  Count sequences = 1, length = 1;  // of a micro-batch
  double tokens = 1;
};

Packing PackingOf(const TrainingRun& run, double token_sequence) {
  const Count room = run.sequence * run.mapping.micro_batch;
  const Count unit = 2 * run.mapping.cp * run.mapping.tp;  // that context and sequence parallelism divide
  Packing packing;
  const Count wanted = std::llround(static_cast<double>(room) / token_sequence);
  packing.sequences = std::max<Count>(1, std::min(wanted, room / unit));
  packing.length = std::max(std::min(unit, room), room / packing.sequences / unit * unit);
  packing.tokens = static_cast<double>(room);
  return packing;
}

}  // namespace

Count DevicesPerCopy(const Model& model, const TrainingMapping& mapping) {
  const Count experts = model.moe ? mapping.ep * mapping.expert_tp : 1;
  return mapping.pp * std::max(mapping.tp, experts);
}

Learning TimeLearning(const PostTraining& asked, const PostTrainingParts& parts, Count devices, const Samples& sampled,
                      Trace& trace) {
  const Trace::Scope scope(trace, "learning");
  Trace off = Trace::Off();
  const double prompt = static_cast<double>(parts.serving.prompt), mean_response = sampled.lengths.Mean();
  const double samples = sampled.count;
  TrainingRun run = parts.training;
  const Packing packing = PackingOf(run, sampled.lengths.MeanOfToken(prompt));
  const auto global_batch = static_cast<double>(run.global_batch),
             ranks = static_cast<double>(ModelParallelDevices(run.mapping));
  const double training_devices = static_cast<double>(devices), pack_tokens = packing.tokens;
  trace.Input("prompt", prompt, "serving.prompt");
  trace.Input("global_batch", global_batch, "training.global_batch");
  trace.Input("ranks", ranks, "training.mapping");
  trace.Input("pack_tokens", pack_tokens, "training.sequence");
  FIGURE(trace, updates, ceil(samples / global_batch),
         (Note{"Updates per epoch", "batches of the training part", "", "post_training.updates"}), samples,
         global_batch);
  FIGURE(trace, dp, max(1.0, floor(training_devices / ranks)), (Note{"Data-parallel ranks", ""}), training_devices,
         ranks);
  FIGURE(trace, update_tokens, samples / updates * (prompt + mean_response),
         (Note{"Tokens of an update", "prompts and responses"}), samples, updates, prompt, mean_response);
  FIGURE(trace, micro_batches, ceil(update_tokens / (pack_tokens * dp)),
         (Note{"Micro-batches of an update", "of packed sequences, on the fullest rank"}), update_tokens, pack_tokens,
         dp);
  run.devices = devices;
  run.mapping.dp.reset();
  run.batch_ramp.reset();
  run.documents.reset();
  run.sequence = packing.length;
  run.mapping.micro_batch = packing.sequences;
  run.global_batch = static_cast<Count>(dp * micro_batches) * packing.sequences;
  Learning learning;
  learning.updates = updates;
  ValidateAndFillDefaults(run, parts.model, parts.cluster, "training", learning.issues);
  if (!learning.issues.empty()) return learning;
  learning.update = EvaluateTraining(parts.model, parts.cluster, run, {.operators = false, .timeline = false}, off);
  const Seconds update_step = learning.update.step_time, update_scoring = learning.update.scoring;
  trace.Procedure(
      "update_step", update_step,
      {"One update", "a step of the training part on these micro-batches; open the training part for its formulas"},
      "micro_batches, dp, pack_tokens", micro_batches, dp, pack_tokens);
  trace.Procedure("update_scoring", update_scoring,
                  {"Forward passes over the same samples",
                   "of the training part's mapping: every micro-batch on the slowest stage, the first "
                   "one through all"},
                  "micro_batches, dp, pack_tokens", micro_batches, dp, pack_tokens);
  const auto epochs = static_cast<double>(asked.epochs);
  const double trained_models = asked.algorithm == RlAlgorithm::kPpo ? 2 : 1;
  trace.Input("trained_models", trained_models, "post_training.algorithm");
  FIGURE(
      trace, training, epochs * updates * trained_models * update_step,
      (Note{"Training", "of the policy; under PPO of a critic of its size too", "", "post_training.time_s.training"}),
      epochs, updates, trained_models, update_step);
  FIGURE(trace, pass, updates * update_scoring, (Note{"A forward pass over all samples", ""}), updates, update_scoring);
  learning.training = training;
  learning.pass = pass;
  return learning;
}

}  // namespace slipstick
