// An open loop with several classes of requests in one attention group.
//
// The number of requests of a class i in flight is proportional to its share w of the arrivals times its time in a
// slot, w T: the mix in flight differs from the mix that arrives. The KV cache of a slot and the contexts of a decode
// step are means over the requests in flight. Prefills are a mean over the arrivals; a longer prefill is more often in
// progress on an arrival (random_arrivals.cc). A request always takes part in its own steps:
//
//   r_i = w_i T_i / sum(w T)                    share of those in flight
//   step_i = step + (own_i - step) / running    own_i: of a step in which all are as long as it
//
// The capacity is that of a closed loop with every slot occupied (closed_loop.cc), where others_i = others T_i / sum(w
// T) come during its own cycle.
#include "core/serving/mixed_traffic.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>

#include "core/engine_step/expert_time.h"
#include "core/engine_step/memo.h"
#include "core/engine_step/prompt_tokens.h"
#include "core/serving/energy.h"
#include "core/serving/load_model.h"
#include "core/serving/phase_time.h"
#include "core/serving/random_arrivals.h"
#include "core/serving/serving_memory.h"
#include "core/serving/shortfalls.h"

namespace slipstick {
namespace {

ServingLoad LoadOf(const ServingLoad& all, Count prompt, Count output) {
  ServingLoad load = all;
  load.mixture.clear();
  load.prompt = prompt;
  load.output = output;
  return load;
}

// A class by itself (`load`), and its prompts in steps shared by all, with requests of mean output (`load_met`).
struct Class {
  Class(const Model& model, const Cluster& cluster, const ServingLoad& all, const RequestClass& one)
      : of(one),
        load(LoadOf(all, one.prompt_tokens, one.output_tokens)),
        load_met(LoadOf(all, one.prompt_tokens, all.output)),
        deployment(Deploy(model, cluster, load)),
        met(Deploy(model, cluster, load_met)),
        budget(KvCacheBudgetOf(deployment)),
        held(HeldByRequestOf(deployment, load.prompt, load.output)) {}

  RequestClass of;
  ServingLoad load, load_met;
  Deployment deployment, met;
  KvCacheBudget budget;
  HeldByRequest held;
};

// Step and prefill times of one class in a group.
struct ClassTimes {
  Seconds token;  // of steps in which all sequences have the length of this class
  PrefillTimes prefill;
};

// Cycles of the classes in a group with a given number of running sequences.
struct Cycles {
  std::vector<RequestCycle> of;
  std::vector<double> relative;  // cycle over the mean cycle, i.e. share in flight over share of arrivals
  Seconds mean;
  double variation = 0;  // squared coefficient of variation
};

class Mixture {
 public:
  Mixture(const Model& model, const Cluster& cluster, const ServingLoad& load, ServingMemo* memo) : load_(load) {
    for (const RequestClass& one : load.mixture) classes_.emplace_back(model, cluster, load, one);
    if (memo == nullptr) return;
    std::vector<ServingMemo>& memos = memo->OfClasses(2 * classes_.size());
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      classes_[i].deployment.memo = &memos[2 * i];
      classes_[i].met.memo = &memos[2 * i + 1];
      memos[2 * i].Enter(classes_[i].load);
      memos[2 * i + 1].Enter(classes_[i].load_met);
    }
  }

  ServingReport Run(bool searching) {
    const KvCacheBudget& budget = Budget();
    ServingReport report;
    const double fitting = FindSlots();
    BatchSize batch;
    batch.max_sequences = fitting;
    const std::string_view reason = LacksLinks(First()) ? "network" : MemoryReason(First(), budget, batch);
    if (searching && !reason.empty()) {
      report.infeasible.push_back({std::string(reason), ""});
      return report;
    }
    ServingPerformance performance;
    const Cycles cycles = load_.requests_per_s ? Serve(performance) : Alone(performance);
    SetFigures(performance, cycles, report);
    SetMemory(performance, cycles, fitting, report);
    if (!searching) SetEnergy(performance, report);
    FindInfeasible(First(), budget, batch, performance, report);
    return report;
  }

