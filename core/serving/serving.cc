#include "core/serving/serving.h"

#include <algorithm>
#include <cmath>

#include "core/engine_step/deployment.h"
#include "core/engine_step/image_encoder.h"
#include "core/engine_step/kernel_terms.h"
#include "core/engine_step/memo.h"
#include "core/engine_step/network_time.h"
#include "core/engine_step/prompt_tokens.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/serving/energy.h"
#include "core/serving/load_model.h"
#include "core/serving/remarks.h"
#include "core/serving/served_sessions.h"
#include "core/serving/serving_memory.h"
#include "core/serving/shortfalls.h"
#include "core/serving/static_batch.h"

namespace slipstick {
namespace {

std::vector<ServedOperator> OperatorsOf(const OperatorBreakdown& operators, const Device& device) {
  std::vector<ServedOperator> served;
  for (const OperatorTime& one : operators) {
    std::vector<Bytes> bytes = BytesByLevel(one.kernel, device);
    std::vector<Seconds> times = TimesByLevel(one.kernel, bytes, device);
    served.push_back({std::string(one.name), one.kernel.flops, one.kernel.bytes, std::move(bytes), std::move(times),
                      one.kernel.time, one.kernel.bound, one.count, WorkOf(one)});
  }
  return served;
}

TimeByBound PartsOf(const OperatorBreakdown& operators) {
  TimeByBound parts;
  for (const OperatorTime& one : operators) parts.Of(one.kernel.bound) += one.count * one.kernel.time;
  return parts;
}

double RequestedSequences(const Deployment& deployment, double max_sequences, Trace& trace) {
  if (deployment.load.batch.max && deployment.load.kv_offload) {
    const Trace::Scope scope(trace, "requested");
    trace.Alias("max_slots", max_sequences, "group_batch");
    const double slots = UsefulSlots(deployment, max_sequences, true, std::nullopt, trace);
    trace.Alias("requested_sequences", slots, "slots");
    return slots;
  }
  if (deployment.load.batch.max) {
    const double group_batch = max_sequences;
    FIGURE(trace, requested_sequences, max(1.0, group_batch),
           (Note{"Requested sequences per attention group", "as many as fit"}), group_batch);
    return requested_sequences;
  }
  const auto batch = static_cast<double>(deployment.load.batch.count);
  const double attention_dp = deployment.mapping.attention_dp;
  FIGURE(trace, requested_sequences, max(1.0, batch / attention_dp),
         (Note{"Requested sequences per attention group", "of the batch"}), batch, attention_dp);
  return requested_sequences;
}

// Requests in the system: those stated, or the batch of every replica.
double ConcurrencyOf(const Deployment& deployment, double requested_sequences, Trace& trace) {
  if (deployment.load.concurrency) {
    const auto stated = static_cast<double>(*deployment.load.concurrency);
    trace.Input("concurrency", stated, "serving.concurrency");
    return stated;
  }
  const double replicas = deployment.mapping.replicas, attention_dp = deployment.mapping.attention_dp;
  FIGURE(trace, concurrency, requested_sequences * replicas * attention_dp,
         (Note{"Requests in the system", "the batch of every replica"}), requested_sequences, replicas, attention_dp);
  return concurrency;
}

// `turns`: of sessions, in the system; they take the place of the requests.
ServingPerformance PerformanceOf(const Deployment& deployment, const BatchSize& batch, std::optional<double> turns,
                                 Trace& trace) {
  const ServingLoad& load = deployment.load;
  trace.Alias("max_slots", batch.max_sequences, "group_batch");
  if (load.disaggregated) return TwoPools(deployment, batch.requested_sequences, batch.max_sequences, trace);
  if (load.requests_per_s) return OpenLoop(deployment, *load.requests_per_s, batch.max_sequences, trace);
  const double concurrency = turns ? *turns : ConcurrencyOf(deployment, batch.requested_sequences, trace);
  const bool queues = QueuesRequests(deployment);
  const double max_slots = queues ? batch.max_sequences : batch.requested_sequences;
  if (!queues) trace.Alias("max_slots", max_slots, "requested_sequences");
  return ClosedLoop(deployment, concurrency, max_slots, Rounds::kBenchmark, trace);
}

void SetLatency(const ServingPerformance& performance, ServingReport& report, Trace& trace) {
  report.ttft = performance.ttft;
  report.tpot = performance.tpot;
  report.request_latency = performance.latency;
  report.tokens_per_s = performance.rate;
  const Seconds first_prefill = performance.prefill.first;
  FIGURE(trace, prefill, first_prefill, (Note{"Prefill of one prompt", "", "", "serving.prefill_s"}), first_prefill);
  report.prefill = prefill;
  const Seconds decode_step = performance.decode.step.time;
  FIGURE(trace, mean_decode_step, 1 * decode_step,
         (Note{"Decode step", "mean over the output's growing context", "", "serving.decode_step_s"}), decode_step);
  report.decode_step = mean_decode_step;
}

void SetRates(const Deployment& deployment, const ServingPerformance& performance, double devices,
              ServingReport& report, Trace& trace) {
  const TokensPerSecond rate = performance.rate;
  const double output = static_cast<double>(deployment.load.output);
  FIGURE(trace, rate_per_device, rate / devices,
         (Note{"Throughput per GPU (tokens/s)", "", "", "serving.tokens_per_s_per_device"}), rate, devices);
  report.tokens_per_s_per_device = rate_per_device;
  const Seconds request_latency = performance.latency;
  FIGURE(trace, rate_per_user, output * kToken / request_latency,
         (Note{"Interactivity (tokens/s/user)", "over the whole request, first token included", "",
               "serving.tokens_per_s_per_user"}),
         output, request_latency);
  report.tokens_per_s_per_user = rate_per_user;
  FIGURE(trace, requests_per_s, rate * (1 * kS) / (1 * kToken) / output,
         (Note{"Request throughput", "", "", "serving.requests_per_s"}), rate, output);
  report.requests_per_s = requests_per_s;
  report.requests_in_flight = performance.in_flight;
  report.requests_waiting = performance.waiting;
  report.batch = static_cast<Count>(std::llround(performance.running * deployment.mapping.attention_dp));
  report.utilization = performance.utilization;
}

// KV cache in device memory; the rest is in host memory, where the load offloads it.
Bytes DeviceCache(const Deployment& deployment, const KvCacheBudget& budget, Bytes kv_cache, Trace& trace) {
  if (!deployment.load.kv_offload) {
    trace.Alias("running_kv_cache", kv_cache, "kv_cache");
    return kv_cache;
  }
  const Bytes kv_cache_budget = budget.kv_cache;
  FIGURE(trace, in_host, max(kv_cache - kv_cache_budget, 0 * kv_cache),
         (Note{"KV cache in host memory", "beyond the device's budget"}), kv_cache, kv_cache_budget);
  FIGURE(trace, running_kv_cache, kv_cache - in_host, (Note{"KV cache of running requests in device memory", ""}),
         kv_cache, in_host);
  return running_kv_cache;
}

// With the prefixes that are kept.
Bytes HeldCache(const ServingLoad& load, Bytes running_kv_cache, const ServedPrefixes& prefixes, Trace& trace) {
  constexpr Note kNote{"KV cache in device memory", "without the part in host memory", "",
                       "serving.memory_bytes.kv_cache"};
  const Bytes kept_on_device = prefixes.device;
  if (!load.prefix_cache && !(load.idle_sessions.value_or(0) > 0)) {
    FIGURE(trace, kv_cache_held, 1 * running_kv_cache, kNote, running_kv_cache);
    return kv_cache_held;
  }
  FIGURE(trace, kv_cache_held, running_kv_cache + kept_on_device, kNote, running_kv_cache, kept_on_device);
  return kv_cache_held;
}

// Prefixes kept beside the running requests: a stated number, or those of the sessions that wait for them.
KeptPrefixes AllPrefixes(const Deployment& deployment, double running, Trace& trace) {
  const KeptPrefixes kept = KeptPrefixesOf(deployment, trace);
  if (!(deployment.load.idle_sessions.value_or(0) > 0)) return kept;
  const KeptPrefixes idle = IdlePrefixesOf(deployment, trace);
  const auto add = [&](Bytes stated, Bytes waiting, std::string_view stated_is, std::string_view waiting_is,
                       std::string_view path) {
    const bool has_stated = deployment.load.prefix_cache.has_value();
    trace.Alias("waiting", waiting, waiting_is);
    if (has_stated) {
      trace.Alias("stated", stated, stated_is);
      LISTED_FIGURE(trace, kept_prefixes, stated + running * waiting, (Note{"", "of waiting sessions too", "", path}),
                    stated, running, waiting);
      return kept_prefixes;
    }
    LISTED_FIGURE(trace, kept_prefixes, running * waiting, (Note{"", "of waiting sessions", "", path}), running,
                  waiting);
    return kept_prefixes;
  };
  KeptPrefixes all;
  all.device = add(kept.device, idle.device, "kept_on_device", "idle_on_device", "serving.prefix_cache.device_bytes");
  trace.Alias("kept_on_device", all.device, "kept_prefixes");
  if (!deployment.load.prefix_cache) return all;
  all.host = add(kept.host, idle.host, "kept_in_host", "idle_in_host", "serving.prefix_cache.host_bytes");
  all.ssd = add(kept.ssd, idle.ssd, "kept_on_ssd", "idle_on_ssd", "serving.prefix_cache.ssd_bytes");
  return all;
}

// KV cache and prefixes that come from the host.
void SetHostTraffic(const Deployment& deployment, const ServingPerformance& performance, ServingReport& report,
                    Trace& trace) {
  const DecodeTimes& decode = performance.decode;
  if (deployment.load.kv_offload) {
    const Bytes offloaded = decode.offloaded;
    const Seconds transfer = decode.transfer, exposed_transfer = decode.exposed;
    FIGURE(trace, offloaded_bytes, 1 * offloaded,
           (Note{"KV cache in host memory", "at the mean context", "", "serving.kv_offload.bytes"}), offloaded);
    FIGURE(trace, transfer_time, 1 * transfer,
           (Note{"Transfer time", "of a decode step", "", "serving.kv_offload.transfer_s"}), transfer);
    FIGURE(trace, exposed_time, 1 * exposed_transfer,
           (Note{"Exposed transfer time", "of a decode step", "", "serving.kv_offload.exposed_s"}), exposed_transfer);
    report.kv_offload = {offloaded_bytes, transfer_time, exposed_time};
  }
  const KeptPrefixes kept = AllPrefixes(deployment, performance.running, trace);
  const Seconds prefix_load = performance.prefill.alone.loaded, exposed_load = performance.prefill.alone.load_exposed;
  if (prefix_load > Seconds{}) {
    FIGURE(trace, load_time, 1 * prefix_load,
           (Note{"Load of a prompt's cached prefix", "", "", "serving.prefix_cache.load_s"}), prefix_load);
    FIGURE(trace, exposed_load_time, 1 * exposed_load, (Note{"Exposed load", "", "", "serving.prefix_cache.exposed_s"}),
           exposed_load);
  }
  report.prefix_cache = {prefix_load, exposed_load, kept.device, kept.host, kept.ssd};
}

// What the running requests hold; those of sessions share their system prompt.
Bytes RunningCache(const Deployment& deployment, const KvCacheBudget& budget, double running, Bytes kv_cache_of_request,
                   Trace& trace) {
  constexpr Note kNote{"KV cache per GPU, full batch", "what the running requests hold", "", "serving.kv_cache_bytes"};
  if (!deployment.load.sessions) {
    FIGURE(trace, kv_cache, running * kv_cache_of_request, kNote, running, kv_cache_of_request);
    return kv_cache;
  }
  const auto [system_kv_cache, session_room, own_kv_cache] = SessionMemoryOf(deployment, budget, trace);
  FIGURE(trace, kv_cache, system_kv_cache + running * own_kv_cache, kNote, system_kv_cache, running, own_kv_cache);
  return kv_cache;
}

// Max. context is left out where `searching`: no search uses it.
void SetMemory(const Deployment& deployment, const KvCacheBudget& budget, double max_sequences,
               const ServingPerformance& performance, bool searching, ServingReport& report, Trace& trace) {
  const ServingLoad& load = deployment.load;
  const double running = performance.running;
  report.kv_cache_per_token = KvCachePerToken(deployment, trace);
  const auto prompt = static_cast<double>(load.prompt), output = static_cast<double>(load.output);
  const Bytes kv_cache_of_request = KvCacheOfRequest(deployment, prompt, output, trace);
  const Bytes kv_cache = RunningCache(deployment, budget, running, kv_cache_of_request, trace);
  report.kv_cache = kv_cache;
  report.state_per_sequence = StateOfSequence(deployment, trace);
  SetHostTraffic(deployment, performance, report, trace);
  if (load.host_experts) report.host_weights = HostWeights(deployment, trace);
  if (load.images) {
    const Ratio tokens = ImageTokens(deployment.model, *load.images);
    report.images = {tokens, EncodeImages(deployment, tokens).time};
  }
  report.max_batch = static_cast<Count>(std::llround(max_sequences * deployment.mapping.attention_dp));
  if (!searching) report.max_context = static_cast<Count>(ContextThatFits(deployment, budget, trace));
  const Bytes kv_cache_held =
      HeldCache(load, DeviceCache(deployment, budget, kv_cache, trace), report.prefix_cache, trace);
  const Bytes weights = budget.weights, activations = budget.activations, workspace = budget.workspace;
  FIGURE(trace, memory, weights + kv_cache_held + activations + workspace,
         (Note{"Peak memory per GPU", "of the most loaded device, while the batch runs", "",
               "serving.memory_bytes.total"}),
         weights, kv_cache_held, activations, workspace);
  const Bytes visible = budget.capacity;
  FIGURE(trace, capacity, 1 * visible,
         (Note{"Usable device memory", "the part of the stated capacity available to programs", "",
               "serving.memory_bytes.capacity"}),
         visible);
  report.memory = {weights, kv_cache_held, activations, workspace, capacity};
  FIGURE(trace, headroom, capacity - memory,
         (Note{"Free memory per GPU", "of the most loaded device", "", "serving.memory_headroom_bytes"}), capacity,
         memory);
}

}  // namespace

ServingReport EvaluateServing(const Model& model, const Cluster& cluster, const ServingLoad& asked, bool operators,
                              Trace& trace, ServingMemo* memo) {
  const Trace::Scope scope(trace, "serving");
  std::optional<ServingLoad> of_sessions;  // with the hit rate that they settle at
  if (asked.sessions) of_sessions = asked;
  const ServingLoad& load = of_sessions ? *of_sessions : asked;
  BindDegrees(load.mapping, "serving.mapping", trace);
  Deployment deployment = Deploy(model, cluster, load, trace);
  deployment.memo = of_sessions ? nullptr : memo;  // it knows one hit rate
  const bool searching = memo != nullptr;
  if (searching) memo->Enter(load);
  ServingReport report;
  if (!searching && (operators || NamesAlgorithm(cluster.collectives))) deployment.log = &report.collectives;
  const auto prompt = static_cast<double>(load.prompt), output = static_cast<double>(load.output);
  const Bytes half = 2 * kB;
  CONSTANTS(trace, "formats", "an element of 16 bits", half);
  trace.Input("prompt", prompt, "serving.prompt");
  trace.Input("output", output, "serving.output");

  const KvCacheBudget budget = KvCacheBudgetOf(deployment, trace);
  deployment.kv_cache_budget = budget.kv_cache;
  if (load.kv_offload) {
    KvCacheBudget of_device = budget;
    of_device.host = {};
    Trace off = Trace::Off();
    deployment.device_slots = BatchThatFits(deployment, of_device, prompt, output, off);
  }
  BatchSize batch;
  batch.max_sequences = BatchThatFits(deployment, budget, prompt, output, trace);
  batch.requested_sequences = RequestedSequences(deployment, batch.max_sequences, trace);
  if (searching) {
    const std::string_view reason = LacksLinks(deployment) ? "network" : MemoryReason(deployment, budget, batch);
    if (!reason.empty()) {
      report.infeasible.push_back({std::string(reason), ""});
      return report;
    }
  }
  std::optional<double> turns;
  if (of_sessions) {
    const double replicas = deployment.mapping.replicas, attention_dp = deployment.mapping.attention_dp;
    if (!load.requests_per_s)
      deployment.sessions = load.concurrency ? static_cast<double>(*load.concurrency)
                                             : batch.requested_sequences * attention_dp * replicas;
    Trace off = Trace::Off();
    const auto serve = [&](double found) { return PerformanceOf(deployment, batch, found, off); };
    const SettledSessions settled = SettleSessions(deployment, budget, serve, *of_sessions);
    turns = settled.found;
    report.sessions = ExplainSessions(deployment, budget, settled, trace);
  }
  const ServingPerformance performance = PerformanceOf(deployment, batch, turns, trace);
  if (report.sessions) SetReentry(deployment, performance, *report.sessions, trace);

  SetLatency(performance, report, trace);
  if (!searching) report.latency_parts = LatencyPartsOf(performance, trace);
  const double devices = static_cast<double>(load.devices.value_or(cluster.devices));
  SetRates(deployment, performance, devices, report, trace);
  SetMemory(deployment, budget, batch.max_sequences, performance, searching, report, trace);
  report.bound = {performance.prefill.alone.operators.BoundOf(), performance.decode.step.operators.BoundOf()};
  SetEnergy(deployment, performance, devices, report, trace);
  if (!searching) {
    const StaticBatch together = TimeStaticBatch(deployment, batch.requested_sequences, budget, trace);
    report.static_ttft = together.ttft;
    report.static_tpot = together.tpot;
    report.static_latency = together.latency;
  }
  if (!searching) {
    FindWarnings(deployment, performance, report);
    WarnOfPrefixes(deployment, budget, performance.running, report);
    for (std::string& text : SubstitutionsOf(deployment)) report.warnings.push_back(std::move(text));
    report.assumed = AssumedInputs(deployment);
    const auto &prefill = performance.prefill.alone.operators, &decode = performance.decode.step.operators;
    TimeByBound& prefill_time = report.time_by_bound.prefill;
    TimeByBound& decode_time = report.time_by_bound.decode;
    prefill_time =
        SplitByBound(report.prefill, "prefill", PartsOf(prefill), {}, "serving.time_by_bound.prefill", trace);
    decode_time = SplitByBound(report.decode_step, "mean_decode_step", PartsOf(decode), {},
                               "serving.time_by_bound.decode", trace);
    report.network_by_level = {NetworkTimeByLevel(deployment, prefill, prefill_time.network),
                               NetworkTimeByLevel(deployment, decode, decode_time.network)};
  }
  FindInfeasible(deployment, budget, batch, performance, report);
  if (operators) {
    report.operators = {OperatorsOf(performance.prefill.alone.operators, deployment.device),
                        OperatorsOf(performance.decode.step.operators, deployment.device)};
  }
  return report;
}

}  // namespace slipstick
