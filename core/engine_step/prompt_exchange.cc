#include "core/engine_step/prompt_exchange.h"

#include "core/base/figure.h"
#include "core/engine_step/exchange.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/workload/exchanges.h"

namespace slipstick {
namespace {

constexpr std::string_view kRingSource =
    "ring attention, pass-KV: Context Parallelism for Scalable Million-Token Inference, arXiv 2411.01783";

// Keys and values of all ranks, as one rank receives them.
Bytes GatheredBytes(const Deployment& deployment, const PrefillPass& pass) {
  const Ratio seen =
      Figure("Tokens with keys and values", pass.sequences * (pass.tokens + pass.cached), "of all prompts");
  const std::optional<Mla>& mla = deployment.model.mla;
  // The latent and its rotary part.
  if (mla) return KeyValueBytes(seen, 1, Ratio(mla->kv_lora_rank), Ratio(mla->rope_head_dim));
  const RankShapes& shapes = deployment.shapes;
  return KeyValueBytes(seen, shapes.widths.kv_heads, shapes.head_dim, shapes.head_dim);
}

// Attention to the part of each rank is a kernel of its own, whose result is added to those before.
Seconds MergeTime(const Deployment& deployment, const PrefillPass& pass) {
  const Ratio prefill_cp = deployment.mapping.prefill_cp;
  const Ratio value_dim =
      deployment.model.mla ? Ratio(deployment.model.mla->value_head_dim) : deployment.shapes.head_dim;
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  const BytesPerSecond bandwidth = SlowestStream(deployment.device).bandwidth;
  const Bytes merged =
      Figure("Bytes of adding a part to the result",
             pass.sequences * pass.tokens / prefill_cp * deployment.shapes.widths.heads * value_dim * (10 * kB),
             "a sum in fp32 read and written, a new part in 16 bit read");
  return Figure("Further kernels of a ring",
                (prefill_cp - 1) *
                    (2 * launch + merged / (deployment.engine.kernels.elementwise_bandwidth_efficiency * bandwidth)),
                "attention to each further part, and the addition of its result", kRingSource);
}

}  // namespace

KernelTime PromptExchangeTime(const Deployment& deployment, const PrefillPass& pass, Seconds own_attention) {
  const Ratio prefill_cp = deployment.mapping.prefill_cp;
  const Seconds transfer = GatherPrompts(deployment, GatheredBytes(deployment, pass));
  KernelTime kernel;
  kernel.bound = Bound::kNetwork;
  if (deployment.engine.communication.prompt_exchange != PromptExchange::kRing) {
    kernel.time = Figure("Keys and values of all ranks, per layer", transfer, "gathered before attention",
                         "vLLM issue 25749; SGLang pull request 12207");
    return kernel;
  }
  const Seconds merging = MergeTime(deployment, pass);
  kernel.time = Figure("Exchange of a ring, per layer",
                       max(0 * kS, transfer - (prefill_cp - 1) / prefill_cp * own_attention) + merging,
                       "each part is sent while attention works on the one before", kRingSource);
  return kernel;
}

}  // namespace slipstick