 private:
  [[nodiscard]] const Deployment& First() const { return classes_.front().deployment; }
  // Engines that take whole prompts reserve memory for the longest prompt.
  [[nodiscard]] const KvCacheBudget& Budget() const {
    const auto least = std::min_element(classes_.begin(), classes_.end(), [](const Class& a, const Class& b) {
      return a.budget.Room() < b.budget.Room();
    });
    return least->budget;
  }
  [[nodiscard]] double Groups() const { return AttentionGroups(First()); }

  // Weighted mean over the requests.
  template <class Of>
  [[nodiscard]] auto Mean(const Of& of) const {
    decltype(of(0)) mean{};
    for (std::size_t i = 0; i < classes_.size(); ++i) mean += classes_[i].of.weight * of(i);
    return mean;
  }

  // A request is handled before it needs a slot.
  [[nodiscard]] Seconds HeldIn(Seconds cycle) const {
    return cycle - Mean([&](std::size_t i) { return TimeRequest(classes_[i].deployment); });
  }
  [[nodiscard]] double MeanOutput() const {
    return Mean([&](std::size_t i) { return static_cast<double>(classes_[i].load.output); });
  }
  [[nodiscard]] std::vector<double> RelativeOutputs() const {
    std::vector<double> relative;
    for (const Class& one : classes_) relative.push_back(static_cast<double>(one.load.output) / MeanOutput());
    return relative;
  }

  [[nodiscard]] std::vector<ClassTimes> TimesWith(double running) const {
    std::vector<ClassTimes> times;
    for (const Class& one : classes_) {
      times.push_back(
          {DecodeOf(one.deployment, running).token, PrefillsOf(one.met, running, DecodeOf(one.met, running))});
    }
    return times;
  }

  [[nodiscard]] PrefillsMet MetIn(const std::vector<ClassTimes>& times) const {
    const auto alone = [&](std::size_t i) { return times[i].prefill.first; };
    const auto met = [&](std::size_t i) { return MeetsItsOwnKind(times[i].prefill); };
    const Seconds mean = Mean(alone);
    return {mean,
            Mean([&](std::size_t i) { return alone(i) * (alone(i) / mean); }),
            Mean([&](std::size_t i) { return met(i).paced; }),
            {Mean([&](std::size_t i) { return met(i).stall.added; }),
             Mean([&](std::size_t i) { return met(i).stall.replaced; })}};
  }

  // `cycle_of(i, step, relative)`: cycle of class i when its decode steps take `step`; `relative` is its cycle over the
  // mean cycle.
  template <class CycleOfClass>
  [[nodiscard]] Cycles Settled(double running, const std::vector<ClassTimes>& times,
                               const CycleOfClass& cycle_of) const {
    constexpr int kMostRounds = 60;
    const std::size_t count = classes_.size();
    Cycles cycles;
    cycles.of.resize(count);
    std::vector<double>& relative = cycles.relative = RelativeOutputs();
    for (int round = 0; round < kMostRounds; ++round) {
      const Seconds step = Mean([&](std::size_t i) { return relative[i] * times[i].token; });
      for (std::size_t i = 0; i < count; ++i) {
        DecodeTimes decode;
        decode.token = step + (times[i].token - step) / running;
        cycles.of[i] = cycle_of(i, decode, relative[i]);
      }
      cycles.mean = Mean([&](std::size_t i) { return cycles.of[i].time; });
      double change = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const double now = cycles.of[i].time / cycles.mean;
        change = std::max(change, std::abs(now - relative[i]));
        relative[i] = now;
      }
      if (change < kRoundingGuard) break;
    }
    cycles.variation = Mean([&](std::size_t i) { return relative[i] * relative[i]; }) - 1;
    return cycles;
  }

