#include "core/search/serving_tuner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/units.h"
#include "core/engine_step/memo.h"
#include "core/search/limits.h"
#include "core/serving/remarks.h"
#include "core/serving/serving.h"
#include "core/serving/serving_memory.h"

namespace slipstick {
namespace {

constexpr double kSlowestOverFastest = 2;
constexpr double kWaiting = 0.5;  // requests

struct ServingMember {
  std::string_view name, label;
  Tally ServingMapping::* value;
};
constexpr std::array<ServingMember, 4> kServingMembers{
    {{"tp", "TP", &ServingMapping::tp},
     {"pp", "PP", &ServingMapping::pp},
     {"ep", "EP", &ServingMapping::ep},
     {"attention_dp", "DP attention", &ServingMapping::attention_dp}}};

// From bad to good. Overloaded: the memory suffices, but more requests arrive than are served.
enum class Standing { kLacksMemory, kOverloaded, kServes };
Standing StandingOf(const ServingReport& report) {
  if (report.infeasible.empty()) return Standing::kServes;
  const bool by_rate = report.infeasible.size() == 1 && report.infeasible[0].reason == "rate";
  return by_rate ? Standing::kOverloaded : Standing::kLacksMemory;
}

// A mapping and its performance; of one that is overloaded, that at its capacity.
struct ServedMapping {
  ServingMapping mapping;
  Standing standing = Standing::kLacksMemory;
  bool loads = true;    // engines can split the experts so
  bool queues = false;  // part of a fixed number of requests waits for memory, so the others run fast
  Bytes needed;         // device memory of weights and one request
  Seconds tpot, latency;
  TokensPerSecond per_device;
  [[nodiscard]] bool serves() const { return standing == Standing::kServes; }
};

class ServingTuner {
 public:
  ServingTuner(const Model& model, const Cluster& cluster, const ServingLoad& load,
               const std::vector<std::string>& pinned)
      : model_(model), cluster_(cluster), wanted_(load), load_(load), pinned_(pinned) {
    if (load.disaggregated) {
      const Disaggregated& pools = *load.disaggregated;
      devices_ = pools.prefill_mapping ? Count(pools.decode_devices)
                                       : std::gcd<Count, Count>(pools.prefill_devices, pools.decode_devices);
    } else {
      devices_ = load.devices.value_or(cluster.devices);
    }
  }
  ServingTuner(const ServingTuner&) = delete;
  ServingTuner& operator=(const ServingTuner&) = delete;

  TunedServing Run() {
    TunedServing tuned{wanted_};
    TryAll();
    tuned.tried = static_cast<Count>(tried_.size());
    const auto loads = [](const ServedMapping& one) { return one.loads; };
    if (std::any_of(tried_.begin(), tried_.end(), loads)) std::erase_if(tried_, std::not_fn(loads));
    const ServedMapping* const best = Best();
    if (best == nullptr) return tuned;
    tuned.is_legal = true;
    tuned.fits = best->serves();
    tuned.load.mapping = best->mapping;
    tuned.chosen = ReasonsFor(*best);
    return tuned;
  }

 private:
  [[nodiscard]] bool IsFree(std::string_view member) const {
    return std::find(pinned_.begin(), pinned_.end(), member) == pinned_.end();
  }
  [[nodiscard]] std::vector<Count> Values(std::string_view member, Count of, Count own, bool is_meaningful) const {
    if (!IsFree(member)) return {own};
    return is_meaningful ? Divisors(of) : std::vector<Count>{1};
  }

  // Whether TP is off, as in an engine that splits layers if no degree is written.
  [[nodiscard]] bool SplitsLayers() const {
    return wanted_.engine.communication.split == ReplicaSplit::kLayersFirst && IsFree("tp") && IsFree("pp") &&
           model_.MostStages() > 1;
  }

  void TryAll() {
    const ServingMapping& own = wanted_.mapping;
    const bool has_experts = model_.moe.has_value();
    Count most = kMostReplicaDevices;
    for (const auto& [member, degree] :
         {std::pair{"tp", own.tp}, std::pair{"pp", own.pp}, std::pair{"attention_dp", own.attention_dp}}) {
      if (!IsFree(member)) most = std::min(devices_, most * degree);
    }
    for (const Count tp : Values("tp", devices_, own.tp, !SplitsLayers())) {
      if (devices_ % tp != 0) continue;
      for (const Count pp : Values("pp", devices_ / tp, own.pp, true)) {
        if (devices_ / tp % pp != 0 || tp * pp > most) continue;
        for (const Count dp : Values("attention_dp", devices_ / tp / pp, own.attention_dp, has_experts)) {
          if (tp * pp * dp > most) continue;
          for (const Count ep : Values("ep", tp * dp, own.ep, has_experts)) {
            ServingMapping mapping = own;
            mapping.tp = tp, mapping.pp = pp, mapping.attention_dp = dp, mapping.ep = ep;
            Try(mapping);
          }
        }
      }
    }
  }

