// Decoding: the time of a step at the mean context, with draft tokens and with a KV cache in host memory.
#include "core/base/figure.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/memo.h"
#include "core/engine_step/step_time.h"
#include "core/serving/kv_cache.h"
#include "core/serving/phase_time.h"

namespace slipstick {
namespace {

// Mean tokens per step with draft tokens.
Ratio KeptTokens(const Speculative& drafts) {
  const Ratio acceptance = drafts.acceptance, most = Ratio(drafts.draft_tokens) + 1;
  return Figure("Tokens per step", acceptance < 1 ? (1 - pow(acceptance, most)) / (1 - acceptance) : most,
                "accepted drafts and one token more", "Leviathan et al., arXiv 2211.17192");
}

// A draft token takes its share of a decode step, and no less than reading the draft's weights in 16 bits.
Seconds DraftTime(const Deployment& deployment, Seconds step) {
  const Speculative& drafts = *deployment.load.speculative;
  const BytesPerSecond memory = deployment.mapping.devices_per_group * deployment.device.memory.bandwidth;
  return Figure("Time of a draft token", max(drafts.draft_cost * step, drafts.draft_parameters * (2 * kB) / memory),
                "at least the time to read the weights of a draft model from the memory of its devices");
}

// A step verifies all draft tokens and yields the accepted ones plus one more.
Seconds SpeculativeToken(const Deployment& deployment, DecodePass pass, Seconds checked_step) {
  const Speculative& drafts = *deployment.load.speculative;
  pass.checked = 1;
  pass.splits_evenly = false;
  const Seconds plain_step = TimeOf(pass, deployment).time;
  return Figure("Time per token with speculative decoding",
                (checked_step + Ratio(drafts.draft_tokens) * DraftTime(deployment, plain_step)) / KeptTokens(drafts),
                "a step verifies all draft tokens and yields one token more than are accepted",
                "Leviathan et al., arXiv 2211.17192");
}

// KV cache that exceeds the device's budget is prefetched from the host one layer ahead; the step waits if the link is
// slower.
void AddOffload(const Deployment& deployment, const DecodePass& pass, DecodeTimes& times) {
  const Bytes held = Figure("KV cache of all sequences", pass.sequences * BudgetOfSequence(deployment, pass.context),
                            "at the mean context");
  const BytesPerSecond rate = RateOfCopies(deployment.load.kv_offload->bandwidth, deployment.engine.communication);
  times.offloaded =
      Figure("KV cache in host memory", max(Bytes{}, held - deployment.kv_cache_budget), "beyond the device's budget");
  times.transfer = Figure("Transfer time", times.offloaded / rate, "of a decode step");
  times.exposed = Figure("Exposed transfer time", max(Seconds{}, times.transfer - times.step.time),
                         "each layer's transfer overlaps the layer before");
  times.step.time = Figure("Decode step with KV-cache offload", times.step.time + times.exposed);
  times.step.occupancy += times.exposed;
  times.step.operators.Add(kCacheFromHost, NetworkTime(times.exposed), 1);
}

}  // namespace

Ratio DecodeSteps(const Deployment& deployment) {
  const Ratio output(deployment.load.output);
  constexpr std::string_view kTitle = "Decode steps of a request";
  if (deployment.load.block_diffusion) {
    return Figure(kTitle, max(1.0, output / deployment.load.block_diffusion->tokens_per_step),
                  "each computes a block and keeps some of its tokens");
  }
  if (!deployment.load.speculative) return output;
  return Figure(kTitle, max(1.0, output / KeptTokens(*deployment.load.speculative)),
                "each yields the drafts that are accepted and one token");
}

Ratio CheckedTokens(const Deployment& deployment) {
  if (deployment.load.block_diffusion) return deployment.load.block_diffusion->block;
  if (!deployment.load.speculative) return 1;
  return Figure("Tokens of a sequence in a step", 1 + Ratio(deployment.load.speculative->draft_tokens),
                "drafts are verified with the next token");
}

DecodePass DecodePassOf(const Deployment& deployment, Ratio sequences) {
  const Ratio output(deployment.load.output);
  return {sequences,
          Figure("Context of a decode step", Ratio(deployment.load.prompt) + OutputOfRunning(deployment, output) / 2,
                 "mean over the output tokens"),
          CheckedTokens(deployment), output};
}

Seconds WholeStep(const Deployment& deployment, const DecodeTimes& decode) {
  return Figure("Decode step, drafts included",
                decode.token * (Ratio(deployment.load.output) / DecodeSteps(deployment)),
                "of all the tokens that it yields");
}

DecodeTimes TimeDecode(const Deployment& deployment, Ratio sequences, bool splits_evenly) {
  DecodeTimes times;
  DecodePass pass = DecodePassOf(deployment, sequences);
  pass.splits_evenly = splits_evenly;
  times.step = TimeOf(pass, deployment);
  if (deployment.load.kv_offload) AddOffload(deployment, pass, times);
  times.token = times.step.time;
  if (deployment.load.speculative) times.token = SpeculativeToken(deployment, pass, times.step.time);
  if (deployment.load.block_diffusion) {
    times.token = Figure("Time per token with block diffusion",
                         times.step.time / deployment.load.block_diffusion->tokens_per_step,
                         "a step computes a block and keeps some of its tokens", "Arriola et al., arXiv 2503.09573");
  }
  return times;
}

DecodeTimes DecodeOf(const Deployment& deployment, Ratio running) {
  const auto time_decode = [&] { return TimeDecode(deployment, running); };
  return deployment.memo == nullptr ? time_decode() : deployment.memo->Decode(running, time_decode);
}

}  // namespace slipstick
