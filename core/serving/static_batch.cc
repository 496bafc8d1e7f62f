#include "core/serving/static_batch.h"

#include "core/base/figure.h"
#include "core/serving/phase_time.h"

namespace slipstick {

namespace {

// Sequences that run at once: all, or, if the engine queues requests, as many as fit.
Ratio RunningOf(const Deployment& deployment, Ratio sequences, const KvCacheBudget& budget) {
  if (!deployment.engine.scheduler.queues_static_batch) return sequences;
  const Bytes each = KvCacheOfRequest(deployment, deployment.load.prompt, deployment.load.output);
  return Figure("Sequences that run at once", min(max(budget.kv_cache / each, 1.0), sequences),
                "those that fit; the others wait");
}

}  // namespace

StaticBatch TimeStaticBatch(const Deployment& deployment, Ratio sequences, const KvCacheBudget& budget) {
  const PassCost prefill = TimePrompt(deployment, sequences, ComputedTokens(deployment.load));
  const Ratio running = RunningOf(deployment, sequences, budget);
  const Ratio rounds = Figure("Rounds of the batch", sequences / running, "one where all run at once");
  StaticBatch batch;
  batch.ttft = Figure("Time to first token of a static batch", prefill.time + deployment.engine.overhead.prefill_step,
                      "one prefill of the whole batch");
  batch.tpot = Figure("Time per output token of a static batch", TimeDecode(deployment, running, true).token * rounds,
                      "a decode step, without prefills in between");
  batch.latency = Figure("Latency of a static batch", batch.ttft + Ratio(deployment.load.output) * batch.tpot,
                         "one prefill of the batch, then one step per output token");
  return batch;
}

}  // namespace slipstick
