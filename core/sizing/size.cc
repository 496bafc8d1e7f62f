#include "core/sizing/size.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/base/units.h"
#include "core/evaluation/evaluate.h"
#include "core/evaluation/own_measurements.h"
#include "core/exploration/search_job.h"
#include "core/scenario/cost_defaults.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/search/limits.h"
#include "core/sizing/fleet.h"
#include "core/sizing/headroom.h"
#include "core/sizing/mixture.h"
#include "core/sizing/moved_request.h"
#include "core/sizing/percentile_search.h"
#include "core/sizing/question.h"
#include "core/sizing/sized_pools.h"
#include "core/sizing/sizing_json.h"

namespace slipstick {
namespace {

Json OverridesOfDeployment(const Scenario& scenario, const SizedDeployment& sized, double requests_per_s) {
  Json overrides = OverridesAtPeak(requests_per_s);
  overrides.update(OverridesOf(sized.choice));
  overrides["cluster.devices"] = sized.bought;
  overrides["serving.devices"] = sized.working * sized.devices_per_replica;
  overrides["serving.mapping.replicas"] = sized.working;
  overrides["serving.prompt"] = scenario.serving->prompt;
  overrides["serving.output"] = scenario.serving->output;
  return overrides;
}

// The mean rate: the question's, or the request's.
Result<double> MeanRate(const Json& request, const SizeQuestion& question) {
  const Json asked = AskedParts(request);
  if (!IsSet(asked, "serving")) return Issues{SwitchedOff("serving", IsSet(asked, "diffusion"))};
  if (!IsSet(asked, "cost")) return Issues{SwitchedOff("cost", false)};
  const Json* written = MemberAt(request, "serving.requests_per_s");
  const std::optional<double> rate =
      question.requests_per_s || written == nullptr ? question.requests_per_s : NumberIn(*written);
  if (!rate || !(*rate > 0)) return Issues{{"requests_per_s", "Required: enter the mean arrival rate (requests/s)"}};
  return *rate;
}

// The market answer: revenue at the users' prices; the proportional prices that just cover the cost; and the break-even
// rate, beside the highest rate that the purchase serves. Cost and rates hold while the devices are in use, `in_use` of
// each day.
Json MarketOf(const TokenPrices& prices, const ServingLoad& load, double hit_rate, double requests_per_s,
              double most_requests_per_s, DollarsPerSecond cost, Seconds in_use) {
  const MeanLengths mean = MeanLengthsOf(load);
  const Tokens prompt = mean.prompt * kToken, output = mean.output * kToken;
  const Tokens cached = hit_rate * prompt;
  const Dollars per_request = (prompt - cached) * prices.input + cached * prices.cached_input + output * prices.output;
  const DollarsPerSecond revenue = requests_per_s * per_request / (1 * kS);
  Json market = ObjectOf({{"revenue_usd_per_hour", In(revenue, kUsdPerHour)}});
  if (!(revenue > DollarsPerSecond())) return market;
  const double cost_over_revenue = cost / revenue;
  const auto at_cost = [&](DollarsPerToken price) { return In(cost_over_revenue * price, kUsdPerMToken); };
  market["margin"] = 1 - cost_over_revenue;
  market["cost_usd_per_million_tokens"] = ObjectOf({{"input", at_cost(prices.input)},
                                                    {"cached_input", at_cost(prices.cached_input)},
                                                    {"output", at_cost(prices.output)}});
  const double break_even = requests_per_s * cost_over_revenue;
  market["break_even"] = ObjectOf({{"requests_per_s", break_even},
                                   {"output_tokens_per_day", break_even * output.base() * in_use.base()},
                                   {"most_requests_per_s", most_requests_per_s},
                                   {"in_reach", break_even <= most_requests_per_s}});
  return market;
}

class ClusterSizing {
 public:
  ClusterSizing(const Json& request, const SizeQuestion& question, const SpaceLimits& limits, const Scenario& scenario,
                double mean)
      : request_(request),
        question_(question),
        scenario_(scenario),
        fleet_(scenario),
        mean_(mean),
        peak_(mean * PeakOverMean(question)),
        limit_(fleet_.MostDevices(question)),
        problem_{scenario,
                 {question.ttft, question.tpot},
                 peak_,
                 question.spare_replicas,
                 Purchases(scenario.cluster, fleet_.server_devices(), limit_.devices),
                 limits} {}
  ClusterSizing(const ClusterSizing&) = delete;
  ClusterSizing& operator=(const ClusterSizing&) = delete;

