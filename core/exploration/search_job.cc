#include "core/exploration/search_job.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/fix.h"
#include "core/base/nearest_names.h"
#include "core/exploration/search_criteria.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

constexpr Count kMaxSpace = 1'000'000'000;

std::vector<std::string> NearestFigures(const std::string& of, const std::string& name) {
  std::vector<std::string_view> names;
  for (const SearchFigure& figure : SearchFigures(of)) names.push_back(figure.name);
  return NearestNames(name, names);
}

// The objective and the further figures; null if one is unknown.
std::vector<const SearchFigure*> ReadFigures(const SearchSpec& spec, bool has_cost, Issues& issues) {
  const std::string standard = spec.part == "training" ? "step_time_s" : "tokens_per_s_per_device";
  std::vector<std::string> names{spec.objective.empty() ? standard : spec.objective};
  names.insert(names.end(), spec.pareto.begin(), spec.pareto.end());
  std::vector<const SearchFigure*> figures;
  for (std::string& name : names) {
    name = WithoutPart(name, spec.part);
    const SearchFigure* found = FindSearchFigure(spec.part, name);
    if (found == nullptr) {
      issues.push_back({"objective", "Unknown objective " + name + ": choose " + SearchFigureNames(spec.part),
                        &name == names.data() ? SetToEach("objective", NearestFigures(spec.part, name)) : Fixes()});
    }
    if (!has_cost && name.find("usd") != std::string::npos)
      issues.push_back({"cost", "Required for " + name, {LeaveOut("cost")}});
    figures.push_back(found);
  }
  if (names.size() > kMaxFigures) issues.push_back({"pareto", "Give at most two further figures"});
  return figures;
}

Issues CheckSpec(const SearchSpec& spec) {
  if (spec.part != "training" && spec.part != "serving")
    return {
        {"for", "Choose training or serving, not " + spec.part, {SetTo("for", "training"), SetTo("for", "serving")}}};
  if (spec.shards < 1 || spec.shard < 0 || spec.shard >= spec.shards)
    return {{"shard", "Enter shard i of n with 0 <= i < n"}};
  return {};
}

// Restricts the search's choice to a value of an axis, given as text or number; null pools mean one shared pool.
void Restrict(const std::string& path, const Json& value, const std::string& part, SpaceLimits& limits) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) Restrict(path + "." + key, member, part, limits);
    return;
  }
  const bool is_shared_pool = value.is_null() && path == "serving.disaggregated";
  const std::string text = value.is_null() ? "0" : PlainText(value);
  SpaceLimits named;
  std::vector<FigureLimit> figures;
  Issues others;  // from an axis of any other input
  ReadLimit(path + (is_shared_pool ? ".prefill_devices=" : "=") + text, part, named, figures, others);
  for (const auto& [member, limit] : named) {
    limits[member].among = limit.among;
    limits[member].numbers = limit.numbers;
  }
}

bool HasPart(const Scenario& scenario, const std::string& part) {
  return part == "training" ? scenario.training.has_value() : scenario.serving.has_value();
}

constexpr const char* kPools = "serving.disaggregated";
constexpr const char* kPrefillMapping = "serving.disaggregated.prefill_mapping";

const Disaggregated* PoolsOfTwoKinds(const std::optional<Scenario>& scenario, const std::string& part) {
  return scenario && part == "serving" && scenario->serving ? PoolsOfTwoKinds(*scenario->serving) : nullptr;
}

// A limit that lists 0 prefill devices compares pools of two kinds of device with one shared pool of the cluster's own
// devices. Devices of one kind are always split in every way, including one shared pool.
bool AsksForSharedPool(const SearchSpec& spec) {
  SpaceLimits limits;
  std::vector<FigureLimit> figures;
  Issues later;  // reported later for the same limits
  for (const std::string& text : spec.limits) ReadLimit(text, spec.part, limits, figures, later);
  const auto limit = limits.find("prefill_devices");
  return limit != limits.end() && !limit->second.among.empty() && limit->second.Allows(Count{0});
}

