// Prefill and decode on separate pools: each has a maximum request rate, and the lower one is the deployment's. A
// request is handled, waits for the prefill pool, is prefilled there, its KV cache is transferred, it waits for a slot
// of the decode pool and takes `output` steps there, which no prefill interrupts.
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "core/engine_step/exchange.h"
#include "core/engine_step/memo.h"
#include "core/engine_step/named_terms.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/serving/load_model.h"
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
Deployment PrefillerOf(const Deployment& deployment, Cluster& cluster, ServingLoad& load, Trace& trace) {
  const Disaggregated& pools = *deployment.load.disaggregated;
  if (pools.prefill_device) {
    cluster.device = *pools.prefill_device;
    BindDevice("serving.disaggregated.prefill_device", trace);
  }
  if (pools.prefill_mapping) {
    load.mapping = *pools.prefill_mapping;
    BindDegrees(load.mapping, "serving.disaggregated.prefill_mapping", trace);
  }
  return Deploy(deployment.model, cluster, load, trace);
}

// Attention groups of the prefill pool.
double PrefillGroups(const Deployment& prefiller, Trace& trace) {
  const auto prefill_devices = static_cast<double>(prefiller.load.disaggregated->prefill_devices);
  const double tp = prefiller.mapping.devices_per_group, pp = prefiller.mapping.pp,
               attention_dp = prefiller.mapping.attention_dp, prefill_cp = prefiller.mapping.prefill_cp;
  FIGURE(trace, prefill_groups, max(1.0, prefill_devices / (tp * pp * attention_dp * prefill_cp)) * attention_dp,
         (Note{"Attention groups of the prefill pool", "of all its replicas"}), prefill_devices, tp, pp, attention_dp,
         prefill_cp);
  return prefill_groups;
}

Seconds TransferTime(const Deployment& deployment, Trace& trace) {
  const auto prompt = static_cast<double>(deployment.load.prompt);
  trace.Alias("held_tokens", prompt, "prompt");
  const Bytes kv_cache_of_sequence = KvCacheOfSequence(deployment, prompt, trace);
  const Route& route = deployment.network.hand_over;
  const BytesPerSecond stage_link = route.link;
  const StepTable& step = deployment.device.architecture->step;
  const Seconds send_start = step.send_launch;
  const double send_rate = step.send_efficiency;
  BindEstimate("send_start", send_start, deployment.device, trace);
  BindEstimate("send_rate", send_rate, deployment.device, trace);
  BindRoute(route, deployment, trace);
  FIGURE(trace, transfer_time, send_start + kv_cache_of_sequence / (send_rate * stage_link),
         (Note{"KV-cache transfer to the decode pool", "every rank sends its own part; estimate"}), send_start,
         kv_cache_of_sequence, send_rate, stage_link);
  return OverFurtherWires(transfer_time, "transfer_time", route, deployment, trace);
}

// Sequences per decode group: those that arrive while one of them is decoded, as far as the prefill pool can follow.
double DecodingSequences(const Deployment& deployment, const Pools& pools, Seconds full_step, Trace& trace) {
  Trace off = Trace::Off();
  const auto output = static_cast<double>(deployment.load.output);
  const auto stay = [&](double sequences) { return output * DecodeOf(deployment, max(1.0, sequences), off).token; };
  const double decode_groups = pools.decode_groups, slots = pools.slots;
  const Hertz prefill_capacity = pools.prefill_limit;
  constexpr Note kNote{
      "Sequences of a decode group",
      "as many as arrive while one of them is decoded, at most the slots; its time is linear between squares"};
  const auto settle = [&](const auto& arriving, std::string_view names, auto... terms) {
    const double settled = SettledSequences(slots, arriving);
    trace.Procedure("decoding", settled, kNote, names, terms...);
    return settled;
  };
  if (deployment.load.requests_per_s) {
    const double requests = *deployment.load.requests_per_s;
    const Hertz arrivals = requests / (1 * kS);
    trace.Input("requests", requests, "serving.requests_per_s");
    return settle([&](double n) { return min(arrivals, prefill_capacity) * stay(n) / decode_groups; },
                  "requests, prefill_capacity, decode_groups, slots, output, full_step", requests, prefill_capacity,
                  decode_groups, slots, output, full_step);
  }
  if (deployment.load.concurrency) {
    const auto concurrency = static_cast<double>(*deployment.load.concurrency);
    const Seconds before = pools.before;
    return settle(
        [&](double n) {
          const Seconds decoded = stay(n);
          return min(concurrency / (before + decoded), prefill_capacity) * decoded / decode_groups;
        },
        "concurrency, before, prefill_capacity, decode_groups, slots, output, full_step", concurrency, before,
        prefill_capacity, decode_groups, slots, output, full_step);
  }
  return settle([&](double n) { return prefill_capacity * stay(n) / decode_groups; },
                "prefill_capacity, decode_groups, slots, output, full_step", prefill_capacity, decode_groups, slots,
                output, full_step);
}

