#include "core/evaluation/cost_efficiency.h"

#include <string_view>

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

std::optional<Dollars> PriceOfWallTime(const CostReport& cost, std::optional<Seconds> wall_device_seconds,
                                       Trace& trace) {
  if (!wall_device_seconds) return std::nullopt;
  const DollarsPerSecond device_second = cost.device_second;
  const Seconds device_seconds = *wall_device_seconds;
  FIGURE(trace, run_price, device_seconds * device_second, (Note{"", "", "", "training.run.cost_usd"}), device_seconds,
         device_second);
  return run_price;
}

// Report paths of an energy and its parts; such figures take their titles from the outputs.
struct EnergyPaths {
  std::string_view total, servers, network, building;
};
constexpr EnergyPaths kOfSteps{"training.energy_j", "training.server_energy_j", "training.network_energy_j",
                               "training.building_energy_j"};
constexpr EnergyPaths kOfRun{"training.run.energy_j", "", "", ""};
constexpr EnergyPaths kOfToken{"serving.energy_j_per_token", "serving.server_energy_j_per_token",
                               "serving.network_energy_j_per_token", "serving.building_energy_j_per_token"};

template <class Energy, class Time>
EnergyParts<Energy> EnergyOf(Energy device_energy, Time device_seconds, const HardwareCost* cost,
                             const EnergyPaths& paths, Trace& trace) {
  if (cost == nullptr) {
    LISTED_FIGURE(trace, energy, 1 * device_energy,
                  (Note{"", "devices only: the cost question is off", "", paths.total}), device_energy);
    return {device_energy, std::nullopt, std::nullopt, std::nullopt, energy};
  }
  const WallPower& wall = cost->wall;
  const Watts server_power = wall.server, network_share = wall.network;
  const double pue = wall.pue;
  trace.Input("pue", pue, "cost.system.pue");
  LISTED_FIGURE(trace, server_energy, device_seconds * server_power,
                (Note{"Energy of the rest of the servers", "", "", paths.servers}), device_seconds, server_power);
  LISTED_FIGURE(trace, network_energy, device_seconds * network_share,
                (Note{"Energy of the network outside the servers", "", "", paths.network}), device_seconds,
                network_share);
  LISTED_FIGURE(trace, building_energy, (device_energy + server_energy + network_energy) * (pue - 1),
                (Note{"Energy of cooling and power distribution", "", "", paths.building}), device_energy,
                server_energy, network_energy, pue);
  LISTED_FIGURE(trace, energy, device_energy + server_energy + network_energy + building_energy,
                (Note{"", "devices, the rest of their servers, the network, and the building (PUE)", "", paths.total}),
                device_energy, server_energy, network_energy, building_energy);
  return {device_energy, server_energy, network_energy, building_energy, energy};
}

// Operational carbon, from the electricity.
template <class Energy>
auto EmittedOf(const HardwareCost& cost, Energy energy, std::string_view path, Trace& trace) {
  const GramsPerJoule grid_intensity = cost.grid_intensity;
  LISTED_FIGURE(trace, emitted, energy * grid_intensity,
                (Note{"", "operational; embodied carbon is a separate figure", "", path}), energy, grid_intensity);
  return emitted;
}

// Embodied carbon, by the share of the devices' life that they are used for.
template <class Time>
auto EmbodiedOf(const HardwareCost& cost, Time device_seconds, std::string_view path, Trace& trace) {
  const Grams embodied = cost.carbon.embodied;
  const Seconds device_life = cost.use;
  LISTED_FIGURE(trace, embodied_share, embodied * device_seconds / device_life,
                (Note{"", "share of the device's hours in use", "", path}), embodied, device_seconds, device_life);
  return embodied_share;
}

constexpr std::string_view kServingCost = "serving.cost_usd_per_million_tokens",
                           kServingCarbon = "serving.carbon_g_per_million_tokens",
                           kServingEmbodied = "serving.embodied_g_per_million_tokens";

void CarbonOf(const CostReport& cost, SecondsPerToken device_seconds, ServingCostEfficiency& cost_efficiency,
              Trace& trace) {
  cost_efficiency.emitted = EmittedOf(cost, cost_efficiency.energy.total, kServingCarbon, trace);
  cost_efficiency.embodied = EmbodiedOf(cost, device_seconds, kServingEmbodied, trace);
}

// Report paths of a pool.
struct PoolPaths {
  std::string_view scope;
  EnergyPaths energy;
  std::string_view cost, carbon, embodied;
};
constexpr PoolPaths kPrefillPool{"prefill_pool",
                                 {"serving.pools.prefill.energy_j_per_token", "", "", ""},
                                 "serving.pools.prefill.cost_usd_per_million_tokens",
                                 "serving.pools.prefill.carbon_g_per_million_tokens",
                                 "serving.pools.prefill.embodied_g_per_million_tokens"};
