#include "core/serving/shortfalls.h"

#include <cmath>
#include <string>

#include "core/serving/prompt_time.h"

namespace slipstick {

bool QueuesRequests(const Deployment& deployment) {
  const ServingLoad& load = deployment.load;
  return deployment.engine.scheduler.queues_static_batch || load.concurrency || load.requests_per_s || load.sessions;
}

std::string_view MemoryReason(const Deployment& deployment, const KvCacheBudget& budget, const BatchSize& batch) {
  if (!(budget.kv_cache > Bytes{})) return "memory";
  const bool queues = QueuesRequests(deployment);
  return batch.max_sequences < 1 || (!queues && batch.requested_sequences > batch.max_sequences) ? "kv_cache" : "";
}

bool LacksLinks(const Deployment& deployment) {
  return deployment.mapping.DevicesPerReplica() > 1 && !deployment.cluster.has_links;
}

namespace {

// Rounds to three significant digits.
std::string Rounded(double value) {
  if (!(value > 0)) return "0";
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return value >= 1000 ? GroupedText(std::round(value)) : NumberText(std::round(value / unit) * unit);
}

std::string Percent(double fraction) { return NumberText(std::floor(100 * fraction)) + " %"; }

void FindPrefixShortfall(const ServingLoad& load, double running, const KvCacheBudget& budget, ServingReport& report) {
  const PrefixCache& tiers = *load.prefix_cache;
  const double prefixes = static_cast<double>(tiers.prefixes) + std::ceil(running * load.idle_sessions.value_or(0));
  const auto add = [&](std::string_view where, Bytes kept, Bytes capacity) {
    if (!(kept > capacity)) return;
    report.infeasible.push_back({"prefix_cache", "Out of memory: " + GroupedText(prefixes) + " cached prefixes need " +
                                                     GibText(kept) + " of " + std::string(where) + " per device, " +
                                                     GibText(capacity) + " are there"});
  };
  add("host memory", report.prefix_cache.host, tiers.host_capacity);
  add("SSD", report.prefix_cache.ssd, tiers.ssd_capacity);
  add("device memory", report.prefix_cache.device, budget.prefixes + budget.kv_cache);
}

std::string OfWaiting(Bytes waiting) {
  return waiting > Bytes{} ? " with " + GibText(waiting) + " for sessions that wait (serving.idle_sessions)" : "";
}

// Checks host memory per device. The KV cache takes no more of it than experts and prefixes leave (HostRoom).
void FindHostShortfall(const Deployment& deployment, ServingReport& report) {
  const Bytes experts = report.host_weights, prefixes = report.prefix_cache.host,
              host_memory = deployment.device.host.memory;
  if (!(experts + prefixes > host_memory)) return;
  const std::string_view what = prefixes == Bytes{}  ? "experts"
                                : experts == Bytes{} ? "cached prefixes"
                                                     : "experts and cached prefixes";
  report.infeasible.push_back({"host_memory", "Out of host memory: " + std::string(what) + " take " +
                                                  GibText(experts + prefixes) + " of " + GibText(host_memory) +
                                                  " per device"});
}

}  // namespace

void FindInfeasible(const Deployment& deployment, const KvCacheBudget& budget, const BatchSize& batch,
                    const ServingPerformance& performance, ServingReport& report) {
  const std::string reason(MemoryReason(deployment, budget, batch));
  const ServingLoad& load = deployment.load;
  const Count longest = load.sessions ? LongestPrompt(*load.sessions, load.output) : Count(load.prompt);
  const auto prompt = static_cast<double>(longest), output = static_cast<double>(load.output);
  const double attention_dp = deployment.mapping.attention_dp;
  if (reason == "memory") {
    const Bytes taken = budget.weights + budget.activations + budget.workspace;
    const std::string of_device = " of " + GibText(budget.capacity) + " per device";
    const std::string why =
        budget.weights > budget.capacity
            ? "the weights alone need " + GibText(budget.weights) + of_device
            : "weights, activations and workspace take " + GibText(taken) + of_device + ", and " +
                  (budget.prefixes > Bytes{} ? "cached prefixes leave" : "the engine's rule leaves") +
                  " nothing for the KV cache";
    // Embeddings and the LM head may stay in 16 bits: the weights are at least this share in 4 bits.
    const double now = BytesPerElement(deployment.load.precision.weights),
                 least = BytesPerElement(Precision::kInt4) / now;
    const bool helps = now > BytesPerElement(Precision::kQ4KM) && least * budget.weights < budget.capacity;
    const Bytes capacity = deployment.device.memory.capacity;
    const std::string more =
        budget.capacity < capacity && taken <= capacity
            ? "; or raise cluster.device.memory.usable, if your system can give more of the " + GibText(capacity)
            : "";
    report.infeasible.push_back({reason, "Out of memory: " + why + "; use " + (helps ? "4-bit weights, " : "") +
                                             "a smaller model or more devices" + more});
  } else if (!reason.empty() && HasStatePool(deployment) && batch.max_sequences == SequenceLimit(deployment, budget)) {
    report.infeasible.push_back(
        {reason, "Out of memory: the engine's pool of recurrent states, " + GibText(budget.states) +
                     " per device, holds those of " + GroupedText(batch.max_sequences * attention_dp) +
                     " requests at once; a larger serving.engine.memory.state_ratio holds more"});
  } else if (!reason.empty() && batch.max_sequences < 1) {
    report.infeasible.push_back({reason, "Out of memory: one request needs " +
                                             GibText(BudgetOfSequence(deployment, prompt + output)) +
                                             " of KV cache per device, " + GibText(budget.Room()) +
                                             " are left; the longest request that fits has " +
                                             GroupedText(static_cast<double>(report.max_context)) + " tokens"});
  } else if (!reason.empty()) {
    const Bytes waiting = performance.running * IdlePrefixesOf(deployment).device;
    report.infeasible.push_back(
        {reason, "Out of memory: a batch of " + GroupedText(batch.requested_sequences * attention_dp) + " needs " +
                     GibText(report.kv_cache + waiting) + " of KV cache per device" + OfWaiting(waiting) + ", " +
                     GibText(budget.Room()) + " are left; the largest batch that fits is " +
                     GroupedText(batch.max_sequences * attention_dp)});
  }
  if (LacksLinks(deployment)) {
    report.infeasible.push_back(
        {"network", "No links: a replica of " + NumberText(deployment.mapping.DevicesPerReplica()) +
                        " devices of a chip without links cannot exchange what they compute; give its network "
                        "area, edge and power, or serve with one device per replica"});
  }
  if (deployment.load.prefix_cache) FindPrefixShortfall(deployment.load, performance.running, budget, report);
  FindHostShortfall(deployment, report);
  if (performance.prefill_shortfall > Bytes{}) {
    report.infeasible.push_back(
        {"memory", "Out of memory: a device of the prefill pool lacks " + GibText(performance.prefill_shortfall) +
                       " for the weights and the KV cache of the prompts; spread the model over more of them"});
  }
  if (performance.saturated) {
    const std::string arrive = "Overloaded: " + Rounded(*deployment.load.requests_per_s) + " requests/s arrive, ",
                      served = Rounded(performance.rate.base() / static_cast<double>(deployment.load.output));
    report.infeasible.push_back({"rate", deployment.load.sessions
                                             ? arrive + served +
                                                   " are served, since so many sessions do not fit in the prefix "
                                                   "cache; a lower rate may be served in full"
                                             : arrive + "capacity is " + served});
  }
}

void WarnOfPrefixes(const Deployment& deployment, const KvCacheBudget& budget, double running, ServingReport& report) {
  const ServingLoad& load = deployment.load;
  if (load.sessions || !(load.prefix_hit > 0) || (load.prefix_cache && load.prefix_cache->prefixes > 0)) return;
  const double cached = ComputedTokens(load).cached;
  if (load.idle_sessions.value_or(0) > 0) {
    report.warnings.push_back("serving.prefix_hit " + NumberText(load.prefix_hit) +
                              " rests on prefixes that stay in memory: for each running request " +
                              NumberText(*load.idle_sessions) + " waiting (serving.idle_sessions) with " +
                              GroupedText(cached) + " tokens (hit rate × prompt), " +
                              GibText(report.prefix_cache.device) + " of device memory in all");
    return;
  }
  const Bytes prefix = KvCacheOfSequence(deployment, cached), left = max(Bytes{}, budget.kv_cache - report.kv_cache);
  report.warnings.push_back("serving.prefix_hit " + NumberText(load.prefix_hit) +
                            " rests on prefixes that stay in memory, and serving.prefix_cache.prefixes is 0: one of " +
                            GroupedText(cached) + " tokens (hit rate × prompt) takes " + GibText(prefix) +
                            " of KV cache per device, one for each of " + Rounded(running) + " running requests " +
                            GibText(running * prefix) + "; " + GibText(left) + " are left beside what runs");
}

void FindWarnings(const Deployment& deployment, const ServingPerformance& performance, ServingReport& report) {
  if (!report.infeasible.empty()) return;
  constexpr double kMostlyQueue = 0.8, kUnbalanced = 1.5;
  const double queued = performance.queue / performance.ttft;
  if (queued > kMostlyQueue && report.requests_waiting > 0) {
    report.warnings.push_back(
        Percent(queued) + " of the time to first token is spent in a queue: " + Rounded(performance.waiting) + " of " +
        Rounded(performance.waiting + performance.in_flight) + " requests wait, the others run");
  }
  if (!deployment.load.disaggregated) return;
  const Hertz prefill = performance.prefill_capacity, decode = performance.decode_capacity;
  if (performance.link_capacity < min(prefill, decode)) {
    report.warnings.push_back("The link between the pools limits them: it carries " +
                              Rounded(performance.link_capacity.base()) + " KV caches/s, the prefill pool can serve " +
                              Rounded(prefill.base()) + " requests/s, the decode pool " + Rounded(decode.base()));
    return;
  }
  const bool prefill_is_slower = prefill < decode;
  const Hertz lower = min(prefill, decode), higher = max(prefill, decode);
  if (higher / lower < kUnbalanced) return;
  const std::string slower = prefill_is_slower ? "prefill" : "decode",
                    faster = prefill_is_slower ? "decode" : "prefill";
  report.warnings.push_back("The pools are unbalanced: the " + slower + " pool can serve " + Rounded(lower.base()) +
                            " requests/s, the " + faster + " pool " + Rounded(higher.base()) + "; the " + faster +
                            " pool is idle at least " + Percent(1 - lower / higher) + " of the time");
}

}  // namespace slipstick