struct Served {
  Hertz rate;
  Seconds queue;  // for either pool
  bool saturated = false;
};

Seconds NoWait(std::string_view why, Trace& trace) {
  return trace.Constant("pool_wait", Seconds(), "serving.pools", why);
}

Served ServeConcurrency(const Pools& pools, double concurrency, Seconds unqueued_latency, Trace& trace) {
  const Hertz prefill_capacity = pools.prefill_limit, decode_capacity = pools.decode_limit;
  FIGURE(trace, request_rate, min(concurrency / unqueued_latency, prefill_capacity, decode_capacity),
         (Note{"Request rate", "the slower pool is the bottleneck"}), concurrency, unqueued_latency, prefill_capacity,
         decode_capacity);
  FIGURE(trace, pool_wait, max(concurrency / request_rate - unqueued_latency, 0 * unqueued_latency),
         (Note{"Waiting for the slower pool", "the remaining requests in flight"}), concurrency, request_rate,
         unqueued_latency);
  return {request_rate, pool_wait};
}

Served ServeBatch(const Deployment& deployment, const Pools& pools, double running, Seconds tpot, Trace& trace) {
  const auto output = static_cast<double>(deployment.load.output);
  const double decode_groups = pools.decode_groups;
  const Hertz prefill_capacity = pools.prefill_limit;
  FIGURE(trace, request_rate, min(decode_groups * running / (output * tpot), prefill_capacity),
         (Note{"Request rate", "of the decode pool, at most that of the prefill pool"}), decode_groups, running, output,
         tpot, prefill_capacity);
  return {request_rate, NoWait("the batch runs: no request waits for a pool", trace)};
}

Served ServeArrivals(const Deployment& deployment, const Pools& pools, Seconds tpot, Trace& trace) {
  const double requests = *deployment.load.requests_per_s;
  trace.Input("requests", requests, "serving.requests_per_s");
  FIGURE(trace, arrivals, requests / (1 * kS), (Note{"Arrival rate", "all replicas"}), requests);
  const Hertz prefill_capacity = pools.prefill_limit, decode_capacity = pools.decode_limit;
  const bool saturated = !(arrivals < min(prefill_capacity, decode_capacity));
  FIGURE(trace, request_rate, min(arrivals, prefill_capacity, decode_capacity),
         (Note{"Request rate", "arrivals, at most the capacity of both pools"}), arrivals, prefill_capacity,
         decode_capacity);
  if (saturated)
    return {request_rate, NoWait("at capacity: the queue has no end, and its wait is left out", trace), true};
  const auto output = static_cast<double>(deployment.load.output);
  const auto queue = [&](std::string_view name, Hertz capacity, std::string_view symbol, double servers,
                         std::string_view servers_are) {
    const Trace::Scope scope(trace, name);
    trace.Alias("capacity", capacity, symbol);
    trace.Alias("servers", servers, servers_are);
    FIGURE(trace, load, arrivals / capacity, (Note{"Arrivals over the capacity of the pool", ""}), arrivals, capacity);
    return WaitOverService(load, servers, trace);
  };
  const double prefill_queue =
      queue("prefill_queue", prefill_capacity, "prefill_capacity", pools.prefill_groups, "prefill_groups");
  trace.Alias("prefill_queue", prefill_queue, "wait_over_service");
  const double slot_queue = queue("slot_queue", decode_capacity, "decode_capacity", pools.slots, "slots");
  trace.Alias("slot_queue", slot_queue, "wait_over_service");
  const Seconds shared_prefill = pools.shared_prefill;
  FIGURE(trace, pool_wait, prefill_queue * shared_prefill / 2 + slot_queue * output * tpot,
         (Note{"Waiting for the prefill pool and for a slot to decode",
               "queues of random arrivals: deterministic prefill, one decode server per slot (Sakasegawa 1977)"}),
         prefill_queue, shared_prefill, slot_queue, output, tpot);
  return {request_rate, pool_wait};
}