constexpr PoolPaths kDecodePool{"decode_pool",
                                {"serving.pools.decode.energy_j_per_token", "", "", ""},
                                "serving.pools.decode.cost_usd_per_million_tokens",
                                "serving.pools.decode.carbon_g_per_million_tokens",
                                "serving.pools.decode.embodied_g_per_million_tokens"};

struct PricedPool {
  PoolCostEfficiency efficiency;
  EnergyParts<JoulesPerToken> energy;
};
PricedPool PriceOf(const PoolUse& use, const HardwareCost* cost, const PoolPaths& paths, Trace& trace) {
  const Trace::Scope question(trace, "serving"), scope(trace, paths.scope);
  PricedPool pool{{use, {}, {}, {}, {}}, EnergyOf(use.energy, use.device_seconds, cost, paths.energy, trace)};
  pool.efficiency.total_energy = pool.energy.total;
  if (cost == nullptr) return pool;
  const SecondsPerToken device_seconds = use.device_seconds;
  const DollarsPerSecond device_second = cost->device_second;
  LISTED_FIGURE(trace, pool_price, device_seconds * device_second,
                (Note{"", "idle hours are paid for by the hours in use", "", paths.cost}), device_seconds,
                device_second);
  pool.efficiency.token = pool_price;
  pool.efficiency.emitted = EmittedOf(*cost, pool.energy.total, paths.carbon, trace);
  pool.efficiency.embodied = EmbodiedOf(*cost, device_seconds, paths.embodied, trace);
  return pool;
}

template <class Figure>
std::optional<Figure> OfBoth(std::optional<Figure> in_prefill, std::optional<Figure> in_decode, std::string_view name,
                             std::string_view path, Trace& trace) {
  if (!in_prefill || !in_decode) return std::nullopt;
  const Figure prefill_pool = *in_prefill, decode_pool = *in_decode;
  trace.Alias("prefill_pool", prefill_pool, name);
  trace.Alias("decode_pool", decode_pool, name);
  LISTED_FIGURE(trace, both_pools, prefill_pool + decode_pool, (Note{"", "both pools", "", path}), prefill_pool,
                decode_pool);
  return both_pools;
}

// Each pool at the price and power of its own devices.
ServingCostEfficiency OfPools(const std::optional<CostReport>& cost, const ByPass<PoolUse>& pools, Trace& trace) {
  const HardwareCost* decode_cost = cost ? &*cost : nullptr;
  const HardwareCost* prefill_cost = cost && cost->prefill_pool ? &*cost->prefill_pool : decode_cost;
  const PricedPool prefill = PriceOf(pools.prefill, prefill_cost, kPrefillPool, trace),
                   decode = PriceOf(pools.decode, decode_cost, kDecodePool, trace);
  const auto sum = [&](const auto& in_prefill, const auto& in_decode, std::string_view name, std::string_view path) {
    return OfBoth(std::optional(in_prefill), std::optional(in_decode), name, path, trace);
  };
  ServingCostEfficiency both;
  both.pools = {prefill.efficiency, decode.efficiency};
  const auto &a = prefill.energy, &b = decode.energy;
  both.energy.devices = a.devices + b.devices;
  both.energy.servers = sum(a.servers, b.servers, "server_energy", kOfToken.servers);
  both.energy.network = sum(a.network, b.network, "network_energy", kOfToken.network);
  both.energy.building = sum(a.building, b.building, "building_energy", kOfToken.building);
  both.energy.total = *sum(a.total, b.total, "energy", kOfToken.total);
  const PoolCostEfficiency &c = prefill.efficiency, &d = decode.efficiency;
  both.token = sum(c.token, d.token, "pool_price", kServingCost);
  both.emitted = sum(c.emitted, d.emitted, "emitted", kServingCarbon);
  both.embodied = sum(c.embodied, d.embodied, "embodied_share", kServingEmbodied);
  return both;
}

// One pool.
ServingCostEfficiency OfDevices(const std::optional<CostReport>& cost, const ServingReport& serving, Trace& trace) {
  ServingCostEfficiency cost_efficiency;
  cost_efficiency.energy =
      EnergyOf(serving.energy_per_token, serving.device_seconds_per_token, cost ? &*cost : nullptr, kOfToken, trace);
  const TokensPerSecond tokens_per_s_per_device = serving.tokens_per_s_per_device;
  trace.Alias("tokens_per_s_per_device", tokens_per_s_per_device, "rate_per_device");
  if (!cost || !(tokens_per_s_per_device > TokensPerSecond())) return cost_efficiency;
  CarbonOf(*cost, serving.device_seconds_per_token, cost_efficiency, trace);
  const DollarsPerSecond device_second = cost->device_second;
  FIGURE(trace, token_price, device_second / tokens_per_s_per_device,
         (Note{"", "idle hours are paid for by the hours in use", "", kServingCost}), device_second,
         tokens_per_s_per_device);
  cost_efficiency.token = token_price;
  return cost_efficiency;
}