// Replaces a scenario's pools of two kinds by one shared pool with as many of the cluster's own devices.
std::vector<Assignment> OnSharedPool(std::vector<Assignment> changes, const ServingLoad& load) {
  std::erase_if(changes, [](const Assignment& one) { return one.path.starts_with(kPools); });
  changes.push_back({kPools, nullptr});
  changes.push_back({"serving.devices", *load.devices});
  return changes;
}

std::string NothingMeetsLimits(const Disaggregated* two_kinds) {
  if (two_kinds == nullptr) return "No mapping meets the limits";
  const std::string prefill = std::to_string(two_kinds->prefill_devices);
  return "No mapping meets the limits: devices of two kinds are not divided (" + prefill + " prefill, " +
         std::to_string(two_kinds->decode_devices) + " decode); prefill_devices=0," + prefill +
         " also tries one shared pool of the cluster's own";
}

// Removes axis values inside a part that the choice replaces.
void EraseBelow(const std::string& path, Json& overrides) {
  const Json* const value = FindMember(overrides, path);
  if (value == nullptr || !value->is_null()) return;
  Json kept = Json::object();
  for (const auto& [key, member] : overrides.items()) {
    if (!key.starts_with(path + ".")) kept[key] = member;
  }
  overrides = std::move(kept);
}

}  // namespace

Result<std::shared_ptr<SearchJob>> SearchJob::Make(const Json& request, const SearchSpec& spec) {
  if (Issues issues = CheckSpec(spec); !issues.empty()) return issues;
  const Result<std::vector<std::vector<Assignment>>> combinations = CombinationsOf(spec.axes);
  if (!combinations) return combinations.issues;
  const bool asks_for_shared_pool = AsksForSharedPool(spec);
  std::vector<Technology> technologies;
  Issues first;
  bool any = false;
  const auto add = [&](std::vector<Assignment> changes) {
    Json changed = request;
    Apply(changed, changes);
    const bool has_prefill_mapping = spec.part == "serving" && IsSet(changed, kPrefillMapping);
    Result<Scenario> scenario = ParseForSearch(std::move(changed), spec.part);
    technologies.push_back({std::move(changes), scenario ? std::optional(std::move(*scenario)) : std::nullopt});
    any = any || scenario;
    if (!scenario && first.empty()) first = std::move(scenario.issues);
    Technology& one = technologies.back();
    if (has_prefill_mapping && PoolsOfTwoKinds(one.scenario, spec.part) == nullptr)
      one.changes.push_back({kPrefillMapping, nullptr});  // pools of one kind share the chosen mapping
  };
  for (const std::vector<Assignment>& changes : *combinations) {
    add(changes);
    const std::optional<Scenario>& scenario = technologies.back().scenario;
    if (!asks_for_shared_pool || PoolsOfTwoKinds(scenario, spec.part) == nullptr) continue;
    std::vector<Assignment> shared = OnSharedPool(changes, *scenario->serving);
    if (std::none_of(technologies.begin(), technologies.end(),
                     [&shared](const Technology& one) { return one.changes == shared; }))
      add(std::move(shared));
  }
  if (!any) return first;
  return Make(std::move(technologies), spec);
}

Result<std::shared_ptr<SearchJob>> SearchJob::Make(Scenario scenario, const SearchSpec& spec) {
  if (Issues issues = CheckSpec(spec); !issues.empty()) return issues;
  std::vector<Technology> technologies;
  technologies.push_back({{}, std::move(scenario)});
  return Make(std::move(technologies), spec);
}