  void Try(const ServingMapping& mapping) {
    load_ = wanted_;
    load_.mapping = mapping;
    Issues issues;
    ValidateAndFillDefaults(load_, model_, cluster_, "serving", issues);
    if (!issues.empty()) return;
    const ServingReport report = EvaluateServing(model_, cluster_, load_, false, nullptr, &memo_);
    const Deployment deployment = Deploy(model_, cluster_, load_);
    ServedMapping served{mapping,
                         StandingOf(report),
                         CutExperts(deployment).empty(),
                         load_.concurrency && report.requests_waiting > kWaiting,
                         {},
                         report.tpot,
                         report.request_latency,
                         report.tokens_per_s_per_device};
    const KvCacheBudget budget = KvCacheBudgetOf(deployment);
    capacity_ = budget.capacity;
    served.needed = budget.weights + budget.activations + budget.workspace +
                    KvCacheOfSequence(deployment, load_.prompt + load_.output);
    tried_.push_back(served);
  }

  // The mapping that serves most within the bound on the time per token; if none does, the one nearest to that.
  [[nodiscard]] const ServedMapping* Best() const {
    const bool some_hold =
        std::any_of(tried_.begin(), tried_.end(), [](const ServedMapping& one) { return one.serves() && !one.queues; });
    const auto competes = [some_hold](const ServedMapping& one) { return one.serves() && !(some_hold && one.queues); };
    std::optional<Seconds> fastest;
    for (const ServedMapping& one : tried_) {
      if (competes(one) && (!fastest || one.tpot < *fastest)) fastest = one.tpot;
    }
    const ServedMapping* best = nullptr;
    for (const ServedMapping& one : tried_) {
      const bool is_slow = fastest && some_hold && WaitsForTokens() && one.tpot > kSlowestOverFastest * *fastest;
      if (fastest && (!competes(one) || is_slow)) continue;
      if (best == nullptr || IsBetter(one, *best)) best = &one;
    }
    return best;
  }
  // With one output token there is no time per output token.
  [[nodiscard]] bool WaitsForTokens() const { return wanted_.output > 1; }
  [[nodiscard]] static bool IsBetter(const ServedMapping& one, const ServedMapping& other) {
    if (one.standing != other.standing) return one.standing > other.standing;
    return one.standing == Standing::kLacksMemory ? one.needed < other.needed : ServesMore(one, other);
  }
  [[nodiscard]] static bool ServesMore(const ServedMapping& one, const ServedMapping& other) {
    if (one.per_device != other.per_device) return one.per_device > other.per_device;
    return one.latency < other.latency;
  }

  [[nodiscard]] std::vector<Chosen> ReasonsFor(const ServedMapping& best) const {
    std::vector<Chosen> reasons;
    for (const ServingMember& member : kServingMembers) {
      if (!IsFree(member.name)) continue;
      std::map<Count, const ServedMapping*> others;
      for (const ServedMapping& one : tried_) {
        if (one.mapping.*member.value == best.mapping.*member.value) continue;
        const ServedMapping*& known = others[one.mapping.*member.value];
        if (known == nullptr || IsBetter(one, *known)) known = &one;
      }
      std::vector<std::string> verdicts;
      const auto above = others.upper_bound(best.mapping.*member.value);
      if (above != others.begin()) verdicts.push_back(VerdictOn(member, *std::prev(above)->second, best));
      if (above != others.end()) verdicts.push_back(VerdictOn(member, *above->second, best));
      const bool by_default = member.name == "tp" && SplitsLayers();
      reasons.push_back(
          {"serving.mapping." + std::string(member.name), best.mapping.*member.value, "",
           Sentence(verdicts, by_default ? "This engine splits layers by default" : "The only valid value here")});
    }
    return reasons;
  }

  [[nodiscard]] std::string VerdictOn(const ServingMember& member, const ServedMapping& other,
                                      const ServedMapping& best) const {
    const std::string text = std::string(member.label) + " " + std::to_string(other.mapping.*member.value);
    if (other.standing == Standing::kLacksMemory)
      return text + " " +
             (best.standing == Standing::kLacksMemory ? NeedsMore(other.needed, best.needed)
                                                      : DoesNotFit(other.needed, capacity_));
    if (other.standing < best.standing) return text + " is overloaded";
    const double less = std::round(100 * (1 - other.per_device / best.per_device)),
                 longer = std::round(10 * (other.tpot / best.tpot)) / 10;
    if (less >= 1) return text + " serves " + NumberText(less) + " % less";
    if (best.serves() && WaitsForTokens() && longer > 1)
      return text + " takes " + NumberText(longer) + " times as long per token";
    return text + " is no better";
  }

  const Model& model_;
  const Cluster& cluster_;
  const ServingLoad& wanted_;
  ServingLoad load_;
  const std::vector<std::string>& pinned_;
  Count devices_ = 1;
  ServingMemo memo_;
  Bytes capacity_;
  std::vector<ServedMapping> tried_;
};

}  // namespace

TunedServing TuneServing(const Model& model, const Cluster& cluster, const ServingLoad& load,
                         const std::vector<std::string>& pinned) {
  return ServingTuner(model, cluster, load, pinned).Run();
}

}  // namespace slipstick
