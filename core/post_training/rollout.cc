#include "core/post_training/rollout.h"

#include <algorithm>
#include <cmath>

#include "core/base/figure.h"
#include "core/engine_step/step_limits.h"
#include "core/serving/serving_memory.h"
#include "core/simulation/lengths.h"
#include "core/simulation/step_times.h"

namespace slipstick {
namespace {

constexpr int kShares = 32;

// Scales lengths and cuts them at the longest.
std::vector<double> CutAt(double longest, double scale, std::vector<double> lengths) {
  for (double& length : lengths) length = min(longest, max(1.0, scale * length));
  return lengths;
}

double MeanOfLengths(const std::vector<double>& lengths) {
  double sum = 0;
  for (const double length : lengths) sum += length;
  return sum / static_cast<double>(lengths.size());
}

// The factor on lengths for which, after the cut at the longest, their mean is `wanted`.
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
  load.sessions.reset();
  load.idle_sessions.reset();  // prefix hits are on prompts of the same running group
  load.batch = {false, 1};
  load.output = std::max<Count>(1, std::llround(mean));
  const Count unit = DevicesPerReplica(load.mapping);
  load.devices = devices / unit * unit;
  load.mapping.replicas = devices / unit;
  return load;
}

struct Decoded {
  Seconds time;
  double slot_steps = 0;  // mean steps of a slot until its sequence ends
};

// Sequences of one group that begin together and end one after the other, until the longest one of all groups ends.
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

// Prefills all prompts of a group, in passes as large as the engine's.
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
  // approximately the median of the longest of this many samples
  const double last = LengthAtShare(distribution, mean, samples / (samples + 1));
  const double most = asked.max_response ? static_cast<double>(*asked.max_response) : last * (1 << 20);
  const bool has_own_mean = distribution.kind == LengthKind::kQuantiles;
  const double scale = has_own_mean ? 1 : ScaleTo(min(mean, most), most, lengths);
  ResponseLengths cut{CutAt(most, scale, std::move(lengths)), 1};
  cut.longest = max(cut.shares.back(), min(most, scale * last));
  return cut;
}

}  // namespace

Samples SamplesOf(const PostTraining& asked, const ServingLoad& load, Ratio output) {
  Samples samples;
  samples.count = Figure("Samples of a step", Ratio(asked.prompts) * Ratio(asked.responses_per_prompt));
  samples.lengths = LengthsOf(asked, load, samples.count);
  samples.mean_response = Procedure<Ratio>("Mean response", samples.lengths.Mean(), {output},
                                           "of the lengths, cut at the longest that is allowed");
  samples.longest_response =
      Procedure<Ratio>("Longest response", samples.lengths.longest, {output, asked.length_variation, samples.count},
                       "that so many samples reach, or where generation stops");
  return samples;
}

namespace {

// Samples of the attention group that has most, and how many of them run at once.
struct RolloutGroup {
  Ratio sequences = 1, running = 1;
};
RolloutGroup GroupOf(const StepInputs& inputs, Ratio devices, const Samples& sampled, double fitting) {
  const Ratio replicas = Figure("Replicas that generate", floor(devices / inputs.replica_devices));
  const Ratio sequences =
      Figure("Samples of an attention group", ceil(sampled.count / (replicas * inputs.attention_dp)),
             "of the one with the most, which all wait for");
  const Ratio most = Procedure<Ratio>("Sequences that fit at once", fitting, {inputs.prompt, sampled.mean_response},
                                      "by the engine's budget of KV cache, at the mean length; see serving.max_batch");
  return {sequences, Figure("Sequences that run at the start", min(sequences, most))};
}

Seconds PrefillTime(const StepInputs& inputs, const RolloutGroup& group, const Deployment& deployment,
                    StepTimes& times) {
  const auto step_tokens = static_cast<double>(StepTokensOf(deployment.load, deployment.device).Most());
  return Procedure("Prefill of all prompts",
                   PrefillAll({group.sequences, inputs.prompt, inputs.prefix_hit, step_tokens}, times),
                   {group.sequences, inputs.prompt, inputs.prefix_hit}, "in passes as large as the engine's");
}

// Time and occupancy of the rollouts after the prompts are prefilled.
void DecodeAll(const StepInputs& inputs, const RolloutGroup& group, const Samples& sampled, Seconds prefill,
               StepTimes& times, Rollouts& rollouts) {
  const Ratio sequences = group.sequences, running = group.running, prompt = inputs.prompt;
  const Ratio mean_response = sampled.mean_response, longest_response = sampled.longest_response;
  const double now = running, context = prompt.base() + mean_response.base() / 2;
  const Seconds engine_step =
      Procedure("Decode step of the engine, full batch", times.Of({now, context, 0, 0, 0, now}).time,
                {running, prompt, mean_response}, "at the mean context; open the serving part for its kernels");
  const Seconds step_overhead = inputs.asked.step_overhead;
  const Seconds decode_step = Figure("Decode step of the full batch", engine_step + step_overhead);
  const Ratio queue_steps = Figure("Decode steps with a queue", (sequences - running) * mean_response / running,
                                   "every sequence that ends is followed by the next");
  const Decoded decoded = DecodeTogether(running, prompt, sampled.lengths, PlainOf(step_overhead), times);
  const Seconds tail =
      Procedure("Decode of the last sequences", decoded.time, {running, decode_step, mean_response, longest_response},
                "step by step: the batch shrinks as sequences end, until the longest one is done");
  const Seconds whole = Figure("Rollouts from first to last", prefill + queue_steps * decode_step + tail,
                               "all samples of a step, from the first prompt to the end of the longest response");
  const Ratio slot_steps =
      Procedure<Ratio>("Steps of a slot until its sequence ends", decoded.slot_steps, {mean_response}, "mean");
  rollouts.slots_in_use =
      Figure("Share of the batch that still generates", (queue_steps + slot_steps) / (queue_steps + longest_response),
             "mean over the decode steps, of samples that start together");
  if (inputs.asked.steps_off == 0) {
    rollouts.time = Figure("Rollouts", whole, "all samples of a step, until the longest response is done");
    return;
  }
  const Seconds streamed =
      Figure("Rollouts of a full batch", prefill + sequences * mean_response / running * decode_step,
             "a sequence that ends is followed by one of the next step");
  rollouts.time = Figure("Rollouts", max(streamed, whole / (1 + Ratio(inputs.asked.steps_off))),
                         "at a full batch; but the longest response may take no more steps than it may be off");
}

}  // namespace

Rollouts TimeRollouts(const StepInputs& inputs, Ratio devices, const Samples& sampled) {
  const PostTrainingParts& parts = inputs.parts;
  const ServingLoad load = RolloutLoad(parts.serving, static_cast<Count>(devices), sampled.mean_response);
  const Deployment deployment = Deploy(parts.model, parts.cluster, load);
  const KvCacheBudget budget = KvCacheBudgetOf(deployment);
  const double prompt = inputs.prompt, response = sampled.mean_response;
  const double fitting = BatchThatFits(deployment, budget, prompt, response);
  Rollouts rollouts;
  if (fitting < 1) rollouts.infeasible = "the engine holds no sequence of the mean length beside its weights";
  const RolloutGroup group = GroupOf(inputs, devices, sampled, max(1.0, fitting));
  rollouts.running = group.running;
  StepTimes times(parts.model, parts.cluster, load, budget.kv_cache);
  DecodeAll(inputs, group, sampled, PrefillTime(inputs, group, deployment, times), times, rollouts);
  return rollouts;
}

}  // namespace slipstick
