// An open loop with several classes of requests in one attention group.
//
// The KV cache of a slot and the contexts of a decode step are means over the requests in flight (traffic_classes.cc).
// Prefills are a mean over the arrivals; a longer prefill is more often in progress on an arrival (random_arrivals.cc).
//
// The capacity is the throughput with every slot occupied, as in a closed loop (closed_loop.cc): during its own cycle,
// a request of class i meets others * T_i / sum(w T) other requests.
#include "core/serving/mixed_traffic.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/engine_step/expert_time.h"
#include "core/serving/energy.h"
#include "core/serving/load_model.h"
#include "core/serving/mixed_pools.h"
#include "core/serving/phase_time.h"
#include "core/serving/prompt_time.h"
#include "core/serving/random_arrivals.h"
#include "core/serving/serving_memory.h"
#include "core/serving/shortfalls.h"
#include "core/serving/traffic_classes.h"

namespace slipstick {
namespace {

class Mixture {
 public:
  Mixture(const Model& model, const Cluster& cluster, const ServingLoad& load, ServingMemo* memo)
      : load_(load), classes_(model, cluster, load, memo) {}

  ServingReport Run(bool searching) {
    const KvCacheBudget& budget = Budget();
    ServingReport report;
    const double fitting = FindSlots();
    BatchSize batch;
    batch.max_sequences = fitting;
    const Deployment& first = classes_.First();
    const std::string_view reason = LacksLinks(first) ? "network" : MemoryReason(first, budget, batch);
    if (searching && !reason.empty()) {
      report.infeasible.push_back({std::string(reason), ""});
      return report;
    }
    ServingPerformance performance;
    if (load_.disaggregated) {
      const PooledService service = ServeOnPools(classes_, slots_, performance);
      SetFigures(performance, service.cycles, report);
      SetMemory(performance, service.cycles, fitting, report);
      if (!searching) SetUseOfPools(classes_, service, performance, report);
    } else {
      const Cycles cycles = load_.requests_per_s ? Serve(performance) : Alone(performance);
      SetFigures(performance, cycles, report);
      SetMemory(performance, cycles, fitting, report);
      if (!searching) SetEnergy(performance, report);
    }
    // FindInfeasible divides this by the first class's output tokens to name requests per second.
    performance.rate = report.requests_per_s / (1 * kS) * Ratio(first.load.output) * (1 * kToken);
    FindInfeasible(first, budget, batch, performance, report);
    return report;
  }

 private:
  // Engines that take whole prompts reserve memory for the longest prompt.
  [[nodiscard]] const KvCacheBudget& Budget() const {
    std::size_t least = 0;
    for (std::size_t i = 1; i < classes_.size(); ++i) {
      if (classes_[i].budget.Room() < classes_[least].budget.Room()) least = i;
    }
    return classes_[least].budget;
  }
  [[nodiscard]] double Groups() const { return AttentionGroups(classes_.First()); }

  template <class Of>
  [[nodiscard]] auto Mean(const Of& of) const {
    return classes_.Mean(of);
  }

  // A request is handled before it needs a slot.
  [[nodiscard]] Seconds HeldIn(Seconds cycle) const {
    return cycle - Mean([&](std::size_t i) { return TimeRequest(classes_[i].deployment); });
  }

  // Decode steps that the prompts of each class meet.
  [[nodiscard]] std::vector<DecodeTimes> DecodesMet(double running) const {
    std::vector<DecodeTimes> decodes;
    for (std::size_t i = 0; i < classes_.size(); ++i) decodes.push_back(DecodeOf(classes_[i].met, running));
    return decodes;
  }
  [[nodiscard]] std::vector<PrefillTimes> PrefillsWith(double running, const std::vector<DecodeTimes>& decodes) const {
    std::vector<PrefillTimes> prefills;
    for (std::size_t i = 0; i < classes_.size(); ++i)
      prefills.push_back(PrefillsOf(classes_[i].met, running, decodes[i]));
    return prefills;
  }

  [[nodiscard]] PrefillsMet MetIn(const std::vector<PrefillTimes>& prefills) const {
    const auto alone = [&](std::size_t i) { return prefills[i].first; };
    const auto met = [&](std::size_t i) { return MeetsItsOwnKind(prefills[i]); };
    const Seconds mean = Mean(alone);
    return {mean,
            Mean([&](std::size_t i) { return alone(i) * (alone(i) / mean); }),
            Mean([&](std::size_t i) { return met(i).paced; }),
            {Mean([&](std::size_t i) { return met(i).stall.added; }),
             Mean([&](std::size_t i) { return met(i).stall.replaced; })}};
  }

