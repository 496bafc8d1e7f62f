#include "core/study/search_job.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/schema.h"
#include "core/economics/cost.h"
#include "core/serving/serving.h"
#include "core/study/sweep.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

constexpr Count kMaxSpace = 1'000'000'000;

// What the figures of a place are read from.
struct Answered {
  const TrainingReport* training = nullptr;
  const ServingReport* serving = nullptr;
  double devices = 1;
  DollarsPerSecond device_second;
  Watts device_power;
};

// A figure that can be an objective, a limit or an axis of the front.
struct Objective {
  std::string_view name;
  bool larger_is_better;
  double (*read)(const Answered&);
};

constexpr Objective kTrainingObjectives[] = {
    {"step_time_s", false, [](const Answered& a) { return a.training->step_time.base(); }},
    {"time_to_train_s", false, [](const Answered& a) { return a.training->time_to_train.base(); }},
    {"tokens_per_s", true, [](const Answered& a) { return a.training->tokens_per_s.base(); }},
    {"tokens_per_s_per_device", true, [](const Answered& a) { return a.training->tokens_per_s_per_device.base(); }},
    {"model_flops_utilization", true, [](const Answered& a) { return a.training->model_flops_utilization; }},
    {"memory_bytes.total", false, [](const Answered& a) { return a.training->memory.Total().base(); }},
    {"memory_headroom_bytes", true, [](const Answered& a) { return (a.training->capacity - a.training->memory.Total()).base(); }},
    {"energy_j", false, [](const Answered& a) { return a.training->energy.base(); }},
    {"cost_usd", false, [](const Answered& a) { return (a.training->device_seconds * a.device_second).base(); }},
    {"tokens_per_usd", true, [](const Answered& a) { return a.training->tokens_per_s.base() / (a.devices * a.device_second.base()); }},
    {"tokens_per_j", true, [](const Answered& a) { return a.training->tokens_per_s.base() / (a.devices * a.device_power.base()); }}};

constexpr Objective kServingObjectives[] = {
    {"ttft_s", false, [](const Answered& a) { return a.serving->ttft.base(); }},
    {"tpot_s", false, [](const Answered& a) { return a.serving->tpot.base(); }},
    {"request_latency_s", false, [](const Answered& a) { return a.serving->request_latency.base(); }},
    {"tokens_per_s", true, [](const Answered& a) { return a.serving->tokens_per_s.base(); }},
    {"tokens_per_s_per_device", true, [](const Answered& a) { return a.serving->tokens_per_s_per_device.base(); }},
    {"tokens_per_s_per_user", true, [](const Answered& a) { return a.serving->tokens_per_s_per_user.base(); }},
    {"memory_bytes.total", false, [](const Answered& a) { return a.serving->memory.Total().base(); }},
    {"memory_headroom_bytes", true, [](const Answered& a) { return (a.serving->capacity - a.serving->memory.Total()).base(); }},
    {"cost_usd_per_million_tokens", false,
     [](const Answered& a) { return 1e6 * (a.serving->device_seconds_per_token * a.device_second).base(); }},
    {"energy_j_per_token", false, [](const Answered& a) { return a.serving->energy_per_token.base(); }}};

template <std::size_t N>
const Objective* Find(const Objective (&table)[N], std::string_view name) {
  for (const Objective& one : table) {
    if (one.name == name) return &one;
  }
  return nullptr;
}
const Objective* FindObjective(std::string_view of, std::string_view name) {
  return of == "training" ? Find(kTrainingObjectives, name) : Find(kServingObjectives, name);
}

std::string Names(std::string_view of) {
  std::string names;
  const auto add = [&names](const auto& table) {
    for (const Objective& one : table) names += (names.empty() ? "" : ", ") + std::string(one.name);
  };
  of == "training" ? add(kTrainingObjectives) : add(kServingObjectives);
  return names;
}

bool StripPrefix(std::string& text, std::string_view prefix) {
  if (text.compare(0, prefix.size(), prefix) != 0) return false;
  text.erase(0, prefix.size());
  return true;
}

// A condition on a figure that a place must meet.
struct FigureLimit {
  const Objective* figure;
  bool at_most;
  double bound;
};

std::vector<std::string_view> MembersOf(std::string_view of) {
  return of == "training" ? TrainingSpace::Members() : ServingSpace::Members();
}