Served Serve(const Deployment& deployment, const Pools& pools, double running, Seconds unqueued_latency, Seconds tpot,
             Trace& trace) {
  if (deployment.load.requests_per_s) return ServeArrivals(deployment, pools, tpot, trace);
  if (deployment.load.concurrency)
    return ServeConcurrency(pools, static_cast<double>(*deployment.load.concurrency), unqueued_latency, trace);
  return ServeBatch(deployment, pools, running, tpot, trace);
}

// Sequences of a batch per decode group; those that do not fit are infeasible, or wait where the engine lets them.
double BatchSlots(const Deployment& deployment, double requested_sequences, double fitting_sequences, Trace& trace) {
  if (!deployment.engine.scheduler.queues_static_batch) {
    trace.Alias("max_slots", requested_sequences, "requested_sequences");
    return requested_sequences;
  }
  trace.Alias("fitting_sequences", fitting_sequences, "group_batch");
  FIGURE(trace, max_slots, min(requested_sequences, fitting_sequences),
         (Note{"Sequences of the batch that run", "the others wait"}), requested_sequences, fitting_sequences);
  return max_slots;
}

// Latencies and requests in flight from the rate, the queue and the latency without waiting.
void FillPerformance(const Served& served, double output, Seconds unqueued_latency, Seconds tpot,
                     ServingPerformance& performance, Trace& trace) {
  const Hertz request_rate = served.rate;
  const Seconds pool_wait = served.queue;
  FIGURE(trace, request_latency, unqueued_latency + pool_wait,
         (Note{"End-to-end latency", "with queues", "", "serving.request_latency_s"}), unqueued_latency, pool_wait);
  FIGURE(
      trace, ttft, request_latency - (output - 1) * tpot,
      (Note{"Time to first token (TTFT)", "handling, prefill, transfer, first step and queues", "", "serving.ttft_s"}),
      request_latency, output, tpot);
  FIGURE(trace, rate, request_rate * output * (1 * kToken),
         (Note{"Throughput in output tokens", "", "", "serving.tokens_per_s"}), request_rate, output);
  FIGURE(trace, in_flight, request_rate * unqueued_latency,
         (Note{"Requests in flight", "both pools, Little's law", "", "serving.requests_in_flight"}), request_rate,
         unqueued_latency);
  FIGURE(trace, waiting, request_rate * pool_wait,
         (Note{"Requests waiting for a pool", "Little's law", "", "serving.requests_waiting"}), request_rate,
         pool_wait);
  performance.tpot = tpot;
  performance.ttft = ttft;
  performance.latency = request_latency;
  performance.queue = pool_wait;
  trace.Alias("queue", pool_wait, "pool_wait");
  performance.rate = rate;
  performance.in_flight = in_flight;
  performance.waiting = waiting;
  performance.saturated = served.saturated;
}

}  // namespace