  Result<Json> Run() {
    const PercentileResult result = FindCheapestAt(problem_, question_.percentile);
    Result<Json> answer = result.found.cheapest ? Holds(result) : Result<Json>(Fails(result.found));
    if (answer && question_.pools == PoolsTried::kOneAndTwo)
      (*answer)["two_pools"] = SizeOnTwoPools(request_, question_, problem_, *answer);
    return answer;
  }

 private:
  [[nodiscard]] Result<Json> Holds(const PercentileResult& result) const {
    const SizedDeployment& sized = *result.found.cheapest;
    Json overrides = OverridesOfDeployment(scenario_, sized, peak_);
    Result<Scenario> scenario = ParseScenario(WithOverrides(request_, overrides));
    if (!scenario) return std::move(scenario.issues);
    scenario->serving->mixture = scenario_.serving->mixture;
    ReportDetail with_intervals = ReportDetail::Figures();
    with_intervals.intervals = true;
    const Json at_peak = *Evaluate(*scenario, with_intervals);
    const Json classes = ClassesAnswer(
        question_, {*scenario, at_peak["serving"], result.simulated, mean_, fleet_.HourlyCostOf(sized.bought)});
    scenario->serving->requests_per_s = mean_;
    const Json at_mean = *Evaluate(*scenario, ReportDetail::Figures());
    SizingProblem by_means = problem_;
    by_means.targets = result.means;
    const Headroom headroom = HeadroomOf(by_means, sized, mean_);
    Json day = question_.day.empty() ? Json(nullptr) : DayAnswer(by_means, sized);
    const DollarsPerSecond paid = fleet_.PaidThrough(day, fleet_.HourlyCostOf(sized.bought));
    return ObjectOf({{"holds", true},
                     {"deployment", DeploymentOf(sized, at_peak["serving"])},
                     {"at_peak", FiguresOf(at_peak["serving"], headroom.utilization_at_peak)},
                     {"simulated", result.simulated ? SimulatedOf(*result.simulated, sized) : Json(nullptr)},
                     {"at_mean", FiguresOf(at_mean["serving"], headroom.utilization_at_mean)},
                     {"cost", CostOf(sized, headroom, at_peak["cost"], HitRateOf(at_mean["serving"]), paid)},
                     {"headroom", WriteHeadroom(headroom, LatenciesOf(result, at_peak["serving"]))},
                     {"remarks", RemarksOn(at_peak)},
                     {"spare", SpareOf(sized, headroom)},
                     {"classes", classes},
                     {"day", day},
                     {"overrides", std::move(overrides)}});
  }

  [[nodiscard]] Json DeploymentOf(const SizedDeployment& sized, const Json& serving) const {
    const Count servers = sized.bought / fleet_.server_devices();
    const std::optional<Count> per_rack = fleet_.ServersPerRack(question_);
    const Count used = (sized.working + problem_.spare_replicas) * sized.devices_per_replica;
    const double groups = static_cast<double>(sized.working);
    return ObjectOf({{"devices", sized.bought},
                     {"servers", servers},
                     {"racks", per_rack ? Json((servers + *per_rack - 1) / *per_rack) : Json(nullptr)},
                     {"idle_devices", sized.bought - used},
                     {"power_w", fleet_.FacilityPowerOf(sized.bought).base()},
                     {"replicas", sized.working},
                     {"spare_replicas", problem_.spare_replicas},
                     {"devices_per_replica", sized.devices_per_replica},
                     {"mapping", MappingOf(sized.choice.mapping)},
                     {"prefill_chunk", sized.choice.prefill_chunk ? Json(*sized.choice.prefill_chunk) : Json(nullptr)},
                     {"running_per_replica", serving["requests_in_flight"].get<double>() / groups},
                     {"max_running_per_replica", serving["max_batch"]}});
  }

  // With sessions, the hit rate follows from the traffic.
  [[nodiscard]] double HitRateOf(const Json& serving) const {
    return scenario_.serving->sessions ? Ratio(serving["sessions"]["hit_rate"].get<double>())
                                       : scenario_.serving->prefix_hit;
  }

