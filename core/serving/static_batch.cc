#include "core/serving/static_batch.h"

#include "core/engine_step/named_terms.h"
#include "core/serving/phase_time.h"

namespace slipstick {

namespace {

// Sequences that run at once: all, or in an engine that queues the others as many as fit.
double RunningOf(const Deployment& deployment, double sequences, const KvCacheBudget& budget, Trace& trace) {
  if (!deployment.engine.scheduler.queues_static_batch) {
    trace.Alias("running", sequences, "sequences");
    return sequences;
  }
  const auto prompt = static_cast<double>(deployment.load.prompt), output = static_cast<double>(deployment.load.output);
  const Bytes kv_cache_budget = budget.kv_cache,
              kv_cache_of_request = KvCacheOfRequest(deployment, prompt, output, trace);
  FIGURE(trace, running, min(max(kv_cache_budget / kv_cache_of_request, 1.0), sequences),
         (Note{"Sequences that run at once", "those that fit; the others wait"}), kv_cache_budget, kv_cache_of_request,
         sequences);
  return running;
}

}  // namespace

StaticBatch TimeStaticBatch(const Deployment& deployment, double sequences, const KvCacheBudget& budget, Trace& trace) {
  const Trace::Scope scope(trace, "static");
  const auto output = static_cast<double>(deployment.load.output);
  const PromptTokens computed = ComputedTokens(deployment.load, trace);
  trace.Alias("sequences", sequences, "requested_sequences");
  const Seconds pass_time = TimePrompt(deployment, sequences, computed.tokens, computed.cached, trace).time;
  const Seconds prefill_step = deployment.engine.overhead.prefill_step;
  const double running = RunningOf(deployment, sequences, budget, trace);
  const Seconds mean_step = TimeDecode(deployment, running, trace, true).token;
  FIGURE(trace, rounds, sequences / running, (Note{"Rounds of the batch", "one where all run at once"}), sequences,
         running);
  FIGURE(trace, static_ttft, pass_time + prefill_step,
         (Note{"Time to first token of a static batch", "one prefill of the whole batch", "", "serving.static_ttft_s"}),
         pass_time, prefill_step);
  FIGURE(trace, static_tpot, mean_step * rounds,
         (Note{"Time per output token of a static batch", "a decode step, without prefills in between", "",
               "serving.static_tpot_s"}),
         mean_step, rounds);
  FIGURE(trace, static_latency, static_ttft + output * static_tpot,
         (Note{"Latency of a static batch", "one prefill of the batch, then one step per output token", "",
               "serving.static_latency_s"}),
         static_ttft, output, static_tpot);
  return {static_ttft, static_tpot, static_latency};
}

}  // namespace slipstick