  // Step time that randomly arriving prompts take, by class and in total.
  struct Arriving {
    std::vector<Seconds> service;
    ArrivingPrompts all;
  };
  [[nodiscard]] Arriving ArrivingWith(double running, const std::vector<DecodeTimes>& decodes) const {
    std::vector<ArrivingPrompts> of;
    for (std::size_t i = 0; i < classes_.size(); ++i) of.push_back(ArrivingAt(classes_[i].met, running, decodes[i]));
    Arriving arriving;
    for (const ArrivingPrompts& one : of) arriving.service.push_back(one.service);
    arriving.all.added = Mean([&](std::size_t i) { return of[i].added; });
    arriving.all.service = Mean([&](std::size_t i) { return of[i].service; });
    arriving.all.square_service = Mean([&](std::size_t i) { return of[i].square_service; });
    arriving.all.pass = Mean([&](std::size_t i) { return of[i].pass; });
    arriving.all.beside = max(0, FillingStep() - 1) * arriving.all.added;
    return arriving;
  }

  // Prompts of the mean length.
  [[nodiscard]] Ratio FillingStep() const {
    return FillStep(classes_.First(), Mean([&](std::size_t i) { return ComputedTokens(classes_[i].load).tokens; }));
  }

  // Cycles at an arrival rate; an arrival finds `found` sequences running.
  [[nodiscard]] Cycles CyclesAt(Hertz rate, double found) const {
    const double running = std::max(1.0, found);
    const std::vector<DecodeTimes> decodes = DecodesMet(running);
    const std::vector<PrefillTimes> prefills = PrefillsWith(running, decodes);
    const RandomArrivals all{rate, found}, others = OfOtherSlots(all, slots_);
    const ArrivingPrompts met = ArrivingWith(running, decodes).all;
    const double own =
        Mean([&](std::size_t i) { return OwnSequences(classes_[i].met, all, slots_, decodes[i], met).base(); });
    const std::vector<DecodeTimes> own_decodes = DecodesMet(own);
    const Arriving arriving = ArrivingWith(own, own_decodes);
    const Ratio longer = Mean([&](std::size_t i) { return own_decodes[i].token / decodes[i].token; });
    return classes_.Settled(running, [&](std::size_t i, DecodeTimes decode, double) {
      decode.token *= longer;
      return RandomCycle(classes_[i].deployment, others, decode, prefills[i].first, arriving.all, arriving.service[i]);
    });
  }

  // Cycles with `running` sequences at all times.
  [[nodiscard]] Cycles SteadyCycles(double running) const {
    if (load_.disaggregated) return DecodeCycles(classes_, running);
    const std::vector<PrefillTimes> prefills = PrefillsWith(running, DecodesMet(running));
    const PrefillsMet met = MetIn(prefills);
    Neighbors neighbors;
    neighbors.found = running - 1;
    return classes_.Settled(running, [&](std::size_t i, const DecodeTimes& decode, double relative) {
      neighbors.others = (running - 1) * relative;
      return CycleOf(classes_[i].deployment, neighbors, decode, prefills[i], met);
    });
  }

  // Number of slots that fit for the mix in flight with all slots occupied, each request counted at its full length.
  double FindSlots() {
    constexpr int kMostRounds = 20;
    HeldByRequest held;
    for (std::size_t i = 0; i < classes_.size(); ++i) held.at_end = max(held.at_end, classes_[i].held.at_end);
    const auto fitting = [&](const std::vector<double>& relative) {
      held.mean = Mean([&](std::size_t i) { return relative[i] * classes_[i].held.mean; });
      return SequencesThatFit(classes_.First(), Budget(), held).base();
    };
    double fits = fitting(classes_.RelativeOutputs());
    for (int round = 0; round < kMostRounds && fits >= 1; ++round) {
      const double now = fitting(SteadyCycles(fits).relative);
      if (now == fits) break;
      fits = now;
    }
    slots_ = std::max(1.0, fits);
    if (!load_.disaggregated) {
      const Ratio steps = Mean([&](std::size_t i) { return DecodeSteps(classes_[i].deployment); });
      slots_ = FilledSlots(classes_.First(), slots_, FillingStep(), steps);
    }
    return fits;
  }

  // Cycles if only one request runs at a time.
  Cycles Alone(ServingPerformance& performance) const {
    Cycles cycles = SteadyCycles(1);
    cycles.rate = 1 / cycles.mean;
    performance.running = 1;
    return cycles;
  }

  Cycles Serve(ServingPerformance& performance) const {
    const Hertz per_group = *load_.requests_per_s / Groups() / (1 * kS);
    Cycles full = SteadyCycles(slots_);
    const Hertz capacity = slots_ / HeldIn(full.mean);
    performance.saturated = per_group >= capacity;
    performance.utilization = min(1.0, per_group / capacity);
    if (performance.saturated) {
      performance.running = slots_;
      full.rate = Groups() * capacity;
      return full;
    }
    const double mean = SettledSequences(slots_, [&](double n) { return per_group * CyclesAt(per_group, n).mean; });
    Cycles cycles = CyclesAt(per_group, mean);
    cycles.rate = *load_.requests_per_s / (1 * kS);
    for (std::size_t i = 0; i < classes_.size(); ++i) cycles.of[i].tpot = min(cycles.of[i].tpot, full.of[i].tpot);
    performance.running = std::max(1.0, mean);
    performance.queue = WaitOverService(performance.utilization, slots_, cycles.variation) * HeldIn(cycles.mean);
    return cycles;
  }

