#include "core/post_training/rollout.h"

#include <algorithm>
#include <cmath>

#include "core/engine_step/step_limits.h"
#include "core/serving/serving.h"
#include "core/serving/serving_memory.h"
#include "core/simulation/lengths.h"
#include "core/simulation/step_times.h"

namespace slipstick {
namespace {

constexpr int kShares = 32;

// Cut lengths at a scale.
std::vector<double> CutAt(double longest, double scale, std::vector<double> lengths) {
  for (double& length : lengths) length = min(longest, max(1.0, scale * length));
  return lengths;
}

double MeanOfLengths(const std::vector<double>& lengths) {
  double sum = 0;
  for (const double length : lengths) sum += length;
  return sum / static_cast<double>(lengths.size());
}

// The factor by which lengths must grow so that, cut at the longest, their mean is as wanted.
double ScaleTo(double wanted, double longest, const std::vector<double>& lengths) {
  double low = 0, high = 1;
  while (MeanOfLengths(CutAt(longest, high, lengths)) < wanted && high < 1 << 20) high *= 2;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (MeanOfLengths(CutAt(longest, middle, lengths)) < wanted ? low : high) = middle;
  }
  return high;
}

// The serving part as rollouts use it: all requests at once, on whole replicas.
ServingLoad RolloutLoad(const ServingLoad& serving, Count devices, double mean) {
  ServingLoad load = serving;
  load.disaggregated.reset();
  load.simulate.reset();
  load.requests_per_s.reset();
  load.concurrency.reset();
  load.waves.reset();
  load.idle_sessions.reset();  // the prompts that hit the cache are those of a group that runs
  load.batch = {false, 1};
  load.output = std::max<Count>(1, std::llround(mean));
  const Count unit = DevicesPerReplica(load.mapping);
  load.devices = devices / unit * unit;
  load.mapping.replicas = devices / unit;
  return load;
}

struct Decoded {
  Seconds time;
  double slot_steps = 0;  // of a slot, until its sequence ends: mean
};

// Sequences of one group that begin together and end one after the other, until the longest of all groups.
Decoded DecodeTogether(double running, double prompt, const ResponseLengths& lengths, Seconds step_overhead,
                       StepTimes& times) {
  Decoded decoded;
  double at = 0;
  const auto shares = static_cast<double>(lengths.shares.size());
  const auto decode_until = [&](double length, double share) {
    if (length <= at) return;
    StepWork work;
    work.decoded = max(1.0, running * share);
    work.running = work.decoded;
    work.context = prompt + (at + length) / 2;
    decoded.time += (length - at) * (times.Of(work).time + step_overhead);
    decoded.slot_steps += (length - at) * share;
    at = length;
  };
  for (std::size_t i = 0; i < lengths.shares.size(); ++i)
    decode_until(lengths.shares[i], 1 - static_cast<double>(i) / shares);
  decode_until(lengths.longest, 1 / (2 * shares));
  return decoded;
}

struct PromptWork {
  double sequences = 1, prompt = 1, prefix_hit = 0, step_tokens = 1;
};

// All prompts of a group, in passes as large as the engine's.
Seconds PrefillAll(const PromptWork& work, StepTimes& times) {
  const double computed = max(1.0, work.prompt * (1 - work.prefix_hit));
  StepWork pass;
  pass.prompts = max(1.0, min(work.sequences, std::floor(work.step_tokens / computed)));
  pass.tokens = computed;
  pass.cached = work.prompt - computed;
  return work.sequences / pass.prompts * times.Of(pass).time;
}

}  // namespace

double ResponseLengths::Mean() const { return MeanOfLengths(shares); }

double ResponseLengths::MeanOfToken(double prompt) const {
  double tokens = 0, squares = 0;
  for (const double length : shares) {
    tokens += prompt + length;
    squares += (prompt + length) * (prompt + length);
  }
  return squares / tokens;
}