ServingPerformance TwoPools(const Deployment& deployment, double requested_sequences, double max_sequences,
                            Trace& trace) {
  ServingPerformance performance;
  const ServingLoad& load = deployment.load;
  const auto output = static_cast<double>(load.output);
  Cluster prefill_cluster = *deployment.requested;
  ServingLoad prefill_load = load;
  const double decode_groups = AttentionGroups(deployment, trace);
  trace.Alias("decode_groups", decode_groups, "attention_groups");
  const bool is_batch = !load.concurrency && !load.requests_per_s;
  const double max_slots = is_batch ? BatchSlots(deployment, requested_sequences, max_sequences, trace) : max_sequences;
  Trace off = Trace::Off();
  const double slots = UsefulSlots(deployment, max_slots, !is_batch, std::nullopt, trace);
  const DecodeTimes full = [&] {
    const Trace::Scope scope(trace, "full");
    trace.Alias("running", slots, "slots");
    return DecodeOf(deployment, slots, trace);
  }();
  const Seconds full_step = full.token;
  trace.Alias("full_step", full_step, "mean_step");

  double prefill_groups = 1;
  BindDevice("cluster.device", trace);
  {
    const Trace::Scope scope(trace, "prefill_pool");
    const Deployment prefiller = PrefillerOf(deployment, prefill_cluster, prefill_load, trace);
    performance.prefill_shortfall = max(WeightsOf(prefiller, off) - UsableMemory(prefiller.device), 0 * kB);
    prefill_groups = PrefillGroups(prefiller, trace);
    trace.Alias("running", slots, "slots");
    const auto time_prefills = [&] { return TimePrefills(prefiller, slots, full, trace); };
    performance.prefill =
        deployment.memo == nullptr ? time_prefills() : deployment.memo->PoolPrefill(load, slots, time_prefills);
  }
  // From here on the shapes of the decode pool are the latest again.
  BindDegrees(load.mapping, "serving.mapping", trace);
  if (trace.on()) Deploy(deployment.model, *deployment.requested, load, trace);
  const PrefillTimes& prefill = performance.prefill;
  const Seconds shared_prefill = prefill.shared, first_prefill = prefill.first,
                request = TimeRequest(deployment, trace);
  const Seconds transfer_time = TransferTime(deployment, trace);
  FIGURE(trace, prefill_capacity, prefill_groups / shared_prefill,
         (Note{"Capacity of the prefill pool", "requests per second"}), prefill_groups, shared_prefill);
  FIGURE(trace, decode_capacity, decode_groups * slots / (output * full_step),
         (Note{"Capacity of the decode pool", "requests per second with all slots occupied"}), decode_groups, slots,
         output, full_step);
  performance.prefill_capacity = prefill_capacity;
  performance.decode_capacity = decode_capacity;
  performance.transfer = transfer_time;
  FIGURE(trace, handling, 1 * request, (Note{"Request handling", ""}), request);
  performance.handling = handling;
  FIGURE(trace, before, request + first_prefill + transfer_time,
         (Note{"Handling, prefill and transfer", "without waiting"}), request, first_prefill, transfer_time);
  const Pools pools{prefill_groups, decode_groups, slots, before, prefill_capacity, decode_capacity, shared_prefill};

  const double decoding = DecodingSequences(deployment, pools, full_step, trace);
  FIGURE(trace, running, max(1.0, decoding), (Note{"Sequences of a decode group", "at least one"}), decoding);
  performance.running = running;
  performance.decode = DecodeOf(deployment, running, trace);
  const Seconds mean_step = performance.decode.token;
  FIGURE(trace, tpot, 1 * mean_step,
         (Note{"Time per output token (TPOT)", "a decode step, without prefills in between", "", "serving.tpot_s"}),
         mean_step);
  FIGURE(trace, unqueued_latency, request + first_prefill + transfer_time + output * tpot,
         (Note{"Latency without waiting", ""}), request, first_prefill, transfer_time, output, tpot);
  FillPerformance(Serve(deployment, pools, running, unqueued_latency, tpot, trace), output, unqueued_latency, tpot,
                  performance, trace);
  return performance;
}

}  // namespace slipstick