// A reason word with static lifetime for the first limit that a place breaks; "" for none.
std::string_view Broken(const std::vector<FigureLimit>& limits, const Answered& answered) {
  for (const FigureLimit& limit : limits) {
    const double value = limit.figure->read(answered);
    if (limit.at_most ? !(value <= limit.bound) : !(value >= limit.bound)) return limit.figure->name;
  }
  return "";
}

// The catalogue of reasons: an infeasibility's word, kept alive for the search.
std::string_view ReasonOf(const std::vector<Infeasibility>& infeasible) {
  static constexpr std::string_view kKnown[] = {"memory", "kv_cache", "weights", "activations", "network", "batch", "load"};
  for (const std::string_view known : kKnown) {
    if (infeasible[0].reason == known) return known;
  }
  return "other";
}

}  // namespace

Result<SearchSpec> ReadSearchSpec(const Json& json) {
  SearchSpec spec;
  Issues issues;
  if (!json.is_object()) return Issues{{"", "expected an object; got " + internal::Shown(json)}};
  for (const Json::Member& member : json.items()) {
    const std::string key(member.key.view());
    const Json& value = member.value;
    const auto texts = [&](std::vector<std::string>& out) {
      if (!value.is_array()) issues.push_back({key, "expected a list of texts"});
      for (const Json& one : value) out.push_back(one.is_string() ? one.get<std::string>() : JsonText(one));
    };
    if (key == "request") continue;
    if (key == "for" && value.is_string()) {
      spec.of = value.text();
    } else if (key == "objective" && value.is_string()) {
      spec.objective = value.text();
    } else if (key == "pareto") {
      texts(spec.pareto);
    } else if (key == "limits") {
      texts(spec.limits);
    } else if (key == "top" && value.is_number_integer() && value.get<Count>() >= 0) {
      spec.top = std::min<std::size_t>(1000, value.get<std::size_t>());
    } else if (key == "shard" && value.is_number_integer() && value.get<Count>() >= 0) {
      spec.shard = value.get<Count>();
    } else if (key == "shards" && value.is_number_integer() && value.get<Count>() >= 0) {
      spec.shards = value.get<Count>();
    } else if (key == "prune" && value.is_boolean()) {
      spec.prune = value.get<bool>();
    } else {
      issues.push_back({key, "expected one of for, objective, pareto, limits, top, shard, shards, prune, with its own type"});
    }
  }
  if (!issues.empty()) return issues;
  return spec;
}

Json SearchObjectives() {
  Json all = Json::object();
  const auto list = [](const auto& table) {
    Json names = Json::array();
    for (const Objective& one : table) names.push_back(Json{{"name", one.name}, {"better", one.larger_is_better ? "larger" : "smaller"}});
    return names;
  };
  all["training"] = list(kTrainingObjectives);
  all["serving"] = list(kServingObjectives);
  return all;
}