  void SetFigures(ServingPerformance& performance, const Cycles& cycles, ServingReport& report) const {
    std::optional<Seconds> lowest;
    double several = 0;  // share of the requests with several output tokens
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const TrafficClass& one = classes_[i];
      const RequestCycle& cycle = cycles.of[i];
      const Ratio output(one.load.output);
      ServedClass served;
      served.of = one.of;
      served.ttft = cycle.alone + cycle.prefill_wait + performance.queue;
      served.tpot = cycle.tpot;
      served.latency = served.ttft + (output - 1) * served.tpot;
      served.in_flight = one.of.weight * cycles.rate * (served.latency - performance.queue);
      served.waiting = one.of.weight * cycles.rate * performance.queue;
      report.ttft += one.of.weight * served.ttft;
      report.request_latency += one.of.weight * served.latency;
      report.requests_in_flight += served.in_flight;
      report.requests_waiting += served.waiting;
      if (output > 1) {
        several += one.of.weight;
        report.tpot += one.of.weight * served.tpot;
        lowest = lowest ? min(*lowest, served.tpot) : served.tpot;
      }
      report.classes.push_back(served);
    }
    if (several > 0) report.tpot = report.tpot / several;
    if (!(several > 0)) report.tpot = report.classes.front().tpot;
    if (!load_.requests_per_s && lowest) report.tpot = *lowest;
    const double output = classes_.MeanOutput();
    report.requests_per_s = cycles.rate * (1 * kS);
    report.tokens_per_s = cycles.rate * output * (1 * kToken);
    report.tokens_per_s_per_device = report.tokens_per_s / Devices();
    report.tokens_per_s_per_user = 1 * kToken / report.tpot;
    report.batch = static_cast<Count>(std::llround(performance.running * classes_.First().mapping.attention_dp));
    report.utilization = performance.utilization;
  }

  [[nodiscard]] Ratio Devices() const { return Ratio(load_.devices.value_or(classes_.First().cluster.devices)); }

  void SetMemory(const ServingPerformance& performance, const Cycles& cycles, double fitting,
                 ServingReport& report) const {
    const KvCacheBudget& budget = Budget();
    report.kv_cache =
        performance.running * Mean([&](std::size_t i) { return cycles.relative[i] * classes_[i].held.mean; });
    report.kv_cache_per_token = KvCachePerToken(classes_.First());
    report.state_per_sequence = StateOfSequence(classes_.First());
    report.memory = {budget.weights, report.kv_cache, budget.activations, budget.workspace, budget.capacity};
    report.max_batch = TallyOf(Ratio(classes_.First().mapping.attention_dp * fitting));
    report.default_sequences = DefaultSequences(classes_.First());
    if (load_.host_experts) report.host_weights = HostWeights(classes_.First());
  }

  // Each sequence is charged its part of a step's energy.
  void SetEnergy(const ServingPerformance& performance, ServingReport& report) const {
    const double running = performance.running;
    const TokensPerSecond rate = report.tokens_per_s;
    Seconds all;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const TrafficClass& one = classes_[i];
      ServingPerformance alone;
      alone.decode = DecodeOf(one.deployment, running);
      alone.prefill = PrefillsOf(one.met, running, DecodeOf(one.met, running));
      alone.running = running;
      alone.rate = rate;
      const Seconds decoding = one.of.weight * (Ratio(one.load.output) * alone.decode.token / running),
                    prefilling = one.of.weight * alone.prefill.shared;
      report.energy_per_token += ((decoding + prefilling) / (1 * kS)) * UseOf(one.deployment, alone, Devices()).energy;
      report.classes[i].device_time = {prefilling / (1 * kS), decoding / (1 * kS)};
      all += decoding + prefilling;
    }
    for (ServedClass& one : report.classes) {
      one.device_time.prefill /= all / (1 * kS);
      one.device_time.decode /= all / (1 * kS);
    }
    report.energy_per_token = report.energy_per_token / (all / (1 * kS));
    report.device_seconds_per_token = Devices() / rate;
  }

  const ServingLoad& load_;
  TrafficClasses classes_;
  double slots_ = 1;
};

}  // namespace

ServingReport EvaluateMixture(const Model& model, const Cluster& cluster, const ServingLoad& load, ServingMemo* memo) {
  return Mixture(model, cluster, load, memo).Run(memo != nullptr);
}

}  // namespace slipstick
