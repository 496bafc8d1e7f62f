// Decoding: the time of a step at the mean context, with drafts and with a KV cache in host memory.
#include "core/engine_step/kernel_terms.h"
#include "core/engine_step/memo.h"
#include "core/engine_step/step_time.h"
#include "core/serving/kv_cache.h"
#include "core/serving/phase_time.h"

namespace slipstick {
namespace {

// Tokens that a step with drafts yields.
double KeptTokens(const Speculative& speculative, Trace& trace) {
  const auto draft_tokens = static_cast<double>(speculative.draft_tokens);
  const double acceptance = speculative.acceptance;
  constexpr Note kKept{"Tokens per step", "accepted drafts and one token more", "Leviathan et al., arXiv 2211.17192"};
  if (acceptance < 1) {
    FIGURE(trace, kept, (1 - pow(acceptance, draft_tokens + 1)) / (1 - acceptance), kKept, acceptance, draft_tokens);
    return kept;
  }
  FIGURE(trace, kept, draft_tokens + 1, kKept, draft_tokens);
  return kept;
}

// Tokens that a step of block diffusion yields.
double DiffusedTokens(const BlockDiffusion& diffusion, Trace& trace) {
  const double kept = diffusion.tokens_per_step;
  trace.Input("kept", kept, "serving.block_diffusion.tokens_per_step");
  return kept;
}

double OneToken(Trace& trace) {
  return trace.Constant("checked", 1.0, "serving.decode_step", "without drafts, one token of a sequence");
}

// A step verifies all draft tokens and yields one token more than are accepted.
Seconds SpeculativeToken(const Deployment& deployment, double sequences, double context, Seconds checked_step,
                         Trace& trace) {
  const Speculative& speculative = *deployment.load.speculative;
  const auto draft_tokens = static_cast<double>(speculative.draft_tokens),
             output = static_cast<double>(deployment.load.output);
  const double draft_cost = speculative.draft_cost;
  const Seconds plain_step = [&] {
    const Trace::Scope scope(trace, "plain");
    return TimeOf(DecodePass{sequences, context, OneToken(trace), output, false}, deployment, trace).time;
  }();
  trace.Alias("plain_step", plain_step, "step_time");
  trace.Alias("checked_step", checked_step, "decode_step");
  const double kept = KeptTokens(speculative, trace);
  FIGURE(trace, token_time, (checked_step + draft_tokens * draft_cost * plain_step) / kept,
         (Note{"Time per token with speculative decoding",
               "a step verifies all draft tokens and yields one token more than are accepted",
               "Leviathan et al., arXiv 2211.17192"}),
         checked_step, draft_tokens, draft_cost, plain_step, kept);
  return token_time;
}

Seconds DiffusedToken(const BlockDiffusion& diffusion, Seconds block_step, Trace& trace) {
  trace.Alias("block_step", block_step, "decode_step");
  const double kept = DiffusedTokens(diffusion, trace);
  FIGURE(trace, token_time, block_step / kept,
         (Note{"Time per token with block diffusion", "a step computes a block and keeps some of its tokens",
               "Arriola et al., arXiv 2503.09573"}),
         block_step, kept);
  return token_time;
}

// KV cache beyond the device's budget is prefetched from the host one layer ahead; the step waits if the link is
// slower.
void AddOffload(const Deployment& deployment, double sequences, double context, DecodeTimes& times, Trace& trace) {
  const Bytes kv_cache_budget = deployment.kv_cache_budget;
  trace.Alias("held_tokens", context, "context");
  const Bytes kv_cache_of_sequence = KvCacheOfSequence(deployment, context, trace);
  FIGURE(trace, held, sequences * kv_cache_of_sequence, (Note{"KV cache of all sequences", "at the mean context"}),
         sequences, kv_cache_of_sequence);
  const BytesPerSecond host_link = deployment.load.kv_offload->bandwidth;
  trace.Input("host_link", host_link, "serving.kv_offload.bandwidth");
  const BytesPerSecond host_rate = RateOfCopies(host_link, deployment.engine, trace);
  FIGURE(trace, offloaded, max(0 * held, held - kv_cache_budget),
         (Note{"KV cache in host memory", "beyond the device's budget"}), held, kv_cache_budget);
  FIGURE(trace, transfer, offloaded / host_rate, (Note{"Transfer time", ""}), offloaded, host_rate);
  const Seconds device_step = times.step.time;
  trace.Alias("device_step", device_step, "step_time");
  FIGURE(trace, exposed_transfer, max(0 * transfer, transfer - device_step),
         (Note{"Exposed transfer time", "each layer's transfer overlaps the layer before"}), transfer, device_step);
  FIGURE(trace, offloaded_step, device_step + exposed_transfer, (Note{"Decode step with KV-cache offload", ""}),
         device_step, exposed_transfer);
  times.offloaded = offloaded;
  times.transfer = transfer;
  times.exposed = exposed_transfer;
  times.step.time = offloaded_step;
  times.step.occupancy += exposed_transfer;
  times.step.operators.Add(kCacheFromHost, {exposed_transfer, {}, {}, Bound::kNetwork, {}, {}}, 1);
}

}  // namespace

double DecodeSteps(const Deployment& deployment, Trace& trace) {
  const auto output = static_cast<double>(deployment.load.output);
  if (deployment.load.block_diffusion) {
    const double kept = DiffusedTokens(*deployment.load.block_diffusion, trace);
    FIGURE(trace, steps, max(1.0, output / kept),
           (Note{"Decode steps of a request", "each computes a block and keeps some of its tokens"}), output, kept);
    return steps;
  }
  if (!deployment.load.speculative) {
    trace.Alias("steps", output, "output");
    return output;
  }
  const double kept = KeptTokens(*deployment.load.speculative, trace);
  FIGURE(trace, steps, max(1.0, output / kept),
         (Note{"Decode steps of a request", "each yields the drafts that are accepted and one token"}), output, kept);
  return steps;
}

double CheckedTokens(const Deployment& deployment, Trace& trace) {
  if (deployment.load.block_diffusion) {
    const auto checked = static_cast<double>(deployment.load.block_diffusion->block);
    trace.Input("checked", checked, "serving.block_diffusion.block");
    return checked;
  }
  if (!deployment.load.speculative) return OneToken(trace);
  const auto draft_tokens = static_cast<double>(deployment.load.speculative->draft_tokens);
  FIGURE(trace, checked, 1 + draft_tokens,
         (Note{"Tokens of a sequence in a step", "drafts are verified with the next token"}), draft_tokens);
  return checked;
}

double MeanContext(const Deployment& deployment, Trace& trace) {
  const auto prompt = static_cast<double>(deployment.load.prompt), output = static_cast<double>(deployment.load.output);
  FIGURE(trace, context, prompt + output / 2, (Note{"Context of a decode step", "mean over the output tokens"}), prompt,
         output);
  trace.Alias("grown", output, "output");
  return context;
}

DecodeTimes TimeDecode(const Deployment& deployment, double sequences, Trace& trace, bool splits_evenly) {
  DecodeTimes times;
  const auto output = static_cast<double>(deployment.load.output);
  const double context = MeanContext(deployment, trace), checked = CheckedTokens(deployment, trace);
  trace.Alias("sequences", sequences, "running");
  times.step = TimeOf(DecodePass{sequences, context, checked, output, splits_evenly}, deployment, trace);
  trace.Alias("decode_step", times.step.time, "step_time");
  if (deployment.load.kv_offload) {
    AddOffload(deployment, sequences, context, times, trace);
    trace.Alias("decode_step", times.step.time, "offloaded_step");
  }
  times.token = times.step.time;
  if (deployment.load.speculative)
    times.token = SpeculativeToken(deployment, sequences, context, times.step.time, trace);
  if (deployment.load.block_diffusion)
    times.token = DiffusedToken(*deployment.load.block_diffusion, times.step.time, trace);
  const bool yields_several = deployment.load.speculative || deployment.load.block_diffusion;
  trace.Alias("mean_step", times.token, yields_several ? "token_time" : "decode_step");
  return times;
}

DecodeTimes DecodeOf(const Deployment& deployment, double running, Trace& trace) {
  return deployment.memo == nullptr
             ? TimeDecode(deployment, running, trace)
             : deployment.memo->Decode(running, [&] { return TimeDecode(deployment, running, trace); });
}

}  // namespace slipstick
