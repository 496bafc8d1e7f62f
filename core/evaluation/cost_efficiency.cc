#include "core/evaluation/cost_efficiency.h"

#include <string_view>

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

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

// Embodied carbon of devices, servers and network, in proportion to the fraction of the devices' life used.
template <class Time>
auto EmbodiedOf(const HardwareCost& cost, Time device_seconds) {
  return Figure("Embodied", cost.carbon.of_system * device_seconds / cost.use, "share of the device's hours in use");
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

// Each pool has the price and the power of its own devices; `pools` is absent if there is only one pool.
ServingCostEfficiency EfficiencyOf(const CostReport* cost, const PoolUse& use,
                                   const std::optional<ByPass<PoolUse>>& pools) {
  ServingCostEfficiency found;
  TokenCost& all = found;
  if (pools) {
    const HardwareCost* prefill_cost = cost != nullptr && cost->prefill_pool ? &*cost->prefill_pool : cost;
    const TokenCost prefill = CostOf(pools->prefill, prefill_cost), decode = CostOf(pools->decode, cost);
    found.pools = {prefill, decode};
    all = OfBoth(prefill, decode);
  } else {
    all = CostOf(use, cost);
  }
  if (found.energy.total > JoulesPerToken())
    found.tokens_per_j = Figure("Tokens per joule", 1 / found.energy.total, "one output token over its energy");
  if (found.token && *found.token > DollarsPerToken())
    found.tokens_per_usd = Figure("Tokens per dollar", 1 / *found.token);
  return found;
}

}  // namespace

TrainingCostEfficiency CostEfficiencyOf(const CostReport* cost, const TrainingReport& training, const TrainingRun& run,
                                        Tape* tape) {
  const Tokens tokens = InputAt("training.tokens", run.tokens, tape);
  const std::optional<Joules>& with_interruptions = training.run.energy;
  TrainingCostEfficiency found;
  if (with_interruptions) found.run_energy = EnergyOf(*with_interruptions, *training.run.device_seconds, cost);
  found.energy = EnergyOf(training.energy, training.device_seconds, cost);
  const Joules energy = found.energy.total;
  if (energy > Joules())
    found.tokens_per_j = Figure("Tokens per joule", tokens / energy, "tokens over training energy");
  if (cost == nullptr) return found;
  found.emitted = EmittedOf(*cost, energy);
  found.embodied = EmbodiedOf(*cost, training.device_seconds);
  if (with_interruptions) {
    found.run_emitted =
        Figure("Emitted by the run", found.run_energy->total * cost->grid_intensity, "interruptions included");
    found.run = Figure("Price of the run", *training.run.device_seconds * cost->device_second);
  }
  found.steps = Figure("Price of the steps", training.device_seconds * cost->device_second);
  if (*found.steps > Dollars()) found.tokens_per_usd = Figure("Tokens per dollar", tokens / *found.steps);
  return found;
}

ServingCostEfficiency CostEfficiencyOf(const CostReport* cost, const ServingReport& serving) {
  ServingCostEfficiency found =
      EfficiencyOf(cost, {serving.device_seconds_per_token, serving.energy_per_token}, serving.pools);
  if (serving.sessions && found.token)
    found.session =
        Figure("Cost of a session", *found.token * serving.sessions->output, "of the answers of all its turns");
  return found;
}

DiffusionCostEfficiency CostEfficiencyOf(const CostReport* cost, const DiffusionReport& diffusion) {
  DiffusionCostEfficiency found;
  found.energy = EnergyOf(diffusion.energy, diffusion.device_seconds, cost);
  if (cost != nullptr) {
    found.emitted = EmittedOf(*cost, found.energy.total);
    found.embodied = EmbodiedOf(*cost, diffusion.device_seconds);
    found.price = Figure("Price of an image or clip", cost->device_second * diffusion.device_seconds,
                         "idle hours are paid for by the hours in use");
  }
  return found;
}

DeviceCostEfficiency CostEfficiencyOf(const CostReport& cost, const Device& device, Tape* tape) {
  DeviceCostEfficiency found;
  const FlopsPerSecond peak = InputAt("cluster.device.peak.bf16", PeakRate(device, Precision::kBf16), tape);
  const Watts tdp = InputAt("cluster.device.tdp", device.tdp, tape);
  if (cost.device_second > DollarsPerSecond())
    found.flops_per_usd =
        Figure("FLOP per dollar", peak / cost.device_second, "dense 16-bit peak rate over the cost per GPU-second");
  if (tdp > Watts()) found.flops_per_j = Figure("FLOP per joule", peak / tdp, "dense 16-bit peak rate over the TDP");
  return found;
}

}  // namespace slipstick
