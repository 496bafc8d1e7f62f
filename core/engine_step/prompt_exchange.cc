#include "core/engine_step/prompt_exchange.h"

#include "core/engine_step/exchange.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/workload/named_terms.h"

namespace slipstick {
namespace {

constexpr std::string_view kRingSource =
    "ring attention, pass-KV: Context Parallelism for Scalable Million-Token Inference, arXiv 2411.01783";

// Keys and values of all ranks, as one rank receives them.
Bytes GatheredBytes(const Deployment& deployment, double sequences, double tokens, double cached, Trace& trace) {
  MixerCore core;
  core.kv_heads = deployment.shapes.widths.kv_heads;
  core.query_width = core.value_width = deployment.shapes.head_dim;
  if (deployment.model.mla) {
    // The latent and its rotary part.
    core.kv_heads = 1;
    core.query_width = static_cast<double>(deployment.model.mla->kv_lora_rank);
    core.value_width = static_cast<double>(deployment.model.mla->rope_head_dim);
    trace.Input("core_kv_heads", core.kv_heads, "model.mla");
    trace.Input("query_width", core.query_width, "model.mla.kv_lora_rank");
    trace.Input("value_width", core.value_width, "model.mla.rope_head_dim");
  } else {
    trace.Alias("core_kv_heads", core.kv_heads, "rank_kv_heads");
    trace.Input("query_width", core.query_width, "model.head_dim");
    trace.Input("value_width", core.value_width, "model.head_dim");
  }
  FIGURE(trace, seen_tokens, sequences * (tokens + cached), (Note{"Tokens with keys and values", "of all prompts"}),
         sequences, tokens, cached);
  return KeyValueBytes(core, seen_tokens, "seen_tokens", trace);
}

// Attention to the part of each rank is a kernel of its own, whose result is added to those before.
Seconds MergeTime(const Deployment& deployment, double sequences, double tokens, Trace& trace) {
  const double rank_heads = deployment.shapes.widths.heads, prefill_cp = deployment.mapping.prefill_cp;
  const double value_dim =
      deployment.model.mla ? Ratio(deployment.model.mla->value_head_dim) : deployment.shapes.head_dim;
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  const BytesPerSecond bandwidth = SlowestStream(deployment.device, trace).bandwidth;
  const double element_stream = deployment.engine.kernels.elementwise_bandwidth_efficiency;
  const Bytes merged = 10 * kB;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("element_stream", element_stream, "serving.engine.element_stream");
  trace.Input("value_dim", value_dim, deployment.model.mla ? "model.mla.value_head_dim" : "model.head_dim");
  CONSTANTS(trace, "serving.prompt_exchange", "a sum in fp32 read and written, a new part in 16 bit read", merged);
  FIGURE(trace, merge_bytes, sequences * tokens / prefill_cp * rank_heads * value_dim * merged,
         (Note{"Bytes of adding a part to the result", ""}), sequences, tokens, prefill_cp, rank_heads, value_dim,
         merged);
  FIGURE(trace, merge_time, (prefill_cp - 1) * (2 * launch + merge_bytes / (element_stream * bandwidth)),
         (Note{"Further kernels of a ring", "attention to each further part, and the addition of its result",
               kRingSource}),
         prefill_cp, launch, merge_bytes, element_stream, bandwidth);
  return merge_time;
}

}  // namespace

KernelTime PromptExchangeTime(const Deployment& deployment, double sequences, double tokens, double cached,
                              Seconds own_attention, std::string_view own_attention_is, Trace& trace) {
  const Trace::Scope scope(trace, "prompt_exchange");
  const double prefill_cp = deployment.mapping.prefill_cp;
  const Bytes gathered = GatheredBytes(deployment, sequences, tokens, cached, trace);
  trace.Alias("bytes", gathered, "kv_bytes");
  const Seconds transfer = GatherPrompts(deployment, gathered, trace);
  trace.Alias("transfer", transfer, "collective_time");
  KernelTime kernel;
  kernel.bound = Bound::kNetwork;
  if (deployment.engine.communication.prompt_exchange != PromptExchange::kRing) {
    FIGURE(trace, prompt_exchange, 1 * transfer,
           (Note{"Keys and values of all ranks, per layer", "gathered before attention",
                 "vLLM issue 25749; SGLang pull request 12207"}),
           transfer);
    kernel.time = prompt_exchange;
    return kernel;
  }
  const Seconds merge_time = MergeTime(deployment, sequences, tokens, trace);
  trace.Alias("own_attention", own_attention, own_attention_is);
  FIGURE(
      trace, prompt_exchange, max(0 * kS, transfer - (prefill_cp - 1) / prefill_cp * own_attention) + merge_time,
      (Note{"Exchange of a ring, per layer", "each part is sent while attention works on the one before", kRingSource}),
      transfer, prefill_cp, own_attention, merge_time);
  kernel.time = prompt_exchange;
  return kernel;
}

}  // namespace slipstick
