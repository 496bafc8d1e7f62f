#include "core/evaluation/cost_efficiency.h"

#include <string>
#include <string_view>
#include <utility>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/base/figure.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

const HardwareCost* Found(const std::optional<CostReport>& cost) { return cost ? &*cost : nullptr; }

template <class Energy, class Time>
EnergyParts<Energy> EnergyOf(Energy devices, Time device_seconds, const HardwareCost* cost) {
  EnergyParts<Energy> energy;
  energy.devices = devices;
  if (cost == nullptr) {
    energy.total = Figure("Energy", devices, "devices only: the cost question is off");
    return energy;
  }
  const WallPower& wall = cost->wall;
  energy.servers = Figure("Server energy", device_seconds * wall.server, "CPUs, NICs, fans and power supplies");
  energy.network = Figure("Network energy", device_seconds * wall.network, "switches and optics outside the servers");
  energy.building = Figure("Building energy", (devices + *energy.servers + *energy.network) * (wall.pue - 1),
                           "cooling and power distribution");
  energy.total = Figure("Energy", devices + *energy.servers + *energy.network + *energy.building,
                        "devices, the rest of their servers, the network, and the building (PUE)");
  return energy;
}

template <class Energy>
auto EmittedOf(const HardwareCost& cost, Energy energy) {
  return Figure("Emitted", energy * cost.grid_intensity, "operational; embodied carbon is a separate figure");
}

// Embodied carbon with server and network, by the share of the devices' life that they are used for.
template <class Time>
auto EmbodiedOf(const HardwareCost& cost, Time device_seconds) {
  return Figure("Embodied", cost.carbon.of_system * device_seconds / cost.use, "share of the device's hours in use");
}

// What callers that name their terms know of a run.
struct Used {
  Joules energy;
  Seconds device_seconds;
};
struct TrainingUse {
  Used steps;
  std::optional<Used> run;  // with interruptions
  Tokens tokens;
};

TrainingCostEfficiency EfficiencyOf(const std::optional<CostReport>& cost, const TrainingUse& use) {
  TrainingCostEfficiency found;
  if (use.run) found.run_energy = EnergyOf(use.run->energy, use.run->device_seconds, Found(cost));
  found.energy = EnergyOf(use.steps.energy, use.steps.device_seconds, Found(cost));
  const Joules energy = found.energy.total;
  if (energy > Joules())
    found.tokens_per_j = Figure("Tokens per joule", use.tokens / energy, "tokens over training energy");
  if (!cost) return found;
  found.emitted = EmittedOf(*cost, energy);
  if (found.run_energy)
    found.run_emitted =
        Figure("Emitted by the run", found.run_energy->total * cost->grid_intensity, "interruptions included");
  found.embodied = EmbodiedOf(*cost, use.steps.device_seconds);
  if (use.run) found.run = Figure("Price of the run", use.run->device_seconds * cost->device_second);
  found.steps = Figure("Price of the steps", use.steps.device_seconds * cost->device_second);
  if (*found.steps > Dollars()) found.tokens_per_usd = Figure("Tokens per dollar", use.tokens / *found.steps);
  return found;
}

TokenCost CostOf(const PoolUse& use, const HardwareCost* cost) {
  TokenCost share{EnergyOf(use.energy, use.device_seconds, cost), {}, {}, {}};
  if (cost == nullptr || !(use.device_seconds > SecondsPerToken())) return share;
  share.emitted = EmittedOf(*cost, share.energy.total);
  share.embodied = EmbodiedOf(*cost, use.device_seconds);
  share.token = Figure("Price of a token", cost->device_second * use.device_seconds,
                       "idle hours are paid for by the hours in use");
  return share;
}

template <class Q>
std::optional<Q> OfBoth(std::string_view title, const std::optional<Q>& prefill, const std::optional<Q>& decode) {
  if (!prefill || !decode) return std::nullopt;
  return Figure(title, *prefill + *decode, "both pools");
}

TokenCost OfBoth(const TokenCost& prefill, const TokenCost& decode) {
  const auto &a = prefill.energy, &b = decode.energy;
  TokenCost both;
  both.energy.devices = a.devices + b.devices;
  both.energy.servers = OfBoth("Server energy", a.servers, b.servers);
  both.energy.network = OfBoth("Network energy", a.network, b.network);
  both.energy.building = OfBoth("Building energy", a.building, b.building);
  both.energy.total = Figure("Energy", a.total + b.total, "both pools");
  both.token = OfBoth("Price of a token", prefill.token, decode.token);
  both.emitted = OfBoth("Emitted", prefill.emitted, decode.emitted);
  both.embodied = OfBoth("Embodied", prefill.embodied, decode.embodied);
  return both;
}

// Each pool at the price and the power of its own devices; `pools`: absent, all devices are one.
ServingCostEfficiency EfficiencyOf(const std::optional<CostReport>& cost, const PoolUse& use,
                                   const std::optional<ByPass<PoolUse>>& pools) {
  ServingCostEfficiency found;
  TokenCost& all = found;
  if (pools) {
    const HardwareCost* prefill_cost = cost && cost->prefill_pool ? &*cost->prefill_pool : Found(cost);
    const TokenCost prefill = CostOf(pools->prefill, prefill_cost), decode = CostOf(pools->decode, Found(cost));
    found.pools = {prefill, decode};
    all = OfBoth(prefill, decode);
  } else {
    all = CostOf(use, Found(cost));
  }
  if (found.energy.total > JoulesPerToken())
    found.tokens_per_j = Figure("Tokens per joule", 1 / found.energy.total, "one output token over its energy");
  if (found.token && *found.token > DollarsPerToken())
    found.tokens_per_usd = Figure("Tokens per dollar", 1 / *found.token);
  return found;
}

