#include <algorithm>
#include <array>

#include "core/operators/efficiency.h"
#include "core/serving/memo.h"
#include "core/serving/request_flow.h"

namespace slipstick {
namespace {

double Groups(const Deployment& d) { return d.replicas * d.attention_dp; }

// Time in which each of `running` sequences is served once.
double CycleSeconds(const Deployment& d, double running) {
  Trace off = Trace::Off();
  const DecodeTimes decode = TimeDecode(d, running, off);
  const Seconds stall = TimeStall(d, running, decode, off);
  return (static_cast<double>(d.load.output) * decode.token + running * stall) / (1 * kS);
}

// Sequences that run when as many end as arrive: those that arrive in the time that they take, which is nearly linear in them.
double RunningSequences(const Deployment& d, double arrivals, double slots, double cycle_of_all) {
  double low = 1, low_excess = arrivals * CycleSeconds(d, 1) - 1;
  if (low_excess <= 0 || slots <= 1) return 1;
  double high = slots, high_excess = arrivals * cycle_of_all - slots;
  for (int i = 0; i < 4 && high - low > 0.02 * high; ++i) {
    const double middle = low + (high - low) * low_excess / (low_excess - high_excess);
    const double excess = arrivals * CycleSeconds(d, middle) - middle;
    if (std::abs(excess) < 0.002 * middle) return middle;
    (excess > 0 ? low : high) = middle;
    (excess > 0 ? low_excess : high_excess) = excess;
  }
  return low + (high - low) * low_excess / (low_excess - high_excess);
}

// Wait of an M/M/c queue over the service time (Sakasegawa 1977).
double WaitOverService(double utilisation, double servers) {
  return pow(utilisation, sqrt(2 * (servers + 1)) - 1) / (servers * (1 - utilisation));
}

}  // namespace

Flow OpenLoop(const Deployment& d, double arrivals, double most, Trace& trace) {
  const double groups = Groups(d), slots = max(1.0, most);
  const double per_group = arrivals / groups;
  trace.Input("arrivals", arrivals, "serving.requests_per_s");
  const double cycle_of_all = CycleSeconds(d, slots), highest = slots / cycle_of_all;
  if (per_group >= highest) {
    Flow flow = Saturated(d, slots, trace);
    flow.saturated = true;
    flow.utilisation = 1;
    return flow;
  }
  Flow flow;
  const double output = static_cast<double>(d.load.output);
  trace.Input("output", output, "serving.output");
  const double running = RunningSequences(d, per_group, slots, cycle_of_all);
  const DecodeTimes& decode = flow.decode = DecodeOf(d, running, trace);
  const PrefillTimes& prefill = flow.prefill = PrefillsOf(d, running, decode, trace);
  const Seconds mean_step = decode.token, shared_prefill = prefill.shared, first_prefill = prefill.first, request = d.engine.request;
  trace.Input("request", request, "serving.engine.request");
  const Hertz arrival_rate = per_group / (1 * kS);
  const Seconds prefill_stall = prefill.stall;
  FIGURE(trace, prefill_busy, min(0.999, arrival_rate * prefill_stall), (Note{"Share of time that prefills take", ""}), arrival_rate,
         prefill_stall);
  FIGURE(trace, tpot, mean_step / (1 - prefill_busy),
         (Note{"Time of an output token", "a decode step, stretched by the prefills that come in between", "", "serving.tpot_s"}),
         mean_step, prefill_busy);
  const double utilisation = per_group / highest;
  const double slot_wait = WaitOverService(min(0.999, utilisation), slots);
  FIGURE(trace, prefill_wait, prefill_busy / (2 * (1 - prefill_busy)) * shared_prefill,
         (Note{"Waiting for prefills before this one", "a queue of random arrivals and equal work (M/D/1)"}), prefill_busy, shared_prefill);
  FIGURE(trace, slot_time, slot_wait * (output * tpot + first_prefill),
         (Note{"Waiting for a slot", "a queue of random arrivals and as many servers as sequences fit (Sakasegawa 1977)"}), slot_wait,
         output, tpot, first_prefill);
  FIGURE(trace, ttft, request + first_prefill + mean_step / 2 + prefill_wait + slot_time,
         (Note{"Time to the first token", "handling, this prefill, half a step, and both queues", "", "serving.ttft_s"}), request,
         first_prefill, mean_step, prefill_wait, slot_time);
  FIGURE(trace, request_latency, ttft + (output - 1) * tpot, (Note{"Whole request", "", "", "serving.request_latency_s"}), ttft, output,
         tpot);
  const Hertz all_arrivals = arrivals / (1 * kS);
  const Tokens one = 1 * kToken;
  FIGURE(trace, rate, all_arrivals * output * one, (Note{"Output tokens a second", "what arrives is served", "", "serving.tokens_per_s"}),
         all_arrivals, output, one);
  flow.running = running;
  flow.ttft = ttft;
  flow.tpot = tpot;
  flow.latency = request_latency;
  flow.rate = rate;
  flow.utilisation = utilisation;
  return flow;
}

Flow TwoPools(const Deployment& d, double concurrency, double most, Trace& trace) {
  Flow flow;
  const double output = static_cast<double>(d.load.output), prompt = static_cast<double>(d.load.prompt);
  trace.Input("output", output, "serving.output");
  trace.Input("concurrency", concurrency, "serving.concurrency");
  const double decode_groups = Groups(d);
  // The prefill pool may be of other devices, split in another way.
  const Disaggregated& pools = *d.load.disaggregated;
  Cluster prefill_cluster = d.cluster;
  if (pools.prefill_device) prefill_cluster.device = *pools.prefill_device;
  ServingLoad prefill_load = d.load;
  if (pools.prefill_mapping) prefill_load.mapping = *pools.prefill_mapping;
  const Deployment prefiller = Deploy(d.model, prefill_cluster, prefill_load);
  const double prefill_groups =
      max(1.0, static_cast<double>(pools.prefill_devices) / prefiller.DevicesPerReplica()) * prefiller.attention_dp;
  Trace off = Trace::Off();
  flow.prefill_lack = max(WeightsOf(prefiller, off) - UsableMemory(prefiller.device), 0 * kB);
  FIGURE(trace, running, min(max(1.0, concurrency / decode_groups), max(1.0, most)), (Note{"Requests of one decode group", ""}),
         concurrency, decode_groups, most);
  flow.running = running;
  const DecodeTimes& decode = flow.decode = DecodeOf(d, running, trace);
  const auto time_prefills = [&] { return TimePrefills(prefiller, running, decode, trace); };
  const PrefillTimes& prefill = flow.prefill = d.memo == nullptr ? time_prefills() : d.memo->PoolPrefill(d.load, running, time_prefills);
  const Seconds mean_step = decode.token, shared_prefill = prefill.shared, first_prefill = prefill.first, request = d.engine.request;
  trace.Input("request", request, "serving.engine.request");
  const Bytes prompt_cache = CacheOfSequence(d, prompt);
  const BytesPerSecond link = d.hop;
  const Seconds start = 15 * kUs;
  FIGURE(trace, transfer_time, start + prompt_cache / (0.8 * link),
         (Note{"Cache to the decode pool", "every rank sends its own part; estimate"}), start, prompt_cache, link);
  const Seconds tpot_alone = mean_step;
  FIGURE(trace, tpot, tpot_alone, (Note{"Time of an output token", "a decode step; no prefill comes in between", "", "serving.tpot_s"}),
         tpot_alone);
  // One pool waits for the other: the slower sets the pace, and its queue holds the rest of the requests.
  FIGURE(trace, unhindered, request + first_prefill + transfer_time + output * tpot, (Note{"A request that waits for nothing", ""}),
         request, first_prefill, transfer_time, output, tpot);
  FIGURE(trace, prefill_pace, concurrency * shared_prefill / prefill_groups, (Note{"Time in which the prefill pool serves all once", ""}),
         concurrency, shared_prefill, prefill_groups);
  const double in_flight = max(1.0, concurrency / decode_groups);
  FIGURE(trace, decode_pace, output * tpot * in_flight / running, (Note{"Time in which the decode pool serves all once", ""}), output, tpot,
         in_flight, running);
  FIGURE(trace, request_latency, max(unhindered, prefill_pace, decode_pace),
         (Note{"Whole request", "requests in flight over the rate of the slower pool", "", "serving.request_latency_s"}), unhindered,
         prefill_pace, decode_pace);
  FIGURE(trace, ttft, request_latency - (output - 1) * tpot,
         (Note{"Time to the first token", "handling, prefill, transfer, first step and the queue", "", "serving.ttft_s"}), request_latency,
         output, tpot);
  const Tokens one = 1 * kToken;
  FIGURE(trace, rate, max(1.0, concurrency) * output * one / request_latency,
         (Note{"Output tokens a second", "Little's law", "", "serving.tokens_per_s"}), concurrency, output, one, request_latency);
  flow.tpot = tpot;
  flow.ttft = ttft;
  flow.latency = request_latency;
  flow.rate = rate;
  return flow;
}

}  // namespace slipstick