  // Step time that randomly arriving prompts take, by class and in total.
  struct Arriving {
    std::vector<Seconds> service;
    ArrivingPrompts all;
  };
  [[nodiscard]] Arriving ArrivingWith(double running) const {
    std::vector<ArrivingPrompts> of;
    for (const Class& one : classes_) of.push_back(ArrivingAt(one.met, running, DecodeOf(one.met, running)));
    Arriving arriving;
    for (const ArrivingPrompts& one : of) arriving.service.push_back(one.service);
    arriving.all.added = Mean([&](std::size_t i) { return of[i].added; });
    arriving.all.service = Mean([&](std::size_t i) { return of[i].service; });
    arriving.all.square_service = Mean([&](std::size_t i) { return of[i].square_service; });
    arriving.all.pass = Mean([&](std::size_t i) { return of[i].pass; });
    const double tokens = Mean([&](std::size_t i) { return ComputedTokens(classes_[i].load).tokens.base(); });
    arriving.all.full_step = std::max(1.0, (StepTokens(First()) / tokens).base()) * arriving.all.added;
    return arriving;
  }

  // Cycles at an arrival rate; an arrival finds `found` sequences running.
  [[nodiscard]] Cycles CyclesAt(Hertz rate, double found) const {
    const double running = std::max(1.0, found);
    const std::vector<ClassTimes> times = TimesWith(running);
    const Arriving arriving = ArrivingWith(running);
    const RandomArrivals others = OfOtherSlots({rate, found}, slots_);
    return Settled(running, times, [&](std::size_t i, const DecodeTimes& decode, double) {
      return RandomCycle(classes_[i].deployment, others, decode, times[i].prefill.first, arriving.all,
                         arriving.service[i]);
    });
  }

  // Cycles with `running` sequences at all times.
  [[nodiscard]] Cycles SteadyCycles(double running) const {
    const std::vector<ClassTimes> times = TimesWith(running);
    const PrefillsMet met = MetIn(times);
    Neighbors neighbors;
    neighbors.found = running - 1;
    return Settled(running, times, [&](std::size_t i, const DecodeTimes& decode, double relative) {
      neighbors.others = (running - 1) * relative;
      return CycleOf(classes_[i].deployment, neighbors, decode, times[i].prefill, met);
    });
  }

  // Number of slots that fit for the mix in flight with all slots occupied, each request counted at its full length.
  double FindSlots() {
    constexpr int kMostRounds = 20;
    const Bytes room = Budget().Room();
    HeldByRequest held;
    for (const Class& one : classes_) held.at_end = max(held.at_end, one.held.at_end);
    const auto fitting = [&](const std::vector<double>& relative) {
      held.mean = Mean([&](std::size_t i) { return relative[i] * classes_[i].held.mean; });
      return SequencesThatFit(First(), room, held).base();
    };
    double fits = fitting(RelativeOutputs());
    for (int round = 0; round < kMostRounds && fits >= 1; ++round) {
      const double now = fitting(SteadyCycles(fits).relative);
      if (now == fits) break;
      fits = now;
    }
    slots_ = std::max(1.0, fits);
    return fits;
  }

  // Cycles if only one request runs at a time.
  Cycles Alone(ServingPerformance& performance) const {
    const Cycles cycles = SteadyCycles(1);
    performance.running = 1;
    return cycles;
  }

  Cycles Serve(ServingPerformance& performance) const {
    const Hertz per_group = *load_.requests_per_s / Groups() / (1 * kS);
    const Cycles full = SteadyCycles(slots_);
    const Hertz capacity = slots_ / HeldIn(full.mean);
    performance.saturated = per_group >= capacity;
    performance.utilization = min(1.0, per_group / capacity);
    if (performance.saturated) {
      performance.running = slots_;
      return full;
    }
    const double mean = SettledSequences(slots_, [&](double n) { return per_group * CyclesAt(per_group, n).mean; });
    Cycles cycles = CyclesAt(per_group, mean);
    for (std::size_t i = 0; i < classes_.size(); ++i) cycles.of[i].tpot = min(cycles.of[i].tpot, full.of[i].tpot);
    performance.running = std::max(1.0, mean);
    performance.queue = WaitOverService(performance.utilization, slots_, cycles.variation) * HeldIn(cycles.mean);
    return cycles;
  }