  // `all`: of the fleet, in the mean of the day.
  [[nodiscard]] Json CostOf(const SizedDeployment& sized, const Headroom& headroom, const Json& cost, double hit_rate,
                            DollarsPerSecond all) const {
    const ServingLoad& load = *scenario_.serving;
    const MeanLengths tokens = MeanLengthsOf(load);
    const auto per_million = [&](double of_request) {
      return In(all / (mean_ * of_request * kTokenPerS), kUsdPerMToken);
    };
    const double most = headroom.requests_per_s / PeakOverMean(question_);
    return ObjectOf({{"usd_per_hour", In(all, kUsdPerHour)},
                     {"device_hour_usd", cost["device_hour_usd"]},
                     {"system_usd", fleet_.SystemCostOf({0, sized.bought}).base()},
                     {"usd_per_million_output_tokens", per_million(tokens.output)},
                     {"usd_per_million_tokens", per_million(tokens.prompt + tokens.output)},
                     {"market", question_.prices ? MarketOf(*question_.prices, load, hit_rate, mean_, most, all,
                                                            scenario_.cost->system.utilisation * kDay)
                                                 : Json(nullptr)}});
  }

  // Latencies at the peak: means, or those at the percentile.
  [[nodiscard]] static Verdict LatenciesOf(const PercentileResult& result, const Json& serving) {
    if (result.simulated) return *result.simulated;
    Verdict means;
    means.ttft = Seconds::FromBase(serving["ttft_s"].get<double>());
    means.tpot = Seconds::FromBase(serving["tpot_s"].get<double>());
    return means;
  }

  [[nodiscard]] Json SimulatedOf(const Verdict& verdict, const SizedDeployment& sized) const {
    return ObjectOf({{"percentile", std::string(NameOf(question_.percentile))},
                     {"ttft_s", verdict.ttft.base()},
                     {"tpot_s", verdict.tpot.base()},
                     {"replicas", std::min(sized.working, kSimulatedReplicas)},
                     {"requests", verdict.simulated_requests}});
  }

  [[nodiscard]] Json WriteHeadroom(const Headroom& headroom, const Verdict& at_peak) const {
    const auto share = [](Seconds latency, const std::optional<Seconds>& target) {
      return target ? Json((1 - latency / *target).base()) : Json(nullptr);
    };
    return ObjectOf({{"requests_per_s", headroom.requests_per_s},
                     {"traffic", headroom.requests_per_s / peak_ - 1},
                     {"ttft", share(at_peak.ttft, question_.ttft)},
                     {"tpot", share(at_peak.tpot, question_.tpot)},
                     {"breaks_first", headroom.breaks_first}});
  }

  // Warnings of the report, a price that is not the market's, and mean latencies whose interval, from measurements of
  // similar systems, crosses their target.
  [[nodiscard]] Json RemarksOn(const Json& report) const {
    const Json& serving = report["serving"];
    Json remarks = report["warnings"];
    if (!scenario_.cost->rental && !scenario_.cost->device.price) {
      remarks.push_back("No price of " + scenario_.cluster.device.name +
                        " is known: it costs what making it does, with the margin of cost.device.margin");
    }
    if (question_.percentile != Percentile::kMean) return remarks;
    const auto compare = [&](const char* name, const std::string& figure, const std::optional<Seconds>& target) {
      const std::optional<double> low = NumberAt(serving, figure + "_interval.low"),
                                  high = NumberAt(serving, figure + "_interval.high");
      if (!target || !low || !high || *high <= target->base()) return;
      remarks.push_back(std::string(name) + " may miss its target of " + ReadableText(target->base(), "s") +
                        ": its 90 % interval is " + ReadableText(*low, "s") + " to " + ReadableText(*high, "s"));
    };
    compare("TTFT", "ttft", question_.ttft);
    compare("TPOT", "tpot", question_.tpot);
    return remarks;
  }

  // Replicas that may fail before the targets do.
  [[nodiscard]] static Json SpareOf(const SizedDeployment& sized, const Headroom& headroom) {
    const Count all = sized.bought / sized.devices_per_replica;
    return ObjectOf({{"at_peak", all - headroom.needed_at_peak}, {"at_mean", all - headroom.needed_at_mean}});
  }