Result<std::shared_ptr<SearchJob>> SearchJob::Make(const Json& request, const SearchSpec& spec) {
  Issues issues;
  if (spec.of != "training" && spec.of != "serving") return Issues{{"for", "expected training or serving; got " + spec.of}};
  Result<Scenario> scenario = ParseScenario(request);
  if (!scenario) return std::move(scenario.issues);
  const bool training = spec.of == "training";
  if (training ? !scenario->training.has_value() : !scenario->serving.has_value()) {
    return Issues{{spec.of, "is needed: the scenario does not ask for it"}};
  }
  if (spec.shards < 1 || spec.shard < 0 || spec.shard >= spec.shards) return Issues{{"shard", "expected shard i of n with 0 <= i < n"}};

  std::shared_ptr<SearchJob> job(new SearchJob);
  job->of_ = spec.of;
  std::vector<const Objective*> figures;
  std::vector<std::string> names{spec.objective.empty() ? training ? "step_time_s" : "tokens_per_s_per_device" : spec.objective};
  names.insert(names.end(), spec.pareto.begin(), spec.pareto.end());
  for (std::string name : names) {
    StripPrefix(name, spec.of + ".");
    const Objective* found = FindObjective(spec.of, name);
    if (found == nullptr) issues.push_back({"objective", "expected one of " + Names(spec.of) + "; got " + name});
    if (!scenario->cost && name.find("usd") != std::string::npos) issues.push_back({"cost", "is needed: " + name + " is a price"});
    figures.push_back(found);
    job->figures_.push_back(name);
  }
  if (figures.size() > kMaxFigures) issues.push_back({"pareto", "expected at most two further figures"});

  SpaceLimits space_limits;
  std::vector<FigureLimit> figure_limits;
  for (const std::string& text : spec.limits) {
    Result<Condition> condition = ParseCondition(text);
    if (!condition) {
      issues.insert(issues.end(), condition.issues.begin(), condition.issues.end());
      continue;
    }
    std::string name = condition->path;
    StripPrefix(name, spec.of + ".");
    std::string member = name;
    StripPrefix(member, "mapping.");
    const std::vector<std::string_view> members = MembersOf(spec.of);
    if (std::find(members.begin(), members.end(), member) != members.end()) {
      SpaceLimit& limit = space_limits[member];
      if (condition->at_most) limit.high = std::min(limit.high, condition->bound);
      if (!condition->at_most) limit.low = std::max(limit.low, condition->bound);
    } else if (const Objective* figure = FindObjective(spec.of, name)) {
      figure_limits.push_back({figure, condition->at_most, condition->bound});
    } else {
      issues.push_back({"limit", "expected a member of the mapping or one of " + Names(spec.of) + "; got " + condition->path});
    }
  }
  if (!issues.empty()) return issues;

  Trace off = Trace::Off();
  if (scenario->cost) job->device_second_ = EvaluateCost(scenario->cluster, *scenario->cost, off).device_second;
  job->scenario_ = std::move(*scenario);
  const Scenario& kept = job->scenario_;
  const double devices = static_cast<double>(training ? *kept.training->devices : *kept.serving->devices);
  Count size = 0;
  if (training) {
    job->training_ = std::make_shared<TrainingSpace>(kept.model, *kept.training, static_cast<Count>(devices), space_limits);
    size = job->training_->Size();
  } else {
    job->serving_ = std::make_shared<ServingSpace>(kept.model, *kept.serving, static_cast<Count>(devices), std::vector<ServingPrecision>{},
                                                   space_limits);
    size = job->serving_->Size();
  }
  if (size == 0) return Issues{{"limit", "no mapping is left within the limits"}};
  if (size > kMaxSpace)
    return Issues{{"limit", std::to_string(size) + " mappings are more than the 1,000,000,000 that a search takes; set limits"}};
  job->options_.from = size / spec.shards * spec.shard + std::min(spec.shard, size % spec.shards);
  job->options_.to = size / spec.shards * (spec.shard + 1) + std::min(spec.shard + 1, size % spec.shards);
  job->options_.top = spec.top;
  job->options_.figures = figures.size();

  const auto outcome = [figures, figure_limits](const Answered& answered, const std::vector<Infeasibility>& infeasible) {
    Outcome result;
    if (!infeasible.empty()) {
      result.reason = ReasonOf(infeasible);
      return result;
    }
    result.reason = Broken(figure_limits, answered);
    result.feasible = result.reason.empty();
    for (std::size_t i = 0; i < figures.size(); ++i) {
      const double value = figures[i]->read(answered);
      result.figures[i] = figures[i]->larger_is_better ? -value : value;
    }
    return result;
  };
  Answered frame;
  frame.devices = devices;
  frame.device_second = job->device_second_;
  frame.device_power = kept.cluster.device.tdp;
  Search::Evaluate evaluate;
  if (training) {
    evaluate = [frame, outcome, &kept, space = job->training_, prune = spec.prune](Count index) {
      TrainingRun run = *kept.training;
      TrainingChoice choice = space->At(index);
      run.mapping = std::move(choice.mapping);
      run.recompute = choice.recompute;
      Trace trace = Trace::Off();
      const TrainingReport report = EvaluateTraining(kept.model, kept.cluster, run, {false, false, !prune}, trace);
      Answered answered = frame;
      answered.training = &report;
      return outcome(answered, report.infeasible);
    };
  } else {
    evaluate = [frame, outcome, &kept, space = job->serving_](Count index) {
      ServingLoad load = *kept.serving;
      const ServingChoice choice = space->At(index);
      load.mapping = choice.mapping;
      load.batch = {false, choice.batch};
      load.concurrency.reset();
      load.precision = choice.precision;
      Trace trace = Trace::Off();
      const ServingReport report = EvaluateServing(kept.model, kept.cluster, load, false, trace);
      Answered answered = frame;
      answered.serving = &report;
      return outcome(answered, report.infeasible);
    };
  }
  job->search_ = std::make_shared<Search>(job->options_, std::move(evaluate));
  return job;
}

Count SearchJob::SpaceSize() const { return training_ ? training_->Size() : serving_->Size(); }