  void SetFigures(ServingPerformance& performance, const Cycles& cycles, ServingReport& report) const {
    const Hertz arrivals = performance.saturated  ? Groups() * slots_ / HeldIn(cycles.mean)
                           : load_.requests_per_s ? *load_.requests_per_s / (1 * kS)
                                                  : 1 / cycles.mean;
    std::optional<Seconds> lowest;
    double several = 0;  // share of the requests with several output tokens
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const Class& one = classes_[i];
      const RequestCycle& cycle = cycles.of[i];
      const Ratio output(one.load.output);
      ServedClass served;
      served.of = one.of;
      served.ttft = cycle.alone + cycle.prefill_wait + performance.queue;
      served.tpot = cycle.tpot;
      served.latency = served.ttft + (output - 1) * served.tpot;
      served.in_flight = one.of.weight * arrivals * (served.latency - performance.queue);
      served.waiting = one.of.weight * arrivals * performance.queue;
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
    const double output = MeanOutput();
    report.requests_per_s = arrivals * (1 * kS);
    report.tokens_per_s = arrivals * output * (1 * kToken);
    report.tokens_per_s_per_device = report.tokens_per_s / Devices();
    report.tokens_per_s_per_user = output * kToken / report.request_latency;
    report.batch = static_cast<Count>(std::llround(performance.running * First().mapping.attention_dp));
    report.utilization = performance.utilization;
    // Requests per second in tokens of the first class, because the reason of an overload converts it back.
    performance.rate = arrivals * Ratio(First().load.output) * (1 * kToken);
  }

  [[nodiscard]] Ratio Devices() const { return Ratio(load_.devices.value_or(First().cluster.devices)); }

  void SetMemory(const ServingPerformance& performance, const Cycles& cycles, double fitting,
                 ServingReport& report) const {
    const KvCacheBudget& budget = Budget();
    report.kv_cache =
        performance.running * Mean([&](std::size_t i) { return cycles.relative[i] * classes_[i].held.mean; });
    report.kv_cache_per_token = KvCachePerToken(First());
    report.state_per_sequence = StateOfSequence(First());
    report.memory = {budget.weights, report.kv_cache, budget.activations, budget.workspace, budget.capacity};
    report.max_batch = TallyOf(Ratio(First().mapping.attention_dp * fitting));
    if (load_.host_experts) report.host_weights = HostWeights(First());
  }

  // Each sequence is charged its part of a step's energy.
  void SetEnergy(const ServingPerformance& performance, ServingReport& report) const {
    const double running = performance.running;
    const TokensPerSecond rate = report.tokens_per_s;
    Seconds all;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const Class& one = classes_[i];
      ServingPerformance alone;
      alone.decode = DecodeOf(one.deployment, running);
      alone.prefill = PrefillsOf(one.met, running, DecodeOf(one.met, running));
      alone.running = running;
      alone.rate = rate;
      const Seconds time =
          one.of.weight * (Ratio(one.load.output) * alone.decode.token / running + alone.prefill.shared);
      report.energy_per_token += (time / (1 * kS)) * UseOf(one.deployment, alone, Devices()).energy;
      report.classes[i].device_time = time / (1 * kS);
      all += time;
    }
    for (ServedClass& one : report.classes) one.device_time /= all / (1 * kS);
    report.energy_per_token = report.energy_per_token / (all / (1 * kS));
    report.device_seconds_per_token = Devices() / rate;
  }

  const ServingLoad& load_;
  std::deque<Class> classes_;
  double slots_ = 1;
};

}  // namespace

ServingReport EvaluateMixture(const Model& model, const Cluster& cluster, const ServingLoad& load, ServingMemo* memo) {
  return Mixture(model, cluster, load, memo).Run(memo != nullptr);
}

}  // namespace slipstick
