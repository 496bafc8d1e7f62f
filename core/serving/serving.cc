#include "core/serving/serving.h"

#include <cmath>

#include "core/base/figure.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/expert_time.h"
#include "core/engine_step/image_encoder.h"
#include "core/engine_step/memo.h"
#include "core/operators/bound_device.h"
#include "core/operators/cache_levels.h"
#include "core/serving/energy.h"
#include "core/serving/explained_deployment.h"
#include "core/serving/load_model.h"
#include "core/serving/mixed_traffic.h"
#include "core/serving/phase_time.h"
#include "core/serving/remarks.h"
#include "core/serving/served_sessions.h"
#include "core/serving/serving_memory.h"
#include "core/serving/shortfalls.h"
#include "core/serving/two_pools.h"

namespace slipstick {
namespace {

// A batch whose requests start together: one prefill of all of them, then `output` decode steps.
struct StaticBatch {
  Seconds ttft, tpot, latency;
};

// Sequences that run at once: all, or, if the engine queues requests, as many as fit.
Ratio RunningOf(const Deployment& deployment, Ratio sequences, const KvCacheBudget& budget) {
  if (!deployment.engine.scheduler.queues_static_batch) return sequences;
  const Bytes each = KvCacheOfRequest(deployment, deployment.load.prompt, deployment.load.output);
  return Figure("Sequences that run at once", min(max(budget.kv_cache / each, 1.0), sequences),
                "those that fit; the others wait");
}

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

Ratio RequestedSequences(const Deployment& deployment, Ratio max_sequences) {
  constexpr std::string_view kTitle = "Requested sequences per attention group";
  const CountOrMax& batch = deployment.load.batch;
  if (batch.max && deployment.load.kv_offload) return UsefulSlots(deployment, max_sequences, true, std::nullopt);
  if (batch.max) return Figure(kTitle, max(1.0, max_sequences), "as many as fit");
  const Ratio count = deployment.InputAt("serving.batch", Ratio(batch.count));
  return Figure(kTitle, max(1.0, count / deployment.mapping.attention_dp), "of the batch");
}

// Requests in the system: the stated number, or the batch of every replica.
Ratio ConcurrencyOf(const Deployment& deployment, Ratio requested_sequences) {
  if (deployment.load.concurrency) return *deployment.load.concurrency;
  return Figure("Requests in the system", requested_sequences * AttentionGroups(deployment),
                "the batch of every replica");
}

// `turns`: of sessions; used in place of the requests.
ServingPerformance PerformanceOf(const Deployment& deployment, const BatchSize& batch,
                                 const std::optional<OtherTurns>& turns) {
  const ServingLoad& load = deployment.load;
  if (load.disaggregated) return TwoPools(deployment, batch.requested_sequences, batch.max_sequences);
  if (load.requests_per_s) return OpenLoop(deployment, *load.requests_per_s, batch.max_sequences);
  const Ratio concurrency = turns ? turns->found : ConcurrencyOf(deployment, batch.requested_sequences);
  return ClosedLoop(deployment, concurrency,
                    QueuesRequests(deployment) ? batch.max_sequences : batch.requested_sequences, Rounds::kBenchmark,
                    turns ? std::optional(turns->arrivals) : std::nullopt);
}

void SetLatency(const ServingPerformance& performance, ServingReport& report) {
  report.tpot = performance.tpot;
  report.ttft = performance.ttft;
  report.request_latency = performance.latency;
  report.prefill = Figure("Prefill of one prompt", performance.prefill.first);
  report.decode_step = Figure("Decode step", performance.decode.step.time, "mean over the output's growing context");
}

void SetRates(const Deployment& deployment, const ServingPerformance& performance, Ratio devices,
              ServingReport& report) {
  const TokensPerSecond rate = performance.rate;
  const Ratio output(deployment.load.output);
  report.tokens_per_s = rate;
  report.tokens_per_s_per_device = Figure("Throughput per GPU (tokens/s)", rate / devices);
  report.tokens_per_s_per_user = Figure("Interactivity (tokens/s/user)", 1 * kToken / performance.tpot);
  report.requests_per_s = Figure("Request throughput", rate * (1 * kS) / (1 * kToken) / output);
  report.requests_in_flight = performance.in_flight;
  report.requests_waiting = performance.waiting;
  report.batch = static_cast<Count>(std::llround(performance.running * deployment.mapping.attention_dp));
  report.utilization = performance.utilization;
}

// KV cache in device memory; the rest is in host memory, if the load offloads it.
Bytes DeviceCache(const Deployment& deployment, const KvCacheBudget& budget, Bytes kv_cache) {
  if (!deployment.load.kv_offload) return kv_cache;
  return Figure("KV cache of running requests in device memory",
                kv_cache - max(kv_cache - budget.kv_cache - budget.states, Bytes{}),
                "the host holds the part beyond the device's budget");
}

// Prefixes kept beside the running requests: a stated number, or the contexts of idle sessions.
KeptPrefixes AllPrefixes(const Deployment& deployment, Ratio running) {
  const KeptPrefixes kept = KeptPrefixesOf(deployment);
  if (!(deployment.load.idle_sessions.value_or(0) > 0)) return kept;
  const KeptPrefixes idle = IdlePrefixesOf(deployment);
  if (!deployment.load.prefix_cache)
    return {Figure("Prefixes kept in device memory", running * idle.device, "of waiting sessions"), {}, {}};
  constexpr std::string_view kToo = "of waiting sessions too";
  return {Figure("Prefixes kept in device memory", kept.device + running * idle.device, kToo),
          Figure("Prefixes kept in host memory", kept.host + running * idle.host, kToo),
          Figure("Prefixes kept on SSD", kept.ssd + running * idle.ssd, kToo)};
}

// Sets the KV cache and the prefixes that come from the host.
void SetHostTraffic(const Deployment& deployment, const ServingPerformance& performance, ServingReport& report) {
  const DecodeTimes& decode = performance.decode;
  if (deployment.load.kv_offload) {
    report.kv_offload = {Figure("KV cache in host memory", decode.offloaded, "at the mean context"),
                         Figure("Transfer time", decode.transfer, "of a decode step"),
                         Figure("Exposed transfer time", decode.exposed, "of a decode step")};
  }
  const PrefixLoad& load = performance.prefill.alone.load;
  const KeptPrefixes kept = AllPrefixes(deployment, performance.running);
  report.prefix_cache = {load.time, load.exposed, kept.device, kept.host, kept.ssd};
}

// KV cache of the running requests; requests of sessions share their system prompt.
Bytes RunningCache(const Deployment& deployment, const KvCacheBudget& budget, Ratio running) {
  constexpr std::string_view kTitle = "KV cache per GPU, full batch", kNote = "what the running requests hold";
  if (deployment.load.sessions) {
    const SessionMemory memory = SessionMemoryOf(deployment, budget);
    return Figure(kTitle, memory.system + running * memory.own, kNote);
  }
  const Bytes each = KvCacheOfRequest(deployment, deployment.load.prompt, deployment.load.output);
  return Figure(kTitle, running * each, kNote);
}

// When `searching`, max. context is left out: no search uses it.
void SetMemory(const Deployment& deployment, const KvCacheBudget& budget, const BatchSize& batch,
               const ServingPerformance& performance, bool searching, ServingReport& report) {
  const ServingLoad& load = deployment.load;
  report.kv_cache_per_token = KvCachePerToken(deployment);
  report.kv_cache = RunningCache(deployment, budget, performance.running);
  report.state_per_sequence = StateOfSequence(deployment);
  SetHostTraffic(deployment, performance, report);
  if (load.host_experts) report.host_weights = HostWeights(deployment);
  if (load.images) {
    const Ratio tokens = ImageTokens(deployment.model, *load.images);
    report.images = {tokens, EncodeImages(deployment, tokens).time};
  }
  report.max_batch =
      TallyOf(Figure("Maximum concurrent sequences", deployment.mapping.attention_dp * batch.max_sequences,
                     "whole sequences, each with what a running request holds; at most the engine's limit"));
  if (!searching) {
    report.max_context = TallyOf(ContextThatFits(deployment, budget));
    report.default_sequences = DefaultSequences(deployment);
  }
  const Bytes on_device = DeviceCache(deployment, budget, report.kv_cache);
  const bool keeps = load.prefix_cache || load.idle_sessions.value_or(0) > 0;
  ServingMemory& memory = report.memory;
  memory.weights = budget.weights;
  memory.activations = budget.activations;
  memory.workspace = budget.workspace;
  memory.kv_cache = Figure("KV cache in device memory", keeps ? on_device + report.prefix_cache.device : on_device,
                           "without the part in host memory");
  memory.capacity =
      Figure("Usable device memory", budget.capacity, "the part of the stated capacity available to programs");
}

void SetEnergy(const Deployment& deployment, const ServingPerformance& performance, Ratio devices,
               ServingReport& report) {
  PoolUse use;
  if (deployment.load.disaggregated) {
    report.pools = UseOfPools(deployment, performance);
    const auto& [prefill, decode] = *report.pools;
    use = {Figure("Device time per output token", prefill.device_seconds + decode.device_seconds, "both pools"),
           Figure("Energy per output token, devices", prefill.energy + decode.energy, "both pools")};
  } else {
    use = UseOf(deployment, performance, devices);
  }
  report.device_seconds_per_token = use.device_seconds;
  report.energy_per_token = use.energy;
}

// Sets the texts of a report; no search needs them.
void SetTexts(const Deployment& deployment, const KvCacheBudget& budget, const ServingPerformance& performance,
              ServingReport& report) {
  FindWarnings(deployment, performance, report);
  WarnOfPrefixes(deployment, budget, performance.running, report);
  for (std::string& text : SubstitutionsOf(deployment)) report.warnings.push_back(std::move(text));
  report.assumed = AssumedInputs(deployment);
}

void SetTimeByBound(const Deployment& deployment, const ServingPerformance& performance, ServingReport& report) {
  const auto &prefill = performance.prefill.alone.operators, &decode = performance.decode.step.operators;
  ByPass<TimeByBound>& times = report.time_by_bound;
  times.prefill =
      SplitByBound(report.prefill, PartsOf(prefill), {}, "serving.time_by_bound.prefill", deployment.tape());
  times.decode =
      SplitByBound(report.decode_step, PartsOf(decode), {}, "serving.time_by_bound.decode", deployment.tape());
  const Deployment& plain = PlainOf(deployment);
  report.network_by_level = {NetworkTimeByLevel(plain, prefill, times.prefill.network),
                             NetworkTimeByLevel(plain, decode, times.decode.network)};
}

KvCacheBudget PlainOf(const KvCacheBudget& budget) {
  return {PlainOf(budget.capacity), PlainOf(budget.weights), PlainOf(budget.activations), PlainOf(budget.workspace),
          PlainOf(budget.kv_cache), PlainOf(budget.states),  PlainOf(budget.host),        PlainOf(budget.prefixes)};
}

// The sequences that fit into the KV-cache budget, and those that are requested.
BatchSize SizeBatch(ExplainedDeployment& served, const KvCacheBudget& budget) {
  const Deployment& deployment = *served;
  served.Set(&Deployment::kv_cache_budget, budget.kv_cache);
  const ServingLoad& load = deployment.load;
  if (load.kv_offload) {
    KvCacheBudget of_device = PlainOf(budget);
    of_device.host = {};
    const Deployment& plain = PlainOf(deployment);
    served.Set(&Deployment::device_slots, BatchThatFits(plain, of_device, plain.load.prompt, plain.load.output));
  }
  BatchSize batch;
  batch.max_sequences = BatchThatFits(deployment, budget, load.prompt, load.output);
  batch.requested_sequences = RequestedSequences(deployment, batch.max_sequences);
  return batch;
}

// Iterates until the prefix hit rate agrees with the traffic that it causes, and writes it into `load`, which must be
// the deployment's own. Returns the turns that other sessions send.
OtherTurns Settle(ExplainedDeployment& served, const KvCacheBudget& budget, const BatchSize& batch, ServingLoad& load,
                  ServingReport& report) {
  const Deployment& deployment = *served;
  if (!load.requests_per_s) {
    served.Set(&Deployment::sessions, deployment.load.concurrency
                                          ? Ratio(*deployment.load.concurrency)
                                          : batch.requested_sequences * AttentionGroups(deployment));
  }
  const Deployment& plain = PlainOf(deployment);
  const BatchSize bare{PlainOf(batch.max_sequences), PlainOf(batch.requested_sequences)};
  const auto serve = [&](const OtherTurns& turns) { return PerformanceOf(plain, bare, turns); };
  const SettledSessions settled = SettleSessions(plain, PlainOf(budget), serve, load);
  const ExplainedSessions explained = ExplainSessions(deployment, budget, settled);
  served.Explain(explained.hits);
  report.sessions = explained.served;
  return explained.turns;
}

}  // namespace

ServingReport EvaluateServing(const Model& model, const Cluster& cluster, const ServingLoad& asked, bool operators,
                              Tape* tape, ServingMemo* memo) {
  if (!asked.mixture.empty()) return EvaluateMixture(model, cluster, asked, memo);
  std::optional<ServingLoad> of_sessions;  // with the hit rate at which the sessions settle
  if (asked.sessions) of_sessions = asked;
  const ServingLoad& load = of_sessions ? *of_sessions : asked;
  const bool searching = memo != nullptr;
  if (searching) memo->Enter(load);
  ServingReport report;
  ExplainedDeployment explained(model, cluster, load, tape);
  explained.Share(of_sessions ? nullptr : memo,  // the memo is for one hit rate
                  !searching && (operators || NamesAlgorithm(cluster.collectives)) ? &report.collectives : nullptr);
  const Deployment& deployment = *explained;
  const KvCacheBudget budget = KvCacheBudgetOf(deployment);
  const BatchSize batch = SizeBatch(explained, budget);
  if (searching) {
    const std::string_view reason = LacksLinks(deployment) ? "network" : MemoryReason(deployment, budget, batch);
    if (!reason.empty()) {
      report.infeasible.push_back({std::string(reason), ""});
      return report;
    }
  }
  std::optional<OtherTurns> turns;
  if (of_sessions) turns = Settle(explained, budget, batch, *of_sessions, report);
  const ServingPerformance performance = PerformanceOf(deployment, batch, turns);
  SetLatency(performance, report);
  if (report.sessions) report.sessions->reentry_ttft = ReentryTime(deployment, performance);
  if (!searching) report.latency_parts = LatencyPartsOf(deployment, performance);
  Ratio devices(load.devices.value_or(cluster.devices));
  devices = deployment.InputAt(load.devices ? "serving.devices" : "cluster.devices", devices);
  SetRates(deployment, performance, devices, report);
  SetMemory(deployment, budget, batch, performance, searching, report);
  report.bound = {performance.prefill.alone.operators.BoundOf(), performance.decode.step.operators.BoundOf()};
  SetEnergy(deployment, performance, devices, report);
  const Deployment& plain = PlainOf(deployment);
  FindInfeasible(plain, budget, batch, performance, report);
  if (!searching) {
    const StaticBatch together = TimeStaticBatch(deployment, batch.requested_sequences, budget);
    report.static_ttft = together.ttft;
    report.static_tpot = together.tpot;
    report.static_latency = together.latency;
    SetTexts(plain, budget, performance, report);
    SetTimeByBound(deployment, performance, report);
  }
  if (operators) {
    report.operators = {OperatorsOf(performance.prefill.alone.operators, plain.device),
                        OperatorsOf(performance.decode.step.operators, plain.device)};
  }
  return report;
}

}  // namespace slipstick