Result<std::shared_ptr<SearchJob>> SearchJob::Make(std::vector<Technology> technologies, const SearchSpec& spec) {
  Issues issues;
  std::shared_ptr<SearchJob> job(new SearchJob);
  job->prune_ = spec.prune;
  bool has_cost = true;
  for (const Technology& technology : technologies) {
    if (!technology.scenario) continue;
    if (!HasPart(*technology.scenario, spec.part))
      return Issues{SwitchedOff(spec.part, technology.scenario->diffusion.has_value())};
    has_cost = has_cost && technology.scenario->cost.has_value();
  }
  job->criteria_.figures = ReadFigures(spec, has_cost, issues);
  SpaceLimits limits;
  for (const std::string& text : spec.limits) ReadLimit(text, spec.part, limits, job->criteria_.limits, issues);
  if (!issues.empty()) return issues;

  bool any = false;
  std::string nothing = NothingMeetsLimits(nullptr);
  for (Technology& technology : technologies) {
    if (const Disaggregated* const pools = PoolsOfTwoKinds(technology.scenario, spec.part))
      nothing = NothingMeetsLimits(pools);
    Place place{std::move(technology.changes), nullptr, job->size_, "technology"};
    if (technology.scenario) {
      SpaceLimits here = limits;
      for (const Assignment& change : place.changes) Restrict(change.path, change.value, spec.part, here);
      place.point = std::make_unique<SearchPoint>(std::move(*technology.scenario), spec.part, here);
      any = any || place.point->Size() > 0;
      const bool is_made = spec.axes.empty() || place.point->CanBeMade();
      place.rejected = is_made ? "" : "reticle";
    }
    job->size_ += place.point ? place.point->Size() : 1;
    job->places_.push_back(std::move(place));
  }
  const Count size = job->size_;
  if (!any) return Issues{{"limit", nothing}};
  if (size > kMaxSpace)
    return Issues{{"limit", "Too many mappings (" + std::to_string(size) + "): add limits to get below 1,000,000,000"}};
  job->options_.from = size / spec.shards * spec.shard + std::min(spec.shard, size % spec.shards);
  job->options_.to = size / spec.shards * (spec.shard + 1) + std::min(spec.shard + 1, size % spec.shards);
  job->options_.top = spec.top;
  job->options_.figures = job->criteria_.figures.size();
  job->options_.prune = spec.prune;
  job->search_ =
      std::make_unique<Search>(job->options_, [self = job.get()](Count index, const Search::IsDominated& is_dominated) {
        return self->Evaluate(index, is_dominated);
      });
  return job;
}

const SearchJob::Place& SearchJob::PlaceOf(Count index) const { return BlockAt(places_, index); }

Outcome SearchJob::Evaluate(Count index, const Search::IsDominated& is_dominated) {
  const Place& place = PlaceOf(index);
  if (!place.rejected.empty()) {
    Outcome outcome;
    outcome.reason = place.rejected;
    return outcome;
  }
  if (&place != current_) {
    current_ = &place;
    evaluate_ = place.point->Begin(criteria_, prune_);
  }
  return evaluate_(index - place.offset, is_dominated);
}

Json SearchJob::OverridesAt(Count index) const {
  const Place& place = PlaceOf(index);
  Json overrides = Json::object();
  for (const Assignment& change : place.changes) overrides[change.path] = change.value;
  overrides.update(place.point->OverridesAt(index - place.offset));
  for (const char* path : {kPools, kPrefillMapping}) EraseBelow(path, overrides);
  return overrides;
}

Json SearchJob::Entry(const Found& found) const {
  Json entry{{"index", found.index}, {"overrides", OverridesAt(found.index)}};
  for (std::size_t i = 0; i < criteria_.figures.size(); ++i) {
    const SearchFigure& figure = *criteria_.figures[i];
    entry[figure.name] = figure.larger_is_better ? -found.figures[i] : found.figures[i];
  }
  return entry;
}

Json SearchJob::Report(const SearchProgress& progress) const {
  Json best = Json::array(), front = Json::array();
  for (const Found& found : progress.best) best.push_back(Entry(found));
  for (const Found& found : progress.front) front.push_back(Entry(found));
  return Json{{"space", size_},
              {"done", progress.done},
              {"evaluated", progress.evaluated},
              {"feasible", progress.feasible},
              {"rejected", progress.rejected},
              {"objective", criteria_.figures[0]->name},
              {"best", std::move(best)},
              {"pareto", std::move(front)}};
}

}  // namespace slipstick