  // Devices that the targets do not need in a part of the day are idle.
  [[nodiscard]] Json DayAnswer(const SizingProblem& problem, const SizedDeployment& sized) const {
    Json parts = Json::array();
    double needed = 0;
    for (const PartOfDay& part : DayOf(problem, sized, question_, mean_)) {
      needed += static_cast<double>(part.needed_devices) / static_cast<double>(question_.day.size());
      parts.push_back(ObjectOf({{"requests_per_s", part.requests_per_s},
                                {"utilization", part.utilization},
                                {"needed_devices", part.needed_devices}}));
    }
    const double idle = 1 - needed / static_cast<double>(sized.bought);
    return ObjectOf({{"parts", std::move(parts)},
                     {"needed_devices", needed},
                     {"idle_share", idle},
                     {"idle_usd_per_hour", In(idle * fleet_.HourlyCostOf(sized.bought), kUsdPerHour)}});
  }

  [[nodiscard]] Json Fails(const SizingResult& result) const {
    if (limit_.by.empty()) return OutOfReach(result);
    // Checks whether more devices than the limit allows would meet the targets.
    SizingProblem without = problem_;
    without.purchases =
        Purchases(scenario_.cluster, fleet_.server_devices(), fleet_.MostDevices(SizeQuestion()).devices);
    const SizingResult more = FindCheapestAt(without, question_.percentile).found;
    return more.cheapest ? BeyondLimit(*more.cheapest) : OutOfReach(more);
  }

  [[nodiscard]] Json BeyondLimit(const SizedDeployment& needed) const {
    const std::string name(limit_.by);
    std::string message;
    if (name == "power_per_rack") {
      message = "A server draws " + ReadableText(fleet_.ServerPower().base(), "W") + ", more than a rack may";
    } else {
      message = "Needs " + std::to_string(needed.bought) + " devices (" +
                ReadableText(fleet_.FacilityPowerOf(needed.bought).base(), "W") + ", " +
                ReadableText(In(fleet_.HourlyCostOf(needed.bought), kUsdPerHour), "$") + " per hour); the limit " +
                name + " allows " + std::to_string(limit_.devices);
    }
    return ObjectOf({{"holds", false}, {"reason", name}, {"message", message}, {"needed_devices", needed.bought}});
  }

  [[nodiscard]] Json OutOfReach(const SizingResult& result) const {
    Json answer = ObjectOf(
        {{"holds", false}, {"reason", "memory"}, {"message", ""}, {"rejected", Json(result.progress.rejected)}});
    if (!result.nearest) {
      answer["message"] = result.kinds == 0
                              ? "No mapping meets the limits"
                              : "Out of memory in each of " + std::to_string(result.kinds) + " kinds of replicas";
      if (result.kinds == 0) answer["reason"] = "limits";
      return answer;
    }
    const Verdict& verdict = result.nearest->verdict;
    answer["reason"] = verdict.failing;
    answer["message"] = MessageOf(verdict);
    answer["nearest"] = ObjectOf({{"ttft_s", verdict.ttft.base()},
                                  {"tpot_s", verdict.tpot.base()},
                                  {"replicas", result.nearest->replicas},
                                  {"overrides", OverridesOf(result.nearest->choice)}});
    return answer;
  }

  // The reason why even the nearest deployment fails.
  [[nodiscard]] std::string MessageOf(const Verdict& verdict) const {
    if (verdict.failing == "rate") return "Overloaded even with the most devices allowed";
    if (verdict.failing == "simulation") return "The simulation takes too many steps";
    const bool is_ttft = verdict.failing == "ttft";
    const Seconds reached = is_ttft ? verdict.ttft : verdict.tpot, target = is_ttft ? *question_.ttft : *question_.tpot;
    return std::string(is_ttft ? "TTFT" : "TPOT") + " is " + ReadableText(reached.base(), "s") +
           " at best, above the target of " + ReadableText(target.base(), "s") + ", however many replicas";
  }

