#include "core/study/report.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace slipstick {
namespace {

template <class Q>
Json OrNull(const std::optional<Q>& value) {
  return value ? Json(value->base()) : Json(nullptr);
}

Json Write(const std::vector<Infeasibility>& infeasible) {
  Json list = Json::array();
  for (const Infeasibility& one : infeasible) list.push_back(ObjectOf({{"reason", one.reason}, {"message", one.message}}));
  return list;
}

Json Write(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

Json Write(const std::vector<BillLine>& lines) {
  Json list = Json::array();
  for (const BillLine& line : lines) list.push_back(ObjectOf({{"name", line.name}, {"cost_usd", line.cost.base()}}));
  return list;
}

Json Write(const std::vector<CarbonLine>& lines) {
  Json list = Json::array();
  for (const CarbonLine& line : lines) list.push_back(ObjectOf({{"name", line.name}, {"carbon_g", line.carbon.base()}}));
  return list;
}

Json Write(const StepTime& time) {
  return ObjectOf({{"forward", time.forward.base()},
                   {"backward", time.backward.base()},
                   {"recompute", time.recompute.base()},
                   {"tp", time.tp.base()},
                   {"cp", time.cp.base()},
                   {"ep", time.ep.base()},
                   {"pp", time.pp.base()},
                   {"dp", time.dp.base()},
                   {"bubble", time.bubble.base()},
                   {"optimizer", time.optimizer.base()},
                   {"other", time.other.base()},
                   {"offload", time.offload.base()}});
}

Json Write(const TrainingMemory& memory, Bytes capacity) {
  return ObjectOf({{"weights", memory.weights.base()},
                   {"gradients", memory.gradients.base()},
                   {"optimizer", memory.optimizer.base()},
                   {"activations", memory.activations.base()},
                   {"workspace", memory.workspace.base()},
                   {"total", memory.Total().base()},
                   {"capacity", capacity.base()},
                   {"host", memory.host.base()}});
}

Json Write(const std::vector<TimedOperator>& operators) {
  Json list = Json::array();
  for (const TimedOperator& one : operators) {
    Json levels = Json::array();
    for (const Bytes bytes : one.level_bytes) levels.push_back(bytes.base());
    list.push_back(ObjectOf({{"name", one.name},
                             {"flops", one.flops.base()},
                             {"bytes", one.bytes.base()},
                             {"level_bytes", std::move(levels)},
                             {"time_s", one.time.base()},
                             {"bound", NameOf(one.bound)}}));
  }
  return list;
}

Json Write(const std::vector<ServedOperator>& operators) {
  Json list = Json::array();
  for (const ServedOperator& one : operators) {
    list.push_back(ObjectOf({{"name", one.name},
                             {"flops", one.flops.base()},
                             {"bytes", one.bytes.base()},
                             {"time_s", one.time.base()},
                             {"count", one.count},
                             {"bound", NameOf(one.bound)}}));
  }
  return list;
}

Json Write(const Figure& figure) {
  Json terms = Json::array();
  for (const Term& term : figure.terms) {
    terms.push_back(
        ObjectOf({{"symbol", term.symbol}, {"value", term.value}, {"unit", BaseUnitText(term.dimension)}, {"origin", term.origin}}));
  }
  return ObjectOf({{"path", figure.path},
                   {"symbol", figure.symbol},
                   {"title", figure.title},
                   {"note", figure.note},
                   {"source", figure.source},
                   {"formula", figure.formula},
                   {"value", figure.value},
                   {"unit", BaseUnitText(figure.dimension)},
                   {"terms", std::move(terms)}});
}

// Null where no cost is asked.
template <class Energy>
Json WallOnly(Energy energy, bool at_the_wall) {
  return at_the_wall ? Json(energy.base()) : Json(nullptr);
}

Json Tonnes(std::optional<Grams> carbon) { return carbon ? Json(In(*carbon, kKg) / 1000) : Json(nullptr); }

Json Write(const RunReport& run, const TrainingWorth& worth) {
  const auto base = [](const auto& optional) { return optional ? Json(optional->base()) : Json(nullptr); };
  return ObjectOf({{"mean_time_between_interruptions_s", run.mean_time_between_interruptions.base()},
                   {"interruptions", run.interruptions},
                   {"checkpoint_bytes", run.checkpoint.base()},
                   {"checkpoint_stall_s", run.checkpoint_stall.base()},
                   {"checkpoint_interval_s", run.checkpoint_interval.base()},
                   {"young_interval_s", run.young_interval.base()},
                   {"daly_interval_s", run.daly_interval.base()},
                   {"goodput", run.goodput},
                   {"wall_time_s", base(run.wall_time)},
                   {"energy_j", worth.run_energy ? Json(worth.run_energy->total.base()) : Json(nullptr)},
                   {"device_energy_j", base(run.energy)},
                   {"tco2", Tonnes(worth.run_emitted)},
                   {"cost_usd", base(worth.run)},
                   {"compute_optimal_tokens", run.compute_optimal_tokens.base()},
                   {"compute_optimal_parameters", run.compute_optimal_parameters}});
}

}  // namespace

Json WriteTimeline(const std::vector<ScheduledPass>& timeline) {
  Json list = Json::array();
  for (const ScheduledPass& pass : timeline) {
    list.push_back(ObjectOf({{"stage", pass.stage},
                             {"chunk", pass.chunk},
                             {"micro_batch", pass.micro_batch},
                             {"kind", pass.kind},
                             {"start_s", pass.start.base()},
                             {"end_s", pass.end.base()}}));
  }
  return list;
}

Json WriteTraining(const TrainingReport& report, const TrainingWorth& worth) {
  Json stages = Json::array();
  for (const TrainingStage& stage : report.stages) {
    stages.push_back(
        ObjectOf({{"layers", stage.layers}, {"memory_bytes", Write(stage.memory, report.capacity)}, {"time_s", Write(stage.time)}}));
  }
  return ObjectOf({{"feasible", report.infeasible.empty()},
                   {"infeasible", Write(report.infeasible)},
                   {"assumed", Write(report.assumed)},
                   {"step_time_s", report.step_time.base()},
                   {"time_to_train_s", report.time_to_train.base()},
                   {"tokens_per_s", report.tokens_per_s.base()},
                   {"tokens_per_s_per_device", report.tokens_per_s_per_device.base()},
                   {"model_flops_utilization", report.model_flops_utilization},
                   {"model_flops_utilization_causal", report.model_flops_utilization_causal},
                   {"hardware_flops_utilization", report.hardware_flops_utilization},
                   {"arithmetic_utilization", report.arithmetic_utilization},
                   {"model_flops_per_step", report.model_flops_per_step.base()},
                   {"model_flops_per_step_causal", report.model_flops_per_step_causal.base()},
                   {"time_s", Write(report.time)},
                   {"communication_s",
                    {{"tp", report.communication.tp.base()},
                     {"cp", report.communication.cp.base()},
                     {"ep", report.communication.ep.base()},
                     {"pp", report.communication.pp.base()},
                     {"dp", report.communication.dp.base()},
                     {"offload", report.communication.offload.base()}}},
                   {"dropped_tokens", report.dropped_tokens},
                   {"memory_bytes", Write(report.memory, report.capacity)},
                   {"stages", std::move(stages)},
                   {"energy_j", worth.energy.total.base()},
                   {"device_energy_j", worth.energy.devices.base()},
                   {"server_energy_j", WallOnly(worth.energy.servers, worth.at_the_wall)},
                   {"building_energy_j", WallOnly(worth.energy.building, worth.at_the_wall)},
                   {"tco2", Tonnes(worth.emitted)},
                   {"tco2_embodied", Tonnes(worth.embodied)},
                   {"cost_usd", OrNull(worth.steps)},
                   {"run", Write(report.run, worth)},
                   {"tokens_per_usd", OrNull(worth.tokens_per_usd)},
                   {"tokens_per_j", OrNull(worth.tokens_per_j)},
                   {"operators", Write(report.operators)},
                   {"timeline", WriteTimeline(report.timeline)}});
}

Json WriteServing(const ServingReport& report, const ServingWorth& worth) {
  return Json{
      {"feasible", report.infeasible.empty()},
      {"infeasible", Write(report.infeasible)},
      {"assumed", Write(report.assumed)},
      {"ttft_s", report.ttft.base()},
      {"tpot_s", report.tpot.base()},
      {"request_latency_s", report.request_latency.base()},
      {"prefill_s", report.prefill.base()},
      {"decode_step_s", report.decode_step.base()},
      {"static_ttft_s", report.static_ttft.base()},
      {"static_tpot_s", report.static_tpot.base()},
      {"static_latency_s", report.static_latency.base()},
      {"tokens_per_s", report.tokens_per_s.base()},
      {"tokens_per_s_per_device", report.tokens_per_s_per_device.base()},
      {"tokens_per_s_per_user", report.tokens_per_s_per_user.base()},
      {"requests_per_s", report.requests_per_s},
      {"requests_in_flight", report.requests_in_flight},
      {"requests_waiting", report.requests_waiting},
      {"batch", report.batch},
      {"kv_cache_bytes_per_token", report.kv_cache_per_token.base()},
      {"kv_cache_bytes", report.kv_cache.base()},
      {"state_bytes_per_sequence", report.state_per_sequence.base()},
      {"kv_offload",
       {{"bytes", report.offloaded.base()}, {"transfer_s", report.offload_transfer.base()}, {"exposed_s", report.offload_exposed.base()}}},
      {"max_batch", report.max_batch},
      {"max_context", report.max_context},
      {"memory_bytes",
       {{"weights", report.memory.weights.base()},
        {"kv_cache", report.memory.kv_cache.base()},
        {"activations", report.memory.activations.base()},
        {"workspace", report.memory.workspace.base()},
        {"total", report.memory.Total().base()},
        {"capacity", report.capacity.base()}}},
      {"bound", {{"prefill", NameOf(report.prefill_bound)}, {"decode", NameOf(report.decode_bound)}}},
      {"cost_usd_per_million_tokens", worth.token ? Json(In(*worth.token, kUsdPerMToken)) : Json(nullptr)},
      {"tokens_per_usd", OrNull(worth.tokens_per_usd)},
      {"tokens_per_j", OrNull(worth.tokens_per_j)},
      {"energy_j_per_token", worth.energy.total.base()},
      {"device_energy_j_per_token", worth.energy.devices.base()},
      {"server_energy_j_per_token", WallOnly(worth.energy.servers, worth.at_the_wall)},
      {"building_energy_j_per_token", WallOnly(worth.energy.building, worth.at_the_wall)},
      {"operators", {{"prefill", Write(report.prefill_operators)}, {"decode", Write(report.decode_operators)}}}};
}

Json WriteCost(const CostReport& report, const std::vector<std::string>& assumed, const DeviceWorth& worth) {
  Json dies = Json::array();
  for (const DieReport& die : report.dies) {
    dies.push_back(ObjectOf({{"name", die.name},
                             {"area_mm2", die.area.base()},
                             {"node", die.node},
                             {"count", die.count},
                             {"dies_per_wafer", die.dies_per_wafer},
                             {"yield", die.yield},
                             {"cost_usd", die.cost.base()}}));
  }
  return ObjectOf({{"feasible", report.infeasible.empty()},
                   {"infeasible", Write(report.infeasible)},
                   {"assumed", Write(assumed)},
                   {"dies", std::move(dies)},
                   {"device_usd", report.device.base()},
                   {"device_usd_parts", Write(report.device_parts)},
                   {"device_price_usd", report.device_price.base()},
                   {"package_yield", report.package_yield},
                   {"system_usd", report.system.base()},
                   {"system_usd_parts", Write(report.system_parts)},
                   {"device_hour_usd", report.device_hour.base()},
                   {"device_hour_usd_parts", Write(report.device_hour_parts)},
                   {"flops_per_usd", OrNull(worth.flops_per_usd)},
                   {"flops_per_j", OrNull(worth.flops_per_j)},
                   {"carbon",
                    {{"embodied_g", report.embodied.base()},
                     {"embodied_g_parts", Write(report.embodied_parts)},
                     {"operation_g_per_device_hour", In(1 * kHour * report.operation, kGram)}}}});
}

Json WriteExplanations(const std::vector<Figure>& figures, std::string_view path) {
  Json list = Json::array();
  if (path == "*") {
    for (const Figure& figure : figures) list.push_back(Write(figure));
    return list;
  }
  std::unordered_map<std::string, const Figure*> by_path;  // the latest of a path is the one shown
  for (const Figure& figure : figures) by_path[figure.path] = &figure;
  std::vector<std::string> open{std::string(path)};
  std::unordered_set<std::string> seen;
  for (std::size_t next = 0; next < open.size(); ++next) {
    const auto found = by_path.find(open[next]);
    if (found == by_path.end() || !seen.insert(open[next]).second) continue;
    list.push_back(Write(*found->second));
    for (const Term& term : found->second->terms) {
      if (!term.origin.empty()) open.push_back(term.origin);
    }
  }
  return list;
}

}  // namespace slipstick