void CarbonOf(const CostReport& cost, Seconds device_seconds, TrainingCostEfficiency& cost_efficiency, Trace& trace) {
  cost_efficiency.emitted = EmittedOf(cost, cost_efficiency.energy.total, "training.tco2", trace);
  if (cost_efficiency.run_energy) {
    const Joules run_energy = cost_efficiency.run_energy->total;
    const GramsPerJoule grid_intensity = cost.grid_intensity;
    trace.Alias("run_energy", run_energy, "energy");
    FIGURE(trace, run_emitted, run_energy * grid_intensity,
           (Note{"", "interruptions included", "", "training.run.tco2"}), run_energy, grid_intensity);
    cost_efficiency.run_emitted = run_emitted;
  }
  cost_efficiency.embodied = EmbodiedOf(cost, device_seconds, "training.tco2_embodied", trace);
}

}  // namespace

TrainingCostEfficiency CostEfficiencyOf(const std::optional<CostReport>& cost, const TrainingReport& training,
                                        const TrainingRun& run, Trace& trace) {
  TrainingCostEfficiency cost_efficiency;
  if (training.run.energy)
    cost_efficiency.run_energy =
        EnergyOf(*training.run.energy, *training.run.device_seconds, cost ? &*cost : nullptr, kOfRun, trace);
  cost_efficiency.energy = EnergyOf(training.energy, training.device_seconds, cost ? &*cost : nullptr, kOfSteps, trace);
  const Tokens tokens = run.tokens;
  const Joules energy = cost_efficiency.energy.total;
  trace.Input("tokens", tokens, "training.tokens");
  if (energy > Joules()) {
    FIGURE(trace, trained_per_joule, tokens / energy,
           (Note{"", "tokens over training energy", "", "training.tokens_per_j"}), tokens, energy);
    cost_efficiency.tokens_per_j = trained_per_joule;
  }
  if (!cost) return cost_efficiency;
  CarbonOf(*cost, training.device_seconds, cost_efficiency, trace);
  cost_efficiency.run = PriceOfWallTime(*cost, training.run.device_seconds, trace);
  const Seconds device_seconds = training.device_seconds;
  const DollarsPerSecond device_second = cost->device_second;
  FIGURE(trace, run_price, device_seconds * device_second, (Note{"", "", "", "training.cost_usd"}), device_seconds,
         device_second);
  cost_efficiency.steps = run_price;
  if (!(run_price > Dollars())) return cost_efficiency;
  FIGURE(trace, trained_per_dollar, tokens / run_price, (Note{"", "", "", "training.tokens_per_usd"}), tokens,
         run_price);
  cost_efficiency.tokens_per_usd = trained_per_dollar;
  return cost_efficiency;
}

ServingCostEfficiency CostEfficiencyOf(const std::optional<CostReport>& cost, const ServingReport& serving,
                                       Trace& trace) {
  ServingCostEfficiency cost_efficiency =
      serving.pools ? OfPools(cost, *serving.pools, trace) : OfDevices(cost, serving, trace);
  const JoulesPerToken energy = cost_efficiency.energy.total;
  if (energy > JoulesPerToken()) {
    FIGURE(trace, served_per_joule, 1 / energy,
           (Note{"", "one output token over its energy", "", "serving.tokens_per_j"}), energy);
    cost_efficiency.tokens_per_j = served_per_joule;
  }
  if (!cost_efficiency.token || !(*cost_efficiency.token > DollarsPerToken())) return cost_efficiency;
  const DollarsPerToken price = *cost_efficiency.token;
  trace.Alias("price", price, serving.pools ? "both_pools" : "token_price");
  FIGURE(trace, served_per_dollar, 1 / price, (Note{"", "", "", "serving.tokens_per_usd"}), price);
  cost_efficiency.tokens_per_usd = served_per_dollar;
  return cost_efficiency;
}

DeviceCostEfficiency CostEfficiencyOf(const CostReport& cost, const Device& device, Trace& trace) {
  DeviceCostEfficiency cost_efficiency;
  const FlopsPerSecond peak = PeakRate(device, Precision::kBf16);
  const Watts tdp = device.tdp;
  const DollarsPerSecond device_second = cost.device_second;
  trace.Input("tdp", tdp, "cluster.device.tdp");
  trace.Input("peak", peak, "cluster.device.peak.bf16");
  if (device_second > DollarsPerSecond()) {
    FIGURE(trace, flops_per_dollar, peak / device_second,
           (Note{"", "dense 16-bit peak rate over the cost per GPU-second", "", "cost.flops_per_usd"}), peak,
           device_second);
    cost_efficiency.flops_per_usd = flops_per_dollar;
  }
  if (tdp > Watts()) {
    FIGURE(trace, flops_per_joule, peak / tdp,
           (Note{"", "dense 16-bit peak rate over the TDP", "", "cost.flops_per_j"}), peak, tdp);
    cost_efficiency.flops_per_j = flops_per_joule;
  }
  return cost_efficiency;
}

}  // namespace slipstick