Json SearchJob::OverridesAt(Count index) const {
  if (training_) {
    const TrainingChoice choice = training_->At(index);
    const TrainingMapping& m = choice.mapping;
    return Json{{"training.mapping.tp", m.tp},
                {"training.mapping.sequence_parallel", m.sequence_parallel},
                {"training.mapping.cp", m.cp},
                {"training.mapping.ep", m.ep},
                {"training.mapping.expert_tp", m.expert_tp},
                {"training.mapping.pp", m.pp},
                {"training.mapping.virtual_stages", m.virtual_stages},
                {"training.mapping.dp", *m.dp},
                {"training.mapping.zero", m.zero},
                {"training.mapping.micro_batch", m.micro_batch},
                {"training.mapping.schedule", NameOf(m.schedule)},
                {"training.recompute", NameOf(choice.recompute)}};
  }
  const ServingChoice choice = serving_->At(index);
  return Json{{"serving.mapping.tp", choice.mapping.tp},
              {"serving.mapping.pp", choice.mapping.pp},
              {"serving.mapping.ep", choice.mapping.ep},
              {"serving.mapping.attention_dp", choice.mapping.attention_dp},
              {"serving.mapping.replicas", *choice.mapping.replicas},
              {"serving.batch", choice.batch},
              {"serving.precision.weights", NameOf(choice.precision.weights)},
              {"serving.precision.activations", NameOf(choice.precision.activations)},
              {"serving.precision.kv_cache", NameOf(choice.precision.kv_cache)}};
}

Json SearchJob::Entry(const Found& found) const {
  Json entry{{"index", found.index}, {"overrides", OverridesAt(found.index)}};
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    const Objective* figure = FindObjective(of_, figures_[i]);
    entry[figures_[i]] = figure->larger_is_better ? -found.figures[i] : found.figures[i];
  }
  return entry;
}

Json SearchJob::Report(const SearchProgress& progress) const {
  Json rejected = Json::object();
  for (const auto& [reason, count] : progress.rejected) rejected[reason] = count;
  Json best = Json::array(), front = Json::array();
  for (const Found& found : progress.best) best.push_back(Entry(found));
  for (const Found& found : progress.front) front.push_back(Entry(found));
  return Json{{"space", SpaceSize()},          {"done", progress.done},           {"evaluated", progress.evaluated},
              {"feasible", progress.feasible}, {"rejected", std::move(rejected)}, {"objective", figures_[0]},
              {"best", std::move(best)},       {"pareto", std::move(front)}};
}

Json WriteProgress(const SearchProgress& progress) {
  const auto list = [](const std::vector<Found>& found) {
    Json places = Json::array();
    for (const Found& one : found) places.push_back(Json::array({one.index, one.figures[0], one.figures[1], one.figures[2]}));
    return places;
  };
  Json rejected = Json::object();
  for (const auto& [reason, count] : progress.rejected) rejected[reason] = count;
  return Json{{"done", progress.done},           {"evaluated", progress.evaluated}, {"feasible", progress.feasible},
              {"rejected", std::move(rejected)}, {"best", list(progress.best)},     {"front", list(progress.front)}};
}

Result<SearchProgress> ReadProgress(const Json& json) {
  SearchProgress progress;
  const auto list = [&](const char* key, std::vector<Found>& out) {
    if (!json.contains(key) || !json[key].is_array()) return false;
    for (const Json& one : json[key]) {
      if (!one.is_array() || one.size() != 4 || !std::all_of(one.begin(), one.end(), [](const Json& n) { return n.is_number(); }))
        return false;
      out.push_back({one[0].get<Count>(), {one[1].get<double>(), one[2].get<double>(), one[3].get<double>()}});
    }
    return true;
  };
  bool good = json.is_object() && list("best", progress.best) && list("front", progress.front);
  for (const char* key : {"done", "evaluated", "feasible"}) good = good && json.contains(key) && json[key].is_number_integer();
  if (!good || !json.contains("rejected") || !json["rejected"].is_object())
    return Issues{{"progress", "expected what a search shard prints"}};
  progress.done = json["done"].get<Count>();
  progress.evaluated = json["evaluated"].get<Count>();
  progress.feasible = json["feasible"].get<Count>();
  for (const auto& [reason, count] : json["rejected"].items()) {
    if (count.is_number_integer()) progress.rejected[std::string(reason.view())] = count.get<Count>();
  }
  return progress;
}

}  // namespace slipstick
