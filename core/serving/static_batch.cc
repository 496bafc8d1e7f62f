#include "core/serving/static_batch.h"

#include <algorithm>

#include "core/serving/phase_time.h"

namespace slipstick {

StaticBatch TimeStaticBatch(const Deployment& deployment, double sequences, const KvCacheBudget& budget, Trace& trace) {
  const Trace::Scope scope(trace, "static");
  const auto prompt = static_cast<double>(deployment.load.prompt), output = static_cast<double>(deployment.load.output);
  trace.Input("output", output, "serving.output");
  const double computed = ComputedTokens(deployment.load);
  const Seconds pass_time = TimePrompt(deployment, sequences, computed, prompt - computed, trace).time;
  const Seconds prefill_step = deployment.engine.overhead.prefill_step;
  double running = sequences;
  if (deployment.engine.scheduler.queues_static_batch) {
    running = std::clamp(budget.kv_cache / KvCacheOfSequence(deployment, prompt + deployment.engine.memory.output_reserved * output), 1.0,
                         sequences);
  }
  const Seconds mean_step = TimeDecode(deployment, running, trace).token;
  const double rounds = sequences / running;
  FIGURE(trace, static_ttft, pass_time + prefill_step,
         (Note{"Time to first token of a static batch", "one prefill of the whole batch", "", "serving.static_ttft_s"}), pass_time,
         prefill_step);
  FIGURE(trace, static_tpot, mean_step * rounds,
         (Note{"Time per output token of a static batch", "a decode step, without prefills in between", "", "serving.static_tpot_s"}),
         mean_step, rounds);
  FIGURE(trace, static_latency, static_ttft + output * static_tpot,
         (Note{"Latency of a static batch", "one prefill of the batch, then one step per output token", "", "serving.static_latency_s"}),
         static_ttft, output, static_tpot);
  return {static_ttft, static_tpot, static_latency};
}

}  // namespace slipstick