  const Json& request_;
  const SizeQuestion& question_;
  const Scenario& scenario_;
  Fleet fleet_;
  double mean_, peak_;
  DeviceLimit limit_;
  SizingProblem problem_;
};

// {"holds": true, "deployment", "at_peak", "simulated", "at_mean", "cost", "headroom", "spare", "classes", "day",
// "overrides", "two_pools"?}, or {"holds": false, "reason", "message", "rejected"?, "nearest"?, "needed_devices"?}. The
// overrides turn the request into the scenario of the deployment at the peak. `request` must be complete.
Result<Json> SizeCluster(const Json& request, const SizeQuestion& question, const SpaceLimits& limits) {
  const Result<double> mean = MeanRate(request, question);
  if (!mean) return mean.issues;
  const Json at_peak = OverridesAtPeak(*mean * PeakOverMean(question));
  Json asked = request;
  if (!question.mixture.empty()) {
    if (Issues issues = CheckMixture(request); !issues.empty()) return issues;
    Json any_lengths = at_peak;
    any_lengths.update(ObjectOf({{"serving.prompt", 1}, {"serving.output", 1}}));
    const Result<Scenario> of_any_lengths = ParseForSearch(WithOverrides(request, any_lengths), "serving");
    if (!of_any_lengths) return of_any_lengths.issues;
    if (Issues issues = CheckClasses(question.mixture, *of_any_lengths); !issues.empty()) return issues;
    asked = WithOverrides(request, LengthsOf(question.mixture));
  }
  Result<Scenario> scenario = ParseForSearch(WithOverrides(asked, at_peak), "serving");
  if (!scenario) return scenario.issues;
  scenario->serving->mixture = MixtureOf(question.mixture);
  scenario->serving->idle_sessions = IdleSessionsOf(*scenario->serving, scenario->version);  // on one pool
  return ClusterSizing(asked, question, limits, *scenario, *mean).Run();
}

Json RentUnknown() {
  return ObjectOf({{"holds", false},
                   {"reason", "rental"},
                   {"message", "The rent is of another device, and its provider's price of this one is not known"}});
}

}  // namespace

Answer SizeAnswer(std::string_view request, const std::vector<std::string>& assignments, const Json& question_json) {
  Result<Json> base = ReadMeasuredRequest(request, assignments);
  if (!base) return WrongRequest(std::move(base.issues));
  Result<SizeQuestion> question = ReadSizeQuestion(question_json);
  if (!question) return WrongRequest(std::move(question.issues));
  Result<SpaceLimits> limits = ReadMappingLimits(*question);
  if (!limits) return WrongRequest(std::move(limits.issues));
  std::vector<std::string> clusters = question->clusters;
  if (clusters.empty()) clusters.emplace_back();  // the request's own
  Json answers = Json::array(), best = nullptr;
  for (const std::string& id : clusters) {
    const std::optional<Json> moved = OverridesOnCluster(*base, id);
    Json answer = ObjectOf({{"cluster", id.empty() ? NameOfCluster(*base) : Json(id)}});
    if (!moved) {
      answer.update(RentUnknown());
      answers.push_back(std::move(answer));
      continue;
    }
    Result<Json> sized = SizeCluster(WithOverrides(*base, *moved), *question, *limits);
    if (!sized) return WrongRequest(std::move(sized.issues));
    answer.update(*sized);
    if (answer.contains("overrides")) answer["overrides"].update(*moved);
    const bool on_pools = FindMember(answer, "two_pools") != nullptr && answer["two_pools"].contains("overrides");
    if (on_pools) answer["two_pools"]["overrides"].update(*moved);
    const std::string dropped = DroppedInputs(*base, *moved);
    if (!dropped.empty() && answer.contains("remarks")) answer["remarks"].push_back(dropped);
    const auto cost_of = [](const Json& one) { return one["cost"]["usd_per_hour"].get<double>(); };
    const bool holds = answer["holds"].get<bool>();
    if (holds && (best.is_null() || cost_of(answer) < cost_of(answers[best.get<std::size_t>()]))) best = answers.size();
    answers.push_back(std::move(answer));
  }
  return {JsonText(ObjectOf({{"best", std::move(best)}, {"clusters", std::move(answers)}})), {}};
}

Answer SizeSpecAnswer(std::string_view spec) {
  Result<Json> parsed = ParseJson(spec);
  if (!parsed) return WrongRequest(std::move(parsed.issues));
  return SizeAnswer(RequestIn(*parsed), {}, *parsed);
}

}  // namespace slipstick