// The figures that the report shows, at its paths.
template <class Q>
void Report(const std::string& path, const std::optional<Q>& shown, Trace& trace) {
  if (shown) trace.Report(path, *shown);
}

template <class Energy>
void Report(const EnergyParts<Energy>& energy, const std::string& part, const std::string& unit, Trace& trace) {
  Report(part + ".server_energy_" + unit, energy.servers, trace);
  Report(part + ".network_energy_" + unit, energy.network, trace);
  Report(part + ".building_energy_" + unit, energy.building, trace);
  trace.Report(part + ".energy_" + unit, energy.total);
}

void Report(const TokenCost& cost, const std::string& part, Trace& trace) {
  Report(part + ".cost_usd_per_million_tokens", cost.token, trace);
  Report(part + ".carbon_g_per_million_tokens", cost.emitted, trace);
  Report(part + ".embodied_g_per_million_tokens", cost.embodied, trace);
}

}  // namespace

TrainingCostEfficiency CostEfficiencyOf(const std::optional<CostReport>& cost, const TrainingReport& training,
                                        const TrainingRun& run, Trace& trace) {
  TrainingUse use{{training.energy, training.device_seconds}, std::nullopt, run.tokens};
  if (training.run.energy) use.run = {*training.run.energy, *training.run.device_seconds};
  BindInputs(use.tokens, "training.tokens", trace);
  const TrainingCostEfficiency found = EfficiencyOf(cost, use);
  if (!trace.on()) return found;
  if (found.run_energy) trace.Report("training.run.energy_j", found.run_energy->total);
  Report(found.energy, "training", "j", trace);
  Report("training.tokens_per_j", found.tokens_per_j, trace);
  Report("training.tco2", found.emitted, trace);
  Report("training.run.tco2", found.run_emitted, trace);
  Report("training.tco2_embodied", found.embodied, trace);
  Report("training.run.cost_usd", found.run, trace);
  Report("training.cost_usd", found.steps, trace);
  Report("training.tokens_per_usd", found.tokens_per_usd, trace);
  return found;
}

ServingCostEfficiency CostEfficiencyOf(const std::optional<CostReport>& cost, const ServingReport& serving,
                                       Trace& trace) {
  ServingCostEfficiency found =
      EfficiencyOf(cost, {serving.device_seconds_per_token, serving.energy_per_token}, serving.pools);
  if (serving.sessions && found.token)
    found.session =
        Figure("Cost of a session", *found.token * serving.sessions->output, "of the answers of all its turns");
  if (!trace.on()) return found;
  Report(found.energy, "serving", "j_per_token", trace);
  Report("serving.tokens_per_j", found.tokens_per_j, trace);
  Report(found, "serving", trace);
  Report("serving.tokens_per_usd", found.tokens_per_usd, trace);
  Report("serving.session_usd", found.session, trace);
  if (!found.pools) return found;
  for (const auto& [pool, part] : {std::pair(&found.pools->prefill, "serving.pools.prefill"),
                                   std::pair(&found.pools->decode, "serving.pools.decode")}) {
    trace.Report(std::string(part) + ".energy_j_per_token", pool->energy.total);
    Report(*pool, part, trace);
  }
  return found;
}

DiffusionCostEfficiency CostEfficiencyOf(const std::optional<CostReport>& cost, const DiffusionReport& diffusion,
                                         Trace& trace) {
  DiffusionCostEfficiency found;
  found.energy = EnergyOf(diffusion.energy, diffusion.device_seconds, Found(cost));
  if (cost) {
    found.emitted = EmittedOf(*cost, found.energy.total);
    found.embodied = EmbodiedOf(*cost, diffusion.device_seconds);
    found.price = Figure("Price of an image or clip", cost->device_second * diffusion.device_seconds,
                         "idle hours are paid for by the hours in use");
  }
  if (!trace.on()) return found;
  Report(found.energy, "diffusion", "j", trace);
  Report("diffusion.cost_usd", found.price, trace);
  Report("diffusion.carbon_g", found.emitted, trace);
  Report("diffusion.embodied_g", found.embodied, trace);
  return found;
}

DeviceCostEfficiency CostEfficiencyOf(const CostReport& cost, const Device& device, Trace& trace) {
  DeviceCostEfficiency found;
  FlopsPerSecond peak = PeakRate(device, Precision::kBf16);
  Watts tdp = device.tdp;
  BindInputs(peak, "cluster.device.peak.bf16", trace);
  BindInputs(tdp, "cluster.device.tdp", trace);
  if (cost.device_second > DollarsPerSecond())
    found.flops_per_usd =
        Figure("FLOP per dollar", peak / cost.device_second, "dense 16-bit peak rate over the cost per GPU-second");
  if (tdp > Watts()) found.flops_per_j = Figure("FLOP per joule", peak / tdp, "dense 16-bit peak rate over the TDP");
  Report("cost.flops_per_usd", found.flops_per_usd, trace);
  Report("cost.flops_per_j", found.flops_per_j, trace);
  return found;
}

}  // namespace slipstick
