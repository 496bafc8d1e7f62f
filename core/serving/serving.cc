#include "core/serving/serving.h"

#include <algorithm>
#include <cmath>

#include "core/operators/efficiency.h"
#include "core/serving/deployment.h"
#include "core/serving/memo.h"
#include "core/serving/remarks.h"
#include "core/serving/request_flow.h"
#include "core/serving/serving_memory.h"

namespace slipstick {
namespace {

std::vector<ServedOperator> OperatorsOf(const Parts& parts) {
  std::vector<ServedOperator> operators;
  for (const StepPart& part : parts) {
    operators.push_back({std::string(part.name), part.kernel.flops, part.kernel.bytes, part.kernel.time, part.kernel.bound, part.count});
  }
  return operators;
}

// Sequences of one attention group that the load asks for, memory apart.
double SequencesAsked(const Deployment& d, double fits) {
  if (d.load.batch.max) return max(1.0, fits);
  return max(1.0, static_cast<double>(d.load.batch.count) / d.attention_dp);
}

Flow FlowOf(const Deployment& d, double fits, double asked, Trace& trace) {
  if (d.load.disaggregated) return TwoPools(d, asked, fits, trace);
  if (d.load.requests_per_s) return OpenLoop(d, *d.load.requests_per_s, fits, trace);
  const double all_asked = asked * d.replicas * d.attention_dp;
  const double concurrency = d.load.concurrency ? static_cast<double>(*d.load.concurrency) : all_asked;
  const bool waits = d.load.concurrency || d.engine.scheduler.queues_static_batch;
  return ClosedLoop(d, concurrency, waits ? fits : asked, Rounds::kBenchmark, trace);
}

// As people say a number.
std::string Rounded(double value) {
  if (!(value > 0)) return "0";
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return NumberText(value >= 1000 ? std::round(value) : std::round(value / unit) * unit);
}

std::string Percent(double share) { return NumberText(std::floor(100 * share)) + " %"; }

std::string Gib(Bytes bytes) { return NumberText(std::round(In(bytes, kGiB) * 10) / 10) + " GiB"; }

// What a load is short of; "" where it fits.
std::string_view MisfitOf(const Deployment& d, const KvCacheBudget& budget, double fits, double asked) {
  if (!(budget.kv_cache > Bytes{})) return "memory";
  const bool waits = d.engine.scheduler.queues_static_batch || d.load.concurrency || d.load.requests_per_s;
  return fits < 1 || (!waits && asked > fits) ? "kv_cache" : "";
}

void FindInfeasible(const Deployment& d, const KvCacheBudget& budget, double fits, double asked, const Flow& flow, ServingReport& report) {
  const std::string reason(MisfitOf(d, budget, fits, asked));
  if (reason == "memory") {
    report.infeasible.push_back(
        {reason, "weights, activations and workspace take " + Gib(budget.weights + budget.activations + budget.workspace) + " of " +
                     Gib(budget.capacity) +
                     " a device, and the engine's rule leaves nothing for the cache; spread the model over more devices"});
  } else if (!reason.empty() && fits < 1) {
    report.infeasible.push_back({reason, "one request needs " + Gib(report.kv_cache) + " of cache a device, and " + Gib(budget.kv_cache) +
                                             " are left; the longest that fits holds " +
                                             NumberText(static_cast<double>(report.max_context)) + " tokens"});
  } else if (!reason.empty()) {
    report.infeasible.push_back({reason, "a batch of " + NumberText(asked * d.attention_dp) + " needs " + Gib(report.kv_cache) +
                                             " of cache a device, and " + Gib(budget.kv_cache) +
                                             " are left; the largest batch that fits is " + NumberText(fits * d.attention_dp)});
  }
  if (flow.prefill_lack > Bytes{}) {
    report.infeasible.push_back({"memory", "the weights take " + Gib(flow.prefill_lack) +
                                               " more than a device of the prefill pool has; spread the model over more of them"});
  }
  if (flow.saturated) {
    report.infeasible.push_back({"rate", "Overloaded: " + Rounded(*d.load.requests_per_s) + " requests/s arrive, capacity is " +
                                             Rounded(flow.rate.base() / static_cast<double>(d.load.output))});
  }
}

// What is true and easily misread.
void FindWarnings(const Deployment& d, const Flow& flow, ServingReport& report) {
  constexpr double kMostlyQueue = 0.8, kUnbalanced = 1.5;
  const double queued = flow.queue / flow.ttft;
  if (queued > kMostlyQueue && report.requests_waiting > 0) {
    report.warnings.push_back(Percent(queued) + " of the time to first token is waiting in a queue: " + Rounded(flow.waiting) + " of " +
                              Rounded(flow.waiting + flow.in_flight) + " requests wait, the others run");
  }
  if (!d.load.disaggregated) return;
  if (d.load.disaggregated->prefill_device) {
    report.warnings.emplace_back("serving: cost and energy count the prefill pool's devices as the cluster's");
  }
  const bool prefill_is_short = flow.prefill_capacity < flow.decode_capacity;
  const Hertz least = min(flow.prefill_capacity, flow.decode_capacity), most = max(flow.prefill_capacity, flow.decode_capacity);
  if (most / least < kUnbalanced) return;
  const std::string small = prefill_is_short ? "prefill" : "decode", large = prefill_is_short ? "decode" : "prefill";
  report.warnings.push_back("The pools are out of balance: the " + small + " pool can serve " + Rounded(least.base()) +
                            " requests/s, the " + large + " pool " + Rounded(most.base()) + "; the " + large + " pool idles at least " +
                            Percent(1 - least / most) + " of the time");
}

// What the devices draw: between idle and the design power, as busy as their busier half is.
void SetEnergy(const Deployment& d, const Flow& flow, double devices, ServingReport& report, Trace& trace) {
  const double output = static_cast<double>(d.load.output), running = flow.running;
  const FlopsPerSecond peak = PeakRate(d.device, d.activations);
  const BytesPerSecond bandwidth = d.device.memory.bandwidth;
  const auto activity = [&](const Parts& parts, Seconds time) {
    return min(1.0, max(parts.FlopsOf() / (peak * time), parts.BytesOf() / (bandwidth * time)));
  };
  const double decode_activity = activity(flow.decode.step.parts, flow.decode.step.time);
  const double prefill_activity = activity(flow.prefill.alone.parts, flow.prefill.alone.time);
  const Seconds decoding = output * flow.decode.token, prefilling = running * flow.prefill.shared;
  const Watts tdp = d.device.tdp, idle = d.device.idle;
  trace.Input("tdp", tdp, "cluster.device.tdp");
  trace.Input("idle", idle, "cluster.device.idle");
  FIGURE(trace, power, idle + (tdp - idle) * (decode_activity * decoding + prefill_activity * prefilling) / (decoding + prefilling),
         (Note{"Power of a device",
               "between idle and the design power, as its arithmetic or its memory is busy; other parts of the server apart"}),
         idle, tdp, decode_activity, decoding, prefill_activity, prefilling);
  const TokensPerSecond rate = flow.rate;
  FIGURE(trace, device_seconds, devices / rate, (Note{"Device time per output token"}), devices, rate);
  FIGURE(trace, device_energy, devices * power / rate,
         (Note{"Energy of the devices per output token", "", "", "serving.device_energy_j_per_token"}), devices, power, rate);
  report.device_seconds_per_token = device_seconds;
  report.energy_per_token = device_energy;
}

}  // namespace

ServingReport EvaluateServing(const Model& model, const Cluster& cluster, const ServingLoad& load, bool operators, Trace& trace,
                              ServingMemo* memo) {
  const Trace::Scope scope(trace, "serving");
  Deployment d = Deploy(model, cluster, load);
  d.memo = memo;
  if (memo != nullptr) memo->Enter(load);
  ServingReport report;
  const auto prompt = static_cast<double>(load.prompt), output = static_cast<double>(load.output);
  trace.Input("prompt", prompt, "serving.prompt");
  trace.Input("output", output, "serving.output");

  const KvCacheBudget budget = KvCacheBudgetOf(d, trace);
  d.device_cache = budget.kv_cache;
  const double fits = BatchThatFits(d, budget, prompt, output, trace);
  const double asked = SequencesAsked(d, fits);
  if (memo != nullptr) {
    if (const std::string_view misfit = MisfitOf(d, budget, fits, asked); !misfit.empty()) {
      report.infeasible.push_back({std::string(misfit), ""});
      return report;
    }
  }
  const Flow flow = FlowOf(d, fits, asked, trace);

  report.ttft = flow.ttft;
  report.tpot = flow.tpot;
  report.request_latency = flow.latency;
  report.tokens_per_s = flow.rate;
  const Seconds first_prefill = flow.prefill.first;
  FIGURE(trace, prefill, first_prefill, (Note{"Prefill of one prompt", "", "", "serving.prefill_s"}), first_prefill);
  report.prefill = prefill;
  const Seconds mean_step = flow.decode.step.time;
  FIGURE(trace, decode_step, mean_step, (Note{"Decode step", "mean over the output's growing context", "", "serving.decode_step_s"}),
         mean_step);
  report.decode_step = decode_step;
  if (memo == nullptr) {
    const StaticBatch batch = TimeStaticBatch(d, asked, budget, trace);
    report.static_ttft = batch.ttft;
    report.static_tpot = batch.tpot;
    report.static_latency = batch.latency;
  }

  const double devices = static_cast<double>(load.devices.value_or(cluster.devices));
  const TokensPerSecond rate = flow.rate;
  FIGURE(trace, rate_per_device, rate / devices, (Note{"Output tokens a second and device", "", "", "serving.tokens_per_s_per_device"}),
         rate, devices);
  report.tokens_per_s_per_device = rate_per_device;
  const Tokens token = 1 * kToken;
  const Seconds latency = flow.latency;
  FIGURE(trace, rate_per_user, output * token / latency,
         (Note{"Output tokens a second of one request", "first token included", "", "serving.tokens_per_s_per_user"}), output, token,
         latency);
  report.tokens_per_s_per_user = rate_per_user;
  const double output_rate = rate.base(), running = flow.running;
  FIGURE(trace, requests_per_s, output_rate / output, (Note{"Requests answered a second", "", "", "serving.requests_per_s"}), output_rate,
         output);
  report.requests_per_s = requests_per_s;
  report.requests_in_flight = flow.in_flight;
  report.requests_waiting = flow.waiting;
  report.batch = static_cast<Count>(std::llround(flow.running * d.attention_dp));
  report.utilisation = flow.utilisation;

  report.kv_cache_per_token = KvCachePerToken(d, trace);
  const Bytes kv_cache_of_sequence = KvCacheOfSequence(d, prompt + output);
  FIGURE(trace, kv_cache, running * kv_cache_of_sequence,
         (Note{"Cache of the batch", "on one device, at the full length of every sequence", "", "serving.kv_cache_bytes"}), running,
         kv_cache_of_sequence);
  report.kv_cache = kv_cache;
  report.state_per_sequence = StateOfSequence(d, trace);
  report.offloaded = flow.decode.offloaded;
  report.offload_transfer = flow.decode.transfer;
  report.offload_exposed = flow.decode.exposed;
  report.max_batch = static_cast<Count>(std::llround(fits * d.attention_dp));
  if (memo == nullptr) report.max_context = static_cast<Count>(ContextThatFits(d, budget, trace));
  const Bytes in_host = load.kv_offload ? max(kv_cache - budget.kv_cache, 0 * kB) : 0 * kB;
  FIGURE(trace, cache_held, kv_cache - in_host,
         (Note{"Cache in the memory of a device", "what the host holds left out", "", "serving.memory_bytes.kv_cache"}), kv_cache, in_host);
  const Bytes weights = budget.weights, activations = budget.activations, workspace = budget.workspace;
  FIGURE(trace, memory, weights + cache_held + activations + workspace,
         (Note{"Memory of the fullest device", "", "", "serving.memory_bytes.total"}), weights, cache_held, activations, workspace);
  report.memory = {weights, cache_held, activations, workspace};
  const Bytes visible = budget.capacity;
  FIGURE(trace, capacity, 1 * visible,
         (Note{"Memory that the device really offers", "what is left of the stated size to programs", "", "serving.memory_bytes.capacity"}),
         visible);
  report.capacity = capacity;
  report.prefill_bound = flow.prefill.alone.parts.BoundOf();
  report.decode_bound = flow.decode.step.parts.BoundOf();
  SetEnergy(d, flow, devices, report, trace);
  if (memo == nullptr) {
    FindWarnings(d, flow, report);
    for (std::string& text : SubstitutionsOf(d)) report.warnings.push_back(std::move(text));
    report.assumed = AssumedInputs(d);
  }
  FindInfeasible(d, budget, fits, asked, flow, report);
  if (operators) {
    report.prefill_operators = OperatorsOf(flow.prefill.alone.parts);
    report.decode_operators = OperatorsOf(flow.decode.step.parts);
  }
  return report;
}

}  // namespace slipstick
