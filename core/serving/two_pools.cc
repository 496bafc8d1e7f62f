// Prefill and decode on separate pools: each has a maximum request rate, and the lower one is the deployment's. A request is handled,
// waits for the prefill pool, is prefilled there, its KV cache is transferred, it waits for a slot of the decode pool and takes `output`
// steps there, which no prefill interrupts.
#include <algorithm>

#include "core/operators/efficiency.h"
#include "core/serving/load_model.h"
#include "core/serving/memo.h"
#include "core/serving/phase_time.h"
#include "core/serving/serving_memory.h"

namespace slipstick {
namespace {

struct Pools {
  double prefill_groups = 1, decode_groups = 1;
  double slots = 1;  // per decode group
  Seconds before;    // handling, prefill and transfer of a request, without waiting
  Hertz prefill_limit, decode_limit;
  Seconds shared_prefill;
};

// The prefill pool may have another device and another mapping.
Deployment PrefillerOf(const Deployment& deployment, Cluster& cluster, ServingLoad& load) {
  const Disaggregated& pools = *deployment.load.disaggregated;
  if (pools.prefill_device) cluster.device = *pools.prefill_device;
  if (pools.prefill_mapping) load.mapping = *pools.prefill_mapping;
  return Deploy(deployment.model, cluster, load);
}

Seconds TransferTime(const Deployment& deployment, Trace& trace) {
  const Bytes prompt_kv_cache = KvCacheOfSequence(deployment, static_cast<double>(deployment.load.prompt));
  const BytesPerSecond link = deployment.network.stage_link;
  const Seconds start = 15 * kUs;
  FIGURE(trace, transfer_time, start + prompt_kv_cache / (0.8 * link),
         (Note{"KV-cache transfer to the decode pool", "every rank sends its own part; estimate"}), start, prompt_kv_cache, link);
  return transfer_time;
}

// Sequences per decode group: those that arrive while one of them is decoded.
double DecodingSequences(const Deployment& deployment, const Pools& pools, double requested_sequences) {
  Trace off = Trace::Off();
  const auto output = static_cast<double>(deployment.load.output);
  const auto stay = [&](double sequences) { return output * DecodeOf(deployment, max(1.0, sequences), off).token; };
  const double groups = pools.decode_groups;
  if (deployment.load.requests_per_s) {
    const Hertz arrivals = *deployment.load.requests_per_s / (1 * kS);
    return SettledSequences(pools.slots, [&](double n) { return min(arrivals, pools.prefill_limit) * stay(n) / groups; });
  }
  if (deployment.load.concurrency) {
    const auto concurrency = static_cast<double>(*deployment.load.concurrency);
    return SettledSequences(pools.slots, [&](double n) {
      const Seconds decoding = stay(n);
      return min(concurrency / (pools.before + decoding), pools.prefill_limit) * decoding / groups;
    });
  }
  return SettledSequences(max(1.0, requested_sequences), [&](double n) { return pools.prefill_limit * stay(n) / groups; });
}

struct Served {
  Hertz rate;
  Seconds queue;  // for either pool
  bool saturated = false;
};

Served ServeConcurrency(const Pools& pools, double concurrency, Seconds unqueued_latency, Trace& trace) {
  trace.Input("concurrency", concurrency, "serving.concurrency");
  const Hertz prefill_capacity = pools.prefill_limit, decode_capacity = pools.decode_limit;
  FIGURE(trace, request_rate, min(concurrency / unqueued_latency, prefill_capacity, decode_capacity),
         (Note{"Request rate", "the slower pool is the bottleneck"}), concurrency, unqueued_latency, prefill_capacity, decode_capacity);
  FIGURE(trace, pool_wait, max(concurrency / request_rate - unqueued_latency, 0 * unqueued_latency),
         (Note{"Waiting for the slower pool", "the remaining requests in flight"}), concurrency, request_rate, unqueued_latency);
  return {request_rate, pool_wait};
}

Served ServeBatch(const Deployment& deployment, const Pools& pools, double running, Seconds tpot, Trace& trace) {
  const auto output = static_cast<double>(deployment.load.output);
  const double decode_groups = pools.decode_groups;
  const Hertz prefill_capacity = pools.prefill_limit;
  FIGURE(trace, request_rate, min(decode_groups * running / (output * tpot), prefill_capacity),
         (Note{"Request rate", "of the decode pool, at most that of the prefill pool"}), decode_groups, running, output, tpot,
         prefill_capacity);
  return {request_rate, 0 * kS};
}

Served ServeArrivals(const Deployment& deployment, const Pools& pools, Seconds tpot, Trace& trace) {
  const double requests = *deployment.load.requests_per_s;
  trace.Input("requests", requests, "serving.requests_per_s");
  const Hertz arrivals = requests / (1 * kS), prefill_capacity = pools.prefill_limit, decode_capacity = pools.decode_limit;
  const bool saturated = !(arrivals < min(prefill_capacity, decode_capacity));
  FIGURE(trace, request_rate, min(arrivals, prefill_capacity, decode_capacity),
         (Note{"Request rate", "arrivals, at most the capacity of both pools"}), arrivals, prefill_capacity, decode_capacity);
  if (saturated) return {request_rate, 0 * kS, true};
  const auto output = static_cast<double>(deployment.load.output);
  const double prefill_queue = WaitOverService(min(0.999, arrivals / prefill_capacity), pools.prefill_groups);
  const double slot_queue = WaitOverService(min(0.999, arrivals / decode_capacity), pools.slots);
  const Seconds shared_prefill = pools.shared_prefill;
  FIGURE(trace, pool_wait, prefill_queue * shared_prefill / 2 + slot_queue * output * tpot,
         (Note{"Waiting for the prefill pool and for a slot to decode",
               "queues of random arrivals: deterministic prefill, one decode server per slot (Sakasegawa 1977)"}),
         prefill_queue, shared_prefill, slot_queue, output, tpot);
  return {request_rate, pool_wait};
}

Served Serve(const Deployment& deployment, const Pools& pools, double running, Seconds unqueued_latency, Seconds tpot, Trace& trace) {
  if (deployment.load.requests_per_s) return ServeArrivals(deployment, pools, tpot, trace);
  if (deployment.load.concurrency)
    return ServeConcurrency(pools, static_cast<double>(*deployment.load.concurrency), unqueued_latency, trace);
  return ServeBatch(deployment, pools, running, tpot, trace);
}

// Latencies and requests in flight from the rate, the queue and the latency without waiting.
void FillPerformance(const Served& served, double output, Seconds unqueued_latency, Seconds tpot, ServingPerformance& performance,
                     Trace& trace) {
  const Hertz request_rate = served.rate;
  const Seconds pool_wait = served.queue;
  FIGURE(trace, request_latency, unqueued_latency + pool_wait, (Note{"End-to-end latency", "with queues", "", "serving.request_latency_s"}),
         unqueued_latency, pool_wait);
  FIGURE(trace, ttft, request_latency - (output - 1) * tpot,
         (Note{"Time to first token (TTFT)", "handling, prefill, transfer, first step and queues", "", "serving.ttft_s"}), request_latency,
         output, tpot);
  const Tokens one = 1 * kToken;
  FIGURE(trace, rate, request_rate * output * one, (Note{"Throughput in output tokens", "", "", "serving.tokens_per_s"}), request_rate,
         output, one);
  FIGURE(trace, in_flight, request_rate * unqueued_latency,
         (Note{"Requests in flight", "both pools, Little's law", "", "serving.requests_in_flight"}), request_rate, unqueued_latency);
  FIGURE(trace, waiting, request_rate * pool_wait, (Note{"Requests waiting for a pool", "Little's law", "", "serving.requests_waiting"}),
         request_rate, pool_wait);
  performance.tpot = tpot;
  performance.ttft = ttft;
  performance.latency = request_latency;
  performance.queue = pool_wait;
  performance.rate = rate;
  performance.in_flight = in_flight;
  performance.waiting = waiting;
  performance.saturated = served.saturated;
}

}  // namespace

ServingPerformance TwoPools(const Deployment& deployment, double requested_sequences, double max_sequences, Trace& trace) {
  ServingPerformance performance;
  const ServingLoad& load = deployment.load;
  const auto output = static_cast<double>(load.output);
  trace.Input("output", output, "serving.output");
  Cluster prefill_cluster = deployment.cluster;
  ServingLoad prefill_load = load;
  const Deployment prefiller = PrefillerOf(deployment, prefill_cluster, prefill_load);
  Trace off = Trace::Off();
  performance.prefill_shortfall = max(WeightsOf(prefiller, off) - UsableMemory(prefiller.device), 0 * kB);
  const double prefill_groups = max(1.0, static_cast<double>(load.disaggregated->prefill_devices) / prefiller.mapping.DevicesPerReplica()) *
                                prefiller.mapping.attention_dp;
  const double decode_groups = AttentionGroups(deployment);
  const bool is_batch = !load.concurrency && !load.requests_per_s;
  const double slots = max(1.0, is_batch ? requested_sequences : max_sequences);

  const DecodeTimes full = DecodeOf(deployment, slots, off);
  const auto time_prefills = [&] { return TimePrefills(prefiller, slots, full, trace); };
  const PrefillTimes& prefill = performance.prefill =
      deployment.memo == nullptr ? time_prefills() : deployment.memo->PoolPrefill(load, slots, time_prefills);
  const Seconds full_step = full.token, shared_prefill = prefill.shared, first_prefill = prefill.first,
                request = deployment.engine.overhead.per_request;
  trace.Input("request", request, "serving.engine.request");
  const Seconds transfer_time = TransferTime(deployment, trace);
  FIGURE(trace, prefill_capacity, prefill_groups / shared_prefill, (Note{"Capacity of the prefill pool", "requests per second"}),
         prefill_groups, shared_prefill);
  FIGURE(trace, decode_capacity, decode_groups * slots / (output * full_step),
         (Note{"Capacity of the decode pool", "requests per second with all slots occupied"}), decode_groups, slots, output, full_step);
  performance.prefill_capacity = prefill_capacity;
  performance.decode_capacity = decode_capacity;
  const Pools pools{prefill_groups,   decode_groups,   slots,         request + first_prefill + transfer_time,
                    prefill_capacity, decode_capacity, shared_prefill};

  const double running = performance.running = max(1.0, DecodingSequences(deployment, pools, requested_sequences));
  performance.decode = DecodeOf(deployment, running, trace);
  const Seconds mean_step = performance.decode.token;
  FIGURE(trace, tpot, 1 * mean_step,
         (Note{"Time per output token (TPOT)", "a decode step, without prefills in between", "", "serving.tpot_s"}), mean_step);
  FIGURE(trace, unqueued_latency, request + first_prefill + transfer_time + output * tpot, (Note{"Latency without waiting", ""}), request,
         first_prefill, transfer_time, output, tpot);
  FillPerformance(Serve(deployment, pools, running, unqueued_latency, tpot, trace), output, unqueued_latency, tpot, performance, trace);
  return performance;
}

}  // namespace slipstick