namespace {

ResponseLengths LengthsOf(const PostTraining& asked, const ServingLoad& load, double samples) {
  LengthDistribution distribution{LengthKind::kLognormal, asked.length_variation, {}};
  if (load.lengths) distribution = load.lengths->output;
  const auto mean = static_cast<double>(load.output);
  std::vector<double> lengths;
  for (int i = 0; i < kShares; ++i) lengths.push_back(LengthAtShare(distribution, mean, (i + 0.5) / kShares));
  // median, nearly, of the longest of so many
  const double last = LengthAtShare(distribution, mean, samples / (samples + 1));
  const double most = asked.max_response ? static_cast<double>(*asked.max_response) : last * (1 << 20);
  const bool has_own_mean = distribution.kind == LengthKind::kQuantiles;
  const double scale = has_own_mean ? 1 : ScaleTo(min(mean, most), most, lengths);
  ResponseLengths cut{CutAt(most, scale, std::move(lengths)), 1};
  cut.longest = max(cut.shares.back(), min(most, scale * last));
  return cut;
}

}  // namespace

Samples SamplesOf(const PostTraining& asked, const ServingLoad& load, Trace& trace) {
  const auto prompts = static_cast<double>(asked.prompts),
             responses_per_prompt = static_cast<double>(asked.responses_per_prompt);
  FIGURE(trace, samples, prompts * responses_per_prompt, (Note{"Samples of a step", "", "", "post_training.samples"}),
         prompts, responses_per_prompt);
  const ResponseLengths lengths = LengthsOf(asked, load, samples);
  const double mean_response = lengths.Mean(), longest_response = lengths.longest;
  const double output = static_cast<double>(load.output), length_variation = asked.length_variation;
  trace.Input("output", output, "serving.output");
  trace.Procedure(
      "mean_response", mean_response,
      {"Mean response", "of the lengths, cut at the longest that is allowed", "", "post_training.mean_response"},
      "output", output);
  trace.Procedure("longest_response", longest_response,
                  {"Longest response", "that so many samples reach, or where generation stops", "",
                   "post_training.longest_response"},
                  "output, length_variation, samples", output, length_variation, samples);
  return {samples, lengths};
}

