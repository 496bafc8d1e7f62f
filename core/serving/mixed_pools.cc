// Each pool serves the sum of the classes' work, and all classes wait for it in one queue. With shares w of the
// arrivals, prefill times S, and times T in a slot of the decode pool:
//
//   capacity of the prefill pool = groups / sum(w S), of the decode pool = slots / sum(w T)
//
// The waits are those of a single class (two_pools.cc), times Allen and Cunneen's factor for varying service times.
#include "core/serving/mixed_pools.h"

#include <algorithm>

#include "core/serving/energy.h"
#include "core/serving/phase_time.h"
#include "core/serving/two_pools.h"

namespace slipstick {
namespace {

// Handling, prefill and transfer of a request of a class, without waits.
Seconds BeforeDecoding(const Deployment& deployment, const PrefillPool& prefill) {
  return TimeRequest(deployment) + prefill.times.first + max(prefill.send, HandOverTime(deployment));
}

}  // namespace

Cycles DecodeCycles(const TrafficClasses& classes, double running) {
  return classes.Settled(running, [&](std::size_t i, const DecodeTimes& decode, double) {
    RequestCycle cycle;
    cycle.tpot = decode.token;
    cycle.time = Ratio(classes[i].load.output) * decode.token;
    return cycle;
  });
}

PooledService ServeOnPools(const TrafficClasses& classes, double slots, ServingPerformance& performance) {
  PooledService service;
  std::vector<PrefillPool> pools;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const Deployment& met = classes[i].met;
    const PrefillPool& pool = pools.emplace_back(TimePrefillPool(met, slots, DecodeOf(met, slots)));
    service.prefill.push_back(pool.times);
    service.prefill_groups = pool.groups;
    performance.prefill_shortfall = max(performance.prefill_shortfall, pool.shortfall);
  }
  const auto shared = [&](std::size_t i) { return service.prefill[i].shared; };
  const Seconds prefill = classes.Mean(shared);
  const Ratio variation =
      classes.Mean([&](std::size_t i) { return (shared(i) / prefill) * (shared(i) / prefill); }) - 1;
  const double decode_groups = AttentionGroups(classes.First());
  const Hertz prefill_limit = performance.prefill_capacity = service.prefill_groups / prefill,
              decode_limit = performance.decode_capacity = decode_groups * slots / DecodeCycles(classes, slots).mean,
              link_limit = performance.link_capacity =
                  HandOverBetween(classes.First(), decode_groups,
                                  classes.Mean([&](std::size_t i) { return HandOverTime(classes[i].deployment); }),
                                  pools.front(), classes.Mean([&](std::size_t i) { return pools[i].send; }))
                      .capacity,
              capacity = min(prefill_limit, decode_limit, link_limit),
              arrivals = *classes.load().requests_per_s / (1 * kS);
  const Hertz offered = min(arrivals, prefill_limit, link_limit);
  performance.running = std::max(
      1.0, SettledSequences(slots, [&](double n) { return offered / decode_groups * DecodeCycles(classes, n).mean; }));
  service.cycles = DecodeCycles(classes, performance.running);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    RequestCycle& cycle = service.cycles.of[i];
    cycle.alone = BeforeDecoding(classes[i].deployment, pools[i]) + cycle.tpot;
  }
  performance.saturated = !(arrivals < capacity);
  performance.utilization = min(1.0, arrivals / capacity);
  service.cycles.rate = min(arrivals, capacity);
  if (performance.saturated) return service;
  performance.queue = WaitOverService(arrivals / prefill_limit, service.prefill_groups, variation) * prefill +
                      WaitOverService(arrivals / decode_limit, slots, service.cycles.variation) * service.cycles.mean;
  return service;
}

void SetUseOfPools(const TrafficClasses& classes, const PooledService& service, const ServingPerformance& performance,
                   ServingReport& report) {
  const Seconds prefill = classes.Mean([&](std::size_t i) { return service.prefill[i].shared; });
  const double mean_output = classes.MeanOutput();
  ByPass<PoolUse> pools;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const TrafficClass& one = classes[i];
    ServingPerformance alone = performance;
    alone.prefill = service.prefill[i];
    alone.decode = DecodeOf(one.deployment, performance.running);
    alone.rate = service.cycles.rate * Ratio(one.load.output) * (1 * kToken);
    const ByPass<PoolUse> use = UseOfPools(one.deployment, alone);
    const ByPass<double>& share = report.classes[i].device_time = {
        one.of.weight * (service.prefill[i].shared / prefill), one.of.weight * service.cycles.relative[i]};
    const double tokens = static_cast<double>(one.load.output) / mean_output;
    pools.prefill.device_seconds = tokens * use.prefill.device_seconds;
    pools.decode.device_seconds = tokens * use.decode.device_seconds;
    pools.prefill.energy += share.prefill * tokens * use.prefill.energy;
    pools.decode.energy += share.decode * tokens * use.decode.energy;
  }
  report.pools = pools;
  report.device_seconds_per_token = pools.prefill.device_seconds + pools.decode.device_seconds;
  report.energy_per_token = pools.prefill.energy + pools.decode.energy;
}

}  // namespace slipstick
