#include "core/study/search_figures.h"

#include "core/search/mapping_space.h"
#include "core/search/serving_space.h"

namespace slipstick {
namespace {

Joules EnergyOf(const TrainingReport& training, const WallPower& wall) {
  return (training.energy + training.device_seconds * wall.server) * wall.pue;
}
JoulesPerToken EnergyOf(const ServingReport& serving, const WallPower& wall) {
  return (serving.energy_per_token + serving.device_seconds_per_token * wall.server) * wall.pue;
}

constexpr SearchFigure kTrainingFigures[] = {
    {"step_time_s", false, [](const Answered& a) { return a.training->step_time.base(); }},
    {"time_to_train_s", false, [](const Answered& a) { return a.training->time_to_train.base(); }},
    {"tokens_per_s", true, [](const Answered& a) { return a.training->tokens_per_s.base(); }},
    {"tokens_per_s_per_device", true, [](const Answered& a) { return a.training->tokens_per_s_per_device.base(); }},
    {"model_flops_utilization", true, [](const Answered& a) { return a.training->model_flops_utilization; }},
    {"memory_bytes.total", false, [](const Answered& a) { return a.training->memory.Total().base(); }},
    {"memory_headroom_bytes", true, [](const Answered& a) { return (a.training->capacity - a.training->memory.Total()).base(); }},
    {"energy_j", false, [](const Answered& a) { return EnergyOf(*a.training, a.wall).base(); }},
    {"cost_usd", false, [](const Answered& a) { return (a.training->device_seconds * a.device_second).base(); }},
    {"tokens_per_usd", true, [](const Answered& a) { return a.training->tokens_per_s.base() / (a.devices * a.device_second.base()); }},
    {"tokens_per_j", true, [](const Answered& a) { return (a.tokens / EnergyOf(*a.training, a.wall)).base(); }}};

constexpr SearchFigure kServingFigures[] = {
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
    {"tokens_per_usd", true, [](const Answered& a) { return 1 / (a.serving->device_seconds_per_token * a.device_second).base(); }},
    {"energy_j_per_token", false, [](const Answered& a) { return EnergyOf(*a.serving, a.wall).base(); }},
    {"tokens_per_j", true, [](const Answered& a) { return 1 / EnergyOf(*a.serving, a.wall).base(); }}};

template <std::size_t N>
const SearchFigure* Find(const SearchFigure (&table)[N], std::string_view name) {
  for (const SearchFigure& one : table) {
    if (one.name == name) return &one;
  }
  return nullptr;
}
}  // namespace

const SearchFigure* FindSearchFigure(std::string_view of, std::string_view name) {
  return of == "training" ? Find(kTrainingFigures, name) : Find(kServingFigures, name);
}

std::vector<std::string> MemberPaths(std::string_view of) {
  const bool training = of == "training";
  std::vector<std::string> paths;
  for (const std::string_view member : training ? TrainingSpace::Members() : ServingSpace::Members()) {
    std::string part = "mapping.";
    const bool is_outside = member == "recompute" || member == "batch" || member == "prefill_chunk" || member.find('.') != member.npos;
    if (is_outside) part = "";
    if (member == "weights" || member == "activations" || member == "kv_cache") part = "precision.";
    if (member == "prefill_devices") part = "disaggregated.";
    paths.push_back(std::string(of) + "." + part + std::string(member));
  }
  return paths;
}

std::string SearchFigureNames(std::string_view of) {
  std::string names;
  const auto add = [&names](const auto& table) {
    for (const SearchFigure& one : table) names += (names.empty() ? "" : ", ") + std::string(one.name);
  };
  of == "training" ? add(kTrainingFigures) : add(kServingFigures);
  return names;
}

Json SearchObjectives() {
  Json all = Json::object();
  const auto list = [](const auto& table) {
    Json names = Json::array();
    for (const SearchFigure& one : table)
      names.push_back(Json{{"name", one.name}, {"better", one.larger_is_better ? "larger" : "smaller"}});
    return names;
  };
  all["training"] = list(kTrainingFigures);
  all["serving"] = list(kServingFigures);
  all["members"] = Json{{"training", MemberPaths("training")}, {"serving", MemberPaths("serving")}};
  return all;
}

}  // namespace slipstick