namespace {

// Samples of the fullest attention group, and how many of them run at once.
struct RolloutGroup {
  double sequences = 1, running = 1;
};
RolloutGroup GroupOf(const Deployment& deployment, Count devices, double samples, double mean_response,
                     double max_sequences, Trace& trace) {
  const ServingMapping& mapping = deployment.load.mapping;
  const double generation_devices = static_cast<double>(devices),
               replica_devices = static_cast<double>(DevicesPerReplica(mapping));
  const double attention_dp = deployment.mapping.attention_dp, prompt = static_cast<double>(deployment.load.prompt);
  trace.Input("attention_dp", attention_dp, "serving.mapping.attention_dp");
  trace.Input("replica_devices", replica_devices, "serving.mapping");
  FIGURE(trace, replicas, floor(generation_devices / replica_devices), (Note{"Replicas that generate", ""}),
         generation_devices, replica_devices);
  FIGURE(trace, sequences, ceil(samples / (replicas * attention_dp)),
         (Note{"Samples of an attention group", "of the fullest one, which all wait for"}), samples, replicas,
         attention_dp);
  trace.Procedure(
      "max_sequences", max_sequences,
      {"Sequences that fit at once", "by the engine's budget of KV cache, at the mean length; see serving.max_batch"},
      "prompt, mean_response", prompt, mean_response);
  FIGURE(trace, running, min(sequences, max_sequences), (Note{"Sequences that run at the start", ""}), sequences,
         max_sequences);
  return {sequences, running};
}

Seconds ExplainedPrefill(const RolloutGroup& group, const Deployment& deployment, StepTimes& times, Trace& trace) {
  const ServingLoad& load = deployment.load;
  const double sequences = group.sequences, prompt = static_cast<double>(load.prompt), prefix_hit = load.prefix_hit;
  const auto step_tokens = static_cast<double>(StepTokensOf(load, deployment.device).tokens);
  const Seconds prefill = PrefillAll({sequences, prompt, prefix_hit, step_tokens}, times);
  trace.Input("prefix_hit", prefix_hit, "serving.prefix_hit");
  trace.Procedure("prefill", prefill, {"Prefill of all prompts", "in passes as large as the engine's"},
                  "sequences, prompt, prefix_hit", sequences, prompt, prefix_hit);
  return prefill;
}

// Time and occupancy of the rollouts, as soon as the prompts are prefilled.
void DecodeAll(const PostTraining& asked, const RolloutGroup& group, double prompt, const ResponseLengths& lengths,
               Seconds prefill, StepTimes& times, Rollouts& rollouts, Trace& trace) {
  const double sequences = group.sequences, running = group.running, mean_response = lengths.Mean(),
               longest_response = lengths.longest;
  const Seconds step_overhead = asked.step_overhead,
                engine_step = times.Of({running, prompt + mean_response / 2, 0, 0, 0, running}).time;
  trace.Input("step_overhead", step_overhead, "post_training.step_overhead");
  trace.Procedure(
      "engine_step", engine_step,
      {"Decode step of the engine, full batch", "at the mean context; open the serving part for its kernels"},
      "running, prompt, mean_response", running, prompt, mean_response);
  FIGURE(trace, decode_step, engine_step + step_overhead, (Note{"Decode step of the full batch", ""}), engine_step,
         step_overhead);
  FIGURE(trace, queue_steps, (sequences - running) * mean_response / running,
         (Note{"Decode steps with a queue", "every sequence that ends is followed by the next"}), sequences, running,
         mean_response);
  const Decoded decoded = DecodeTogether(running, prompt, lengths, step_overhead, times);
  const Seconds tail = decoded.time;
  trace.Procedure("tail", tail,
                  {"Decode of the last sequences",
                   "step by step: the batch shrinks as sequences end, until the longest one is done"},
                  "running, decode_step, mean_response, longest_response", running, decode_step, mean_response,
                  longest_response);
  FIGURE(trace, whole_rollouts, prefill + queue_steps * decode_step + tail,
         (Note{"Rollouts from first to last",
               "all samples of a step, from the first prompt to the end of the longest response"}),
         prefill, queue_steps, decode_step, tail);
  const double slot_steps = decoded.slot_steps;
  trace.Procedure("slot_steps", slot_steps, {"Steps of a slot until its sequence ends", "mean"}, "mean_response",
                  mean_response);
  FIGURE(trace, slots_in_use, (queue_steps + slot_steps) / (queue_steps + longest_response),
         (Note{"Share of the batch that still generates", "mean over the decode steps, of samples that start together",
               "", "post_training.slots_in_use"}),
         queue_steps, slot_steps, longest_response);
  rollouts.slots_in_use = slots_in_use;
  if (asked.steps_off == 0) {
    FIGURE(trace, generation, 1 * whole_rollouts,
           (Note{"Rollouts", "all samples of a step, until the longest response is done", "",
                 "post_training.generation_s"}),
           whole_rollouts);
    rollouts.time = generation;
    return;
  }
  const double steps_off = static_cast<double>(asked.steps_off);
  FIGURE(trace, streamed_rollouts, prefill + sequences * mean_response / running * decode_step,
         (Note{"Rollouts of a full batch", "a sequence that ends is followed by one of the next step"}), prefill,
         sequences, mean_response, running, decode_step);
  FIGURE(trace, generation, max(streamed_rollouts, whole_rollouts / (1 + steps_off)),
         (Note{"Rollouts", "at a full batch; but the longest response may take no more steps than it may be off", "",
               "post_training.generation_s"}),
         streamed_rollouts, whole_rollouts, steps_off);
  rollouts.time = generation;
}

}  // namespace

Rollouts TimeRollouts(const PostTraining& asked, const PostTrainingParts& parts, Count devices, const Samples& sampled,
                      Trace& trace) {
  const Trace::Scope scope(trace, "rollouts");
  Trace off = Trace::Off();
  const double samples = sampled.count, mean_response = sampled.lengths.Mean(),
               prompt = static_cast<double>(parts.serving.prompt);
  trace.Input("prompt", prompt, "serving.prompt");
  const ServingLoad load = RolloutLoad(parts.serving, devices, mean_response);
  const Deployment deployment = Deploy(parts.model, parts.cluster, load);
  const KvCacheBudget budget = KvCacheBudgetOf(deployment, off);
  const double fitting = BatchThatFits(deployment, budget, prompt, mean_response, off);
  Rollouts rollouts;
  if (fitting < 1) rollouts.infeasible = "the engine holds no sequence of the mean length beside its weights";
  const RolloutGroup group = GroupOf(deployment, devices, samples, mean_response, max(1.0, fitting), trace);
  rollouts.running = group.running;
  StepTimes times(parts.model, parts.cluster, load, budget.kv_cache);
  const Seconds prefill = ExplainedPrefill(group, deployment, times, trace);
  DecodeAll(asked, group, prompt, sampled.lengths, prefill, times, rollouts, trace);
  return rollouts;
}

}  // namespace slipstick
