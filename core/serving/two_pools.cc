// Prefill and decode on pools of their own: each has a rate of requests that it cannot exceed, and the lower of the two is the
// deployment's. A request is handled, waits for the prefill pool, is prefilled there, its cache moves, it waits for a slot of the decode
// pool and takes `output` steps there, which no prefill interrupts.
#include <algorithm>

#include "core/operators/efficiency.h"
#include "core/serving/memo.h"
#include "core/serving/request_flow.h"

namespace slipstick {
namespace {

struct Pools {
  double prefill_groups = 1, decode_groups = 1;
  double slots = 1;  // of a decode group
  Seconds before;    // handling, prefill and transfer of a request that waits for nothing
  Hertz prefill_limit, decode_limit;
  Seconds shared_prefill;
};

// The prefill pool may be of other devices, split in another way.
Deployment PrefillerOf(const Deployment& d, Cluster& cluster, ServingLoad& load) {
  const Disaggregated& pools = *d.load.disaggregated;
  if (pools.prefill_device) cluster.device = *pools.prefill_device;
  if (pools.prefill_mapping) load.mapping = *pools.prefill_mapping;
  return Deploy(d.model, cluster, load);
}

Seconds TransferTime(const Deployment& d, Trace& trace) {
  const Bytes prompt_cache = KvCacheOfSequence(d, static_cast<double>(d.load.prompt));
  const BytesPerSecond link = d.hop;
  const Seconds start = 15 * kUs;
  FIGURE(trace, transfer_time, start + prompt_cache / (0.8 * link),
         (Note{"Cache to the decode pool", "every rank sends its own part; estimate"}), start, prompt_cache, link);
  return transfer_time;
}

// Sequences that a decode group runs: those that come while one of them takes its steps.
double DecodingSequences(const Deployment& d, const Pools& pools, double asked) {
  Trace off = Trace::Off();
  const auto output = static_cast<double>(d.load.output);
  const auto stay = [&](double sequences) { return output * DecodeOf(d, max(1.0, sequences), off).token; };
  const double groups = pools.decode_groups;
  if (d.load.requests_per_s) {
    const Hertz arrivals = *d.load.requests_per_s / (1 * kS);
    return Settled(pools.slots, [&](double n) { return min(arrivals, pools.prefill_limit) * stay(n) / groups; });
  }
  if (d.load.concurrency) {
    const auto concurrency = static_cast<double>(*d.load.concurrency);
    return Settled(pools.slots, [&](double n) {
      const Seconds decoding = stay(n);
      return min(concurrency / (pools.before + decoding), pools.prefill_limit) * decoding / groups;
    });
  }
  return Settled(max(1.0, asked), [&](double n) { return pools.prefill_limit * stay(n) / groups; });
}

struct Served {
  Hertz rate;
  Seconds queue;  // for either pool
  bool saturated = false;
};

Served ServeConcurrency(const Pools& pools, double concurrency, Seconds unhindered, Trace& trace) {
  trace.Input("concurrency", concurrency, "serving.concurrency");
  const Hertz prefill_capacity = pools.prefill_limit, decode_capacity = pools.decode_limit;
  FIGURE(trace, request_rate, min(concurrency / unhindered, prefill_capacity, decode_capacity),
         (Note{"Requests served", "the slower pool sets the pace"}), concurrency, unhindered, prefill_capacity, decode_capacity);
  FIGURE(trace, pool_wait, max(concurrency / request_rate - unhindered, 0 * unhindered),
         (Note{"Waiting for the slower pool", "the rest of the requests in flight"}), concurrency, request_rate, unhindered);
  return {request_rate, pool_wait};
}

Served ServeBatch(const Deployment& d, const Pools& pools, double running, Seconds tpot, Trace& trace) {
  const auto output = static_cast<double>(d.load.output);
  const double decode_groups = pools.decode_groups;
  const Hertz prefill_capacity = pools.prefill_limit;
  FIGURE(trace, request_rate, min(decode_groups * running / (output * tpot), prefill_capacity),
         (Note{"Requests served", "as many as end in the decode pool, and are prefilled"}), decode_groups, running, output, tpot,
         prefill_capacity);
  return {request_rate, 0 * kS};
}

Served ServeArrivals(const Deployment& d, const Pools& pools, Seconds tpot, Trace& trace) {
  const double requests = *d.load.requests_per_s;
  trace.Input("requests", requests, "serving.requests_per_s");
  const Hertz arrivals = requests / (1 * kS), prefill_capacity = pools.prefill_limit, decode_capacity = pools.decode_limit;
  const bool saturated = !(arrivals < min(prefill_capacity, decode_capacity));
  FIGURE(trace, request_rate, min(arrivals, prefill_capacity, decode_capacity),
         (Note{"Requests served", "what arrives, as far as both pools can"}), arrivals, prefill_capacity, decode_capacity);
  if (saturated) return {request_rate, 0 * kS, true};
  const auto output = static_cast<double>(d.load.output);
  const double prefill_queue = WaitOverService(min(0.999, arrivals / prefill_capacity), pools.prefill_groups);
  const double slot_queue = WaitOverService(min(0.999, arrivals / decode_capacity), pools.slots);
  const Seconds shared_prefill = pools.shared_prefill;
  FIGURE(trace, pool_wait, prefill_queue * shared_prefill / 2 + slot_queue * output * tpot,
         (Note{"Waiting for the prefill pool and for a slot to decode",
               "queues of random arrivals: equal work, and as many servers as sequences fit (Sakasegawa 1977)"}),
         prefill_queue, shared_prefill, slot_queue, output, tpot);
  return {request_rate, pool_wait};
}

Served Serve(const Deployment& d, const Pools& pools, double running, Seconds unhindered, Seconds tpot, Trace& trace) {
  if (d.load.requests_per_s) return ServeArrivals(d, pools, tpot, trace);
  if (d.load.concurrency) return ServeConcurrency(pools, static_cast<double>(*d.load.concurrency), unhindered, trace);
  return ServeBatch(d, pools, running, tpot, trace);
}

// Everything that follows from the rate, the queue, and a request that waits for nothing.
void Compose(const Served& served, double output, Seconds unhindered, Seconds tpot, Flow& flow, Trace& trace) {
  const Hertz request_rate = served.rate;
  const Seconds pool_wait = served.queue;
  FIGURE(trace, request_latency, unhindered + pool_wait, (Note{"Whole request", "with its queues", "", "serving.request_latency_s"}),
         unhindered, pool_wait);
  FIGURE(trace, ttft, request_latency - (output - 1) * tpot,
         (Note{"Time to the first token", "handling, prefill, transfer, first step and the queues", "", "serving.ttft_s"}), request_latency,
         output, tpot);
  const Tokens one = 1 * kToken;
  FIGURE(trace, rate, request_rate * output * one, (Note{"Output tokens a second", "", "", "serving.tokens_per_s"}), request_rate, output,
         one);
  FIGURE(trace, in_flight, request_rate * unhindered,
         (Note{"Requests in flight", "of both pools, Little's law", "", "serving.requests_in_flight"}), request_rate, unhindered);
  FIGURE(trace, waiting, request_rate * pool_wait, (Note{"Requests that wait for a pool", "Little's law", "", "serving.requests_waiting"}),
         request_rate, pool_wait);
  flow.tpot = tpot;
  flow.ttft = ttft;
  flow.latency = request_latency;
  flow.queue = pool_wait;
  flow.rate = rate;
  flow.in_flight = in_flight;
  flow.waiting = waiting;
  flow.saturated = served.saturated;
}

}  // namespace

Flow TwoPools(const Deployment& d, double asked, double most, Trace& trace) {
  Flow flow;
  const ServingLoad& load = d.load;
  const auto output = static_cast<double>(load.output);
  trace.Input("output", output, "serving.output");
  Cluster prefill_cluster = d.cluster;
  ServingLoad prefill_load = load;
  const Deployment prefiller = PrefillerOf(d, prefill_cluster, prefill_load);
  Trace off = Trace::Off();
  flow.prefill_lack = max(WeightsOf(prefiller, off) - UsableMemory(prefiller.device), 0 * kB);
  const double prefill_groups =
      max(1.0, static_cast<double>(load.disaggregated->prefill_devices) / prefiller.DevicesPerReplica()) * prefiller.attention_dp;
  const double decode_groups = AttentionGroups(d);
  const bool is_batch = !load.concurrency && !load.requests_per_s;
  const double slots = max(1.0, is_batch ? asked : most);

  const DecodeTimes full = DecodeOf(d, slots, off);
  const auto time_prefills = [&] { return TimePrefills(prefiller, slots, full, trace); };
  const PrefillTimes& prefill = flow.prefill = d.memo == nullptr ? time_prefills() : d.memo->PoolPrefill(load, slots, time_prefills);
  const Seconds full_step = full.token, shared_prefill = prefill.shared, first_prefill = prefill.first,
                request = d.engine.overhead.per_request;
  trace.Input("request", request, "serving.engine.request");
  const Seconds transfer_time = TransferTime(d, trace);
  FIGURE(trace, prefill_capacity, prefill_groups / shared_prefill, (Note{"Requests that the prefill pool can serve", ""}), prefill_groups,
         shared_prefill);
  FIGURE(trace, decode_capacity, decode_groups * slots / (output * full_step),
         (Note{"Requests that the decode pool can serve", "all slots taken"}), decode_groups, slots, output, full_step);
  flow.prefill_capacity = prefill_capacity;
  flow.decode_capacity = decode_capacity;
  const Pools pools{prefill_groups,   decode_groups,   slots,         request + first_prefill + transfer_time,
                    prefill_capacity, decode_capacity, shared_prefill};

  const double running = flow.running = max(1.0, DecodingSequences(d, pools, asked));
  flow.decode = DecodeOf(d, running, trace);
  const Seconds mean_step = flow.decode.token;
  FIGURE(trace, tpot, 1 * mean_step, (Note{"Time of an output token", "a decode step; no prefill comes in between", "", "serving.tpot_s"}),
         mean_step);
  FIGURE(trace, unhindered, request + first_prefill + transfer_time + output * tpot, (Note{"A request that waits for nothing", ""}),
         request, first_prefill, transfer_time, output, tpot);
  Compose(Serve(d, pools, running, unhindered, tpot, trace), output, unhindered, tpot, flow, trace);
  return flow;
}

}  // namespace slipstick
