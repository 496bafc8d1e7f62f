#include "core/sizing/sized_pools.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/units.h"
#include "core/evaluation/evaluate.h"
#include "core/exploration/search_job.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/sizing/day.h"
#include "core/sizing/fleet.h"
#include "core/sizing/mixture.h"
#include "core/sizing/pool_search.h"
#include "core/sizing/sizing_json.h"

namespace slipstick {
namespace {

Json OverridesOnPools(double requests_per_s) {
  Json overrides = OverridesAtPeak(requests_per_s);
  overrides.erase("serving.disaggregated");
  return overrides;
}

// The scenario with two pools: the request's own pools if it has any, because they state their devices.
Result<Scenario> OnPools(const Json& request, const SizingProblem& problem) {
  const Json* written = MemberAt(request, "serving.disaggregated");
  Json overrides = OverridesOnPools(problem.requests_per_s);
  if (written != nullptr && !written->is_null()) {
    const Disaggregated standard;
    const auto devices = [written](const char* member, Count by_default) {
      return static_cast<Count>(NumberAt(*written, member).value_or(static_cast<double>(by_default)));
    };
    overrides["cluster.devices"] =
        std::max<Count>(problem.scenario.cluster.devices, devices("prefill_devices", standard.prefill_devices) +
                                                              devices("decode_devices", standard.decode_devices));
  }
  Result<Scenario> pooled = ParseForSearch(WithOverrides(request, overrides), "serving");
  if (!pooled) return pooled;
  if (!pooled->serving->disaggregated) pooled->serving->disaggregated.emplace();
  pooled->serving->mixture = problem.scenario.serving->mixture;
  return pooled;
}

Json DeploymentOf(const SizedPools& sized, const Fleet& fleet) {
  const Disaggregated* const kinds = PoolsOfTwoKinds(sized.load);
  return ObjectOf({{"devices", sized.bought.Total()},
                   {"prefill_devices", sized.load.disaggregated->prefill_devices},
                   {"prefill_device", kinds != nullptr ? Json(kinds->prefill_device->name) : Json(nullptr)},
                   {"decode_devices", sized.load.disaggregated->decode_devices},
                   {"prefill_replicas", sized.prefill_replicas},
                   {"decode_replicas", sized.decode_replicas},
                   {"power_w", fleet.FacilityPowerOf(sized.bought).base()},
                   {"prefill_mapping", MappingOf(*sized.load.disaggregated->prefill_mapping)},
                   {"mapping", MappingOf(sized.load.mapping)}});
}

Json OverridesOfPools(const SizedPools& sized) {
  const ServingLoad& load = sized.load;
  Json overrides = OverridesOnPools(*load.requests_per_s);
  overrides.update(OverridesOf({load.mapping, 1, load.precision, load.prefill_chunk, load.disaggregated}));
  overrides.erase("serving.batch");  // belongs to a closed loop
  overrides["cluster.devices"] = sized.bought.Total();
  overrides["serving.prompt"] = load.prompt;
  overrides["serving.output"] = load.output;
  return overrides;
}

// Devices of a pool that the targets do not need in a part of the day are idle. Spare replicas count as needed.
Json DayAnswer(SizingProblem problem, const SizeQuestion& question, const Fleet& fleet, const SizedPools& sized) {
  if (question.day.empty()) return nullptr;
  const Disaggregated& pools = *sized.load.disaggregated;
  const PoolSizes spare{problem.spare_replicas * pools.prefill_devices / sized.prefill_replicas,
                        problem.spare_replicas * pools.decode_devices / sized.decode_replicas};
  const ByPass<DollarsPerSecond> costs = fleet.HourlyCosts(sized.bought);
  const double parts_of_day = static_cast<double>(question.day.size());
  Json parts = Json::array();
  ByPass<double> mean{0, 0};  // devices needed
  for (const double rate : RatesOf(question, problem.requests_per_s / PeakOverMean(question))) {
    problem.requests_per_s = rate;
    PoolSizes needed = rate > 0 ? FewestOfPools(problem, question, fleet, sized) : PoolSizes{};
    needed.prefill += spare.prefill, needed.decode += spare.decode;
    mean.prefill += static_cast<double>(needed.prefill) / parts_of_day;
    mean.decode += static_cast<double>(needed.decode) / parts_of_day;
    parts.push_back(ObjectOf({{"requests_per_s", rate},
                              {"needed_prefill_devices", needed.prefill},
                              {"needed_decode_devices", needed.decode}}));
  }
  const auto idle = [](double needed, Count bought) { return 1 - needed / static_cast<double>(bought); };
  return ObjectOf({{"parts", std::move(parts)},
                   {"needed_devices", mean.prefill + mean.decode},
                   {"idle_share", idle(mean.prefill + mean.decode, sized.bought.Total())},
                   {"idle_usd_per_hour", In(idle(mean.prefill, sized.bought.prefill) * costs.prefill +
                                                idle(mean.decode, sized.bought.decode) * costs.decode,
                                            kUsdPerHour)}});
}

Json Fails(std::string_view reason, const std::string& message) {
  return ObjectOf({{"holds", false}, {"reason", std::string(reason)}, {"message", message}});
}

}  // namespace

Json SizeOnTwoPools(const Json& request, const SizeQuestion& question, const SizingProblem& problem,
                    const Json& on_one) {
  if (question.percentile != Percentile::kMean)
    return Fails("percentile", "Two pools are compared for mean requests only: they are not simulated");
  if (problem.scenario.serving->sessions) return Fails("sessions", "Sessions are served on one pool");
  if (problem.purchases.slices() > 0)
    return Fails("topology", "Two pools are not compared on a torus, mesh or ring, which is bought in slices");
  const Result<Scenario> pooled = OnPools(request, problem);
  if (!pooled) return Fails("request", pooled.issues.front().message);
  const Fleet fleet(*pooled);
  const SizingProblem on_pools{*pooled,           problem.targets, problem.requests_per_s, problem.spare_replicas,
                               problem.purchases, problem.limits};
  const PoolsResult result = FindCheapestPools(on_pools, question, fleet);
  if (!result.cheapest) {
    return Fails(result.failing, result.failing == "memory"
                                     ? "No kind of replica fits, or the limits allow no two pools"
                                     : "No two pools meet the targets");
  }
  const SizedPools& sized = *result.cheapest;
  Scenario served = *pooled;
  served.serving = sized.load;
  served.cluster.devices = sized.bought.Total();
  const Json at_peak = *Evaluate(served, ReportDetail::Figures());
  const double usd_per_hour = In(sized.cost, kUsdPerHour);
  const ByPass<DollarsPerSecond> costs = fleet.HourlyCosts(sized.bought);
  const Json classes = ClassesAnswer(question, {served,
                                                at_peak["serving"],
                                                std::nullopt,
                                                problem.requests_per_s / PeakOverMean(question),
                                                sized.cost,
                                                {costs.prefill / sized.cost, costs.decode / sized.cost}});
  const bool one_holds = on_one["holds"].get<bool>();
  return ObjectOf(
      {{"holds", true},
       {"deployment", DeploymentOf(sized, fleet)},
       {"at_peak", FiguresOf(at_peak["serving"], std::nullopt)},
       {"cost", ObjectOf({{"usd_per_hour", usd_per_hour}})},
       {"saves", one_holds ? Json(1 - usd_per_hour / on_one["cost"]["usd_per_hour"].get<double>()) : Json(nullptr)},
       {"classes", classes},
       {"day", DayAnswer(on_pools, question, fleet, sized)},
       {"overrides", OverridesOfPools(sized)}});
}

}  // namespace slipstick
