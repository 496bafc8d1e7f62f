// Prefill and decode on separate pools: each has a maximum request rate, and so has the link between them; the lowest
// limits the deployment. A request is handled, waits for the prefill pool and is prefilled there. Its KV cache is
// transferred, it waits for a slot of the decode pool, and takes `output` steps there, which no prefill interrupts.
#include "core/serving/two_pools.h"

#include "core/base/figure.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/memo.h"
#include "core/serving/explained_deployment.h"
#include "core/serving/phase_time.h"
#include "core/serving/prompt_time.h"
#include "core/serving/serving_memory.h"

namespace slipstick {
namespace {

struct Pools {
  Ratio prefill_groups, decode_groups;
  Ratio slots;     // per decode group
  Seconds before;  // handling, prefill and transfer of a request, without waits
  Hertz prefill_limit, decode_limit, link_limit;
  Seconds shared_prefill;
};

Pools PlainOf(const Pools& pools) {
  return {PlainOf(pools.prefill_groups), PlainOf(pools.decode_groups), PlainOf(pools.slots),
          PlainOf(pools.before),         PlainOf(pools.prefill_limit), PlainOf(pools.decode_limit),
          PlainOf(pools.link_limit),     PlainOf(pools.shared_prefill)};
}

// Attention groups of the prefill pool.
Ratio PrefillGroups(const Deployment& prefiller) {
  const ServingDegrees& mapping = prefiller.mapping;
  const Ratio devices(prefiller.load.disaggregated->prefill_devices);
  return Figure("Attention groups of the prefill pool",
                max(1.0, devices / mapping.DevicesPerReplica()) * mapping.attention_dp, "of all its replicas");
}

// Memory that a device of the prefill pool lacks for weights and prompts. A prompt that is not split is on one stage of
// the pipeline, while other prompts are on the others.
Bytes ShortfallOf(const Deployment& prefiller) {
  const KvCacheBudget budget = KvCacheBudgetOf(prefiller);
  const Ratio chunks = ChunksOf(prefiller, ComputedTokens(prefiller.load).tokens),
              prompts = max(1.0, prefiller.mapping.pp / chunks);
  return max(budget.weights - budget.capacity, Bytes{}) +
         max(prompts * KvCacheOfSequence(prefiller, prefiller.load.prompt) - budget.Room(), Bytes{});
}

// Request rate offered to the decode pool while a request takes `decoded` there.
Hertz OfferedRate(const Deployment& deployment, const Pools& pools, Seconds decoded) {
  const ServingLoad& load = deployment.load;
  const Hertz sent = min(pools.prefill_limit, pools.link_limit);
  if (load.requests_per_s) return min(*load.requests_per_s / (1 * kS), sent);
  if (load.concurrency) return min(Ratio(*load.concurrency) / (pools.before + decoded), sent);
  return sent;
}

// Sequences per decode group: the arrivals while one of them is decoded, as far as the prefill pool keeps up.
Ratio DecodingSequences(const Deployment& deployment, const Pools& pools) {
  const auto arriving = [](const Deployment& decoder, const Pools& around, double sequences) {
    const Seconds decoded =
        Figure("Decoding of a request", Ratio(decoder.load.output) * DecodeOf(decoder, max(1.0, sequences)).token);
    return Figure("Arrivals while a request is decoded",
                  OfferedRate(decoder, around, decoded) * decoded / around.decode_groups, "at a decode group");
  };
  const Deployment& plain = PlainOf(deployment);
  const Pools bare = PlainOf(pools);
  const Ratio settled = SettledSequences(
      pools.slots, [&](double n) { return double{arriving(plain, bare, n)}; },
      [&](double n) { return arriving(deployment, pools, n); });
  return Figure("Sequences of a decode group", settled,
                "as many as arrive while one of them is decoded, at most the slots; the time of a step is computed for "
                "1, 4, 9, 16, … sequences and interpolated between them");
}

struct Served {
  Hertz rate;
  Seconds queue;  // wait for either pool
  bool saturated = false;
};

Served ServeConcurrency(const Pools& pools, Ratio concurrency, Seconds unqueued_latency) {
  const Hertz rate = Figure(
      "Request rate", min(concurrency / unqueued_latency, pools.prefill_limit, pools.decode_limit, pools.link_limit),
      "the slower pool is the bottleneck, or the link between them");
  return {rate, Figure("Waiting for the slower pool", max(concurrency / rate - unqueued_latency, Seconds{}),
                       "the remaining requests in flight")};
}

// Serves a fixed batch: no request waits for a pool.
Served ServeBatch(const Pools& pools, Ratio running, Ratio output, Seconds tpot) {
  return {Figure("Request rate",
                 min(pools.decode_groups * running / (output * tpot), pools.prefill_limit, pools.link_limit),
                 "of the decode pool, at most that of the prefill pool and of the link between them"),
          Seconds{}};
}

Served ServeArrivals(const Pools& pools, Ratio requests, Ratio output, Seconds tpot) {
  const Hertz arrivals = requests / (1 * kS);
  const Hertz rate = Figure("Request rate", min(arrivals, pools.prefill_limit, pools.decode_limit, pools.link_limit),
                            "arrivals, at most the capacity of both pools and of the link between them");
  // At capacity the queue is unbounded, and its wait is left out.
  if (!(arrivals < min(pools.prefill_limit, pools.decode_limit, pools.link_limit))) return {rate, Seconds{}, true};
  // All requests are alike, so service times in either pool do not vary.
  const auto queue = [&](Hertz capacity, Ratio servers) {
    return WaitOverService(Figure("Arrivals over the capacity of the pool", arrivals / capacity), servers, 0);
  };
  return {rate, Figure("Waiting for the prefill pool and for a slot to decode",
                       queue(pools.prefill_limit, pools.prefill_groups) * pools.shared_prefill +
                           queue(pools.decode_limit, pools.slots) * output * tpot,
                       "queues of random arrivals: a prefill server per group, a decode server per slot")};
}

Served Serve(const ServingLoad& load, const Pools& pools, Ratio running, Seconds unqueued_latency, Seconds tpot) {
  const Ratio output(load.output);
  if (load.requests_per_s) return ServeArrivals(pools, *load.requests_per_s, output, tpot);
  if (load.concurrency) return ServeConcurrency(pools, *load.concurrency, unqueued_latency);
  return ServeBatch(pools, running, output, tpot);
}

// Sequences of a batch per decode group. Those that do not fit are infeasible, or wait if the engine queues requests.
Ratio BatchSlots(const Deployment& deployment, Ratio requested, Ratio fitting) {
  if (!deployment.engine.scheduler.queues_static_batch) return requested;
  return Figure("Sequences of the batch that run", min(requested, fitting), "the others wait");
}

// Sets latencies and requests in flight, from the rate, the queue and the latency without waits.
void FillPerformance(const Served& served, Ratio output, Seconds unqueued_latency, ServingPerformance& performance) {
  performance.queue = served.queue;
  performance.saturated = served.saturated;
  performance.latency = Figure("End-to-end latency", unqueued_latency + served.queue, "with queues");
  performance.ttft = Figure("Time to first token (TTFT)", performance.latency - (output - 1) * performance.tpot,
                            "handling, prefill, transfer, first step and queues");
  performance.rate = Figure("Throughput in output tokens", served.rate * output * (1 * kToken));
  performance.in_flight = Figure("Requests in flight", served.rate * unqueued_latency, "both pools, Little's law");
  performance.waiting = Figure("Requests waiting for a pool", served.rate * served.queue, "Little's law");
}

}  // namespace

Seconds HandOverTime(const Deployment& pool) {
  return TimeOfSend("KV cache over the links of a pool", KvCacheOfSequence(pool, pool.load.prompt),
                    pool.network.hand_over, pool, "every rank its own part; estimate");
}

PoolLink HandOverBetween(const Deployment& decoder, Ratio decode_groups, Seconds receive, const PrefillPool& prefill,
                         Seconds send) {
  const Ratio share = decoder.network.hand_over.share;
  const Seconds transfer = Figure("KV-cache transfer to the decode pool", max(send, receive),
                                  "as fast as the slower pool's links send or receive it");
  return {transfer,
          Figure("Capacity of the link between the pools",
                 min(prefill.groups / (share * send), decode_groups / (share * receive),
                     prefill.groups * decode_groups / transfer),
                 "requests per second: one at a time per group of either pool through a switch, or one on each direct "
                 "wire between two groups")};
}

PrefillPool TimePrefillPool(const Deployment& deployment, Ratio slots, const DecodeTimes& full) {
  const Deployment& plain = PlainOf(deployment);
  const Disaggregated& pools = *plain.load.disaggregated;
  Cluster cluster = *plain.requested;
  ServingLoad load = plain.load;
  if (pools.prefill_device) cluster.device = *pools.prefill_device;
  if (!pools.prefill_networks.empty()) cluster.networks = pools.prefill_networks;
  if (pools.prefill_mapping) load.mapping = *pools.prefill_mapping;
  const ExplainedDeployment prefiller(cluster, load, deployment);
  const auto time_prefills = [&] { return TimePrefills(*prefiller, slots, full); };
  return {PrefillGroups(*prefiller),
          deployment.memo == nullptr ? time_prefills() : deployment.memo->PoolPrefill(plain.load, slots, time_prefills),
          HandOverTime(*prefiller), ShortfallOf(PlainOf(*prefiller))};
}

ServingPerformance TwoPools(const Deployment& deployment, Ratio requested_sequences, Ratio max_sequences) {
  ServingPerformance performance;
  const ServingLoad& load = deployment.load;
  const Ratio output(load.output);
  const bool is_batch = !load.concurrency && !load.requests_per_s;
  const Ratio max_slots = is_batch ? BatchSlots(deployment, requested_sequences, max_sequences) : max_sequences;
  Pools pools;
  pools.decode_groups = AttentionGroups(deployment);
  pools.slots = UsefulSlots(deployment, max_slots, !is_batch, std::nullopt);
  const DecodeTimes full = DecodeOf(deployment, pools.slots);
  const PrefillPool prefill = TimePrefillPool(deployment, pools.slots, full);
  pools.prefill_groups = prefill.groups;
  performance.prefill = prefill.times;
  performance.prefill_shortfall = prefill.shortfall;
  pools.shared_prefill = performance.prefill.shared;
  pools.prefill_limit =
      Figure("Capacity of the prefill pool", pools.prefill_groups / pools.shared_prefill, "requests per second");
  pools.decode_limit = Figure("Capacity of the decode pool", pools.decode_groups * pools.slots / (output * full.token),
                              "requests per second with all slots occupied");
  performance.prefill_capacity = pools.prefill_limit;
  performance.decode_capacity = pools.decode_limit;
  performance.handling = TimeRequest(deployment);
  const PoolLink hand_over =
      HandOverBetween(deployment, pools.decode_groups, HandOverTime(deployment), prefill, prefill.send);
  performance.transfer = hand_over.transfer;
  performance.link_capacity = pools.link_limit = hand_over.capacity;
  pools.before = Figure("Handling, prefill and transfer",
                        performance.handling + performance.prefill.first + performance.transfer, "without waiting");

  performance.running =
      Figure("Sequences of a decode group", max(1.0, DecodingSequences(deployment, pools)), "at least one");
  performance.decode = DecodeOf(deployment, performance.running);
  performance.tpot =
      Figure("Time per output token (TPOT)", performance.decode.token, "a decode step, without prefills in between");
  const Seconds unqueued_latency = Figure("Latency without waiting", pools.before + output * performance.tpot);
  FillPerformance(Serve(load, pools, performance.running, unqueued_latency, performance.tpot), output, unqueued_latency,
                  performance);
  return performance;
}

}  // namespace slipstick
