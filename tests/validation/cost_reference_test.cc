// The cost formulas against the cases of ../shared/validation/reference-cases, computed separately with 40 digits.
// Skipped where the folder is absent.
#include "core/economics/carbon.h"
#include "core/economics/network_cost.h"
#include "core/economics/ownership.h"
#include "core/economics/wafer.h"
#include "core/economics/yield.h"
#include "reference_cases.h"
#include "tests/support/cost_tools/gross_dies.h"

namespace slipstick {
namespace {

TEST(CostReference, Yields) {
  LOAD(json, "yields");
  for (const Json& row : json["cases"]) {
    const double x = Get(row, "area_mm2") * kMm2 * (Get(row, "D0_per_cm2") * kPerCm2);
    const std::string at = "x = " + std::to_string(x);
    const auto expect = [&](YieldModel model, double parameter, const std::string& key) {
      ExpectNear(Yield({model, parameter, parameter, 0}, x), row.at(key), key + " " + at);
    };
    expect(YieldModel::kPoisson, 0, "poisson");
    expect(YieldModel::kMurphy, 0, "murphy");
    expect(YieldModel::kMurphyRectangular, 0, "murphy_rectangular");
    expect(YieldModel::kSeeds, 0, "seeds_exponential");
    expect(YieldModel::kSeedsSqrt, 0, "seeds_sqrt");
    for (const auto& [key, value] : row.items()) {
      if (key.starts_with("bose_einstein_total_n")) expect(YieldModel::kBoseEinstein, std::stod(key.substr(21)), key);
      if (key.starts_with("bose_einstein_per_layer_n"))
        expect(YieldModel::kBoseEinsteinPerLayer, std::stod(key.substr(25)), key);
      if (key.starts_with("nb_alpha")) expect(YieldModel::kNegativeBinomial, std::stod(key.substr(8)), key);
    }
  }
}

TEST(CostReference, DiesPerWafer) {
  LOAD(json, "dies-per-wafer");
  for (const Json& row : json["cases"]) {
    const Millimetres w = Get(row, "w") * kMm, h = Get(row, "h") * kMm;
    Wafer wafer;
    wafer.diameter = Get(row, "wafer") * kMm;
    wafer.edge = Get(row, "edge") * kMm;
    wafer.scribe = Get(row, "scribe") * kMm;
    const DieCount count = CountDies(w, h, wafer);
    const std::string at = row.dump();
    EXPECT_EQ(count.die_die, row["die_die"].get<Count>()) << at;
    EXPECT_EQ(count.die_street, row["die_street"].get<Count>()) << at;
    EXPECT_EQ(count.street_die, row["street_die"].get<Count>()) << at;
    EXPECT_EQ(count.street_street, row["street_street"].get<Count>()) << at;
    EXPECT_EQ(count.best, row["best"].get<Count>()) << at;
    EXPECT_EQ(static_cast<Count>(PlaceDies(w, h, wafer).size()), count.best) << at;
    const SquareMillimetres cell = (w + wafer.scribe) * (h + wafer.scribe);
    const Millimetres radius = wafer.diameter / 2 - wafer.edge;
    ExpectNear(GrossByArea(cell, radius), row["F0"], "F0 " + at);
    ExpectNear(GrossLessEdge(cell, radius), row["F1"], "F1 " + at);
    ExpectNear(GrossExponential(cell, radius), row["F2"], "F2 " + at);
    ExpectNear(GrossByRing(cell, radius), row["F3"], "F3 " + at);
  }
}

TEST(CostReference, Redundancy) {
  LOAD(json, "redundancy");
  for (const Json& row : json["cases"]) {
    HarvestDie die{Get(row, "base_mm2") * kMm2, Get(row, "unit_mm2") * kMm2, row["units"].get<Count>(),
                   row["spare_units"].get<Count>()};
    const PerArea density = Get(row, "D0_per_cm2") * kPerCm2;
    ExpectNear(HarvestYield({YieldModel::kPoisson}, die, density), row["poisson"], row.dump());
    for (const double alpha : {2.0, 3.0, 10.0}) {
      const auto found = row.find("nb_alpha" + std::to_string(static_cast<int>(alpha)));
      if (found != row.end())
        ExpectNear(HarvestYield({YieldModel::kNegativeBinomial, alpha}, die, density), *found, row.dump());
    }
    die.spares = 0;
    ExpectNear(HarvestYield({YieldModel::kPoisson}, die, density), row["all_units_needed_poisson"], row.dump());
  }
}

TEST(CostReference, NetworkSheet) {
  LOAD(json, "network-cost");
  for (const Json& row : json["published_sheet"]["rows"]) {
    Cluster cluster;
    cluster.devices = row["gpus"].get<Count>();
    const Count nodes = row["nodes"].get<Count>();
    cluster.networks.resize(2);
    cluster.networks[1].topology = Topology::kRail;
    cluster.networks[1].size = nodes;
    cluster.networks[1].bandwidth = 50 * kGBps;
    cluster.networks[1].port = FromCatalogue<NetworkPort>("port", "infiniband-ndr");
    SystemInputs inputs = Standard<SystemInputs>();
    inputs.switch_planes = 8;  // the sheet has no links between rails
    const NetworkCost network = PriceNetwork(cluster, inputs);
    EXPECT_EQ(network.switch_count, row["switches"].get<Count>());
    EXPECT_EQ(network.tiers, row["levels"].get<int>());
    ExpectNear(network.cables.base(), row["cables"], "cables");
    const double node_price = row.contains("note") ? 300000 : 310000;  // by the note of this row
    const Dollars total = network.switches + network.cables + static_cast<double>(nodes) * (node_price + 50000) * kUsd;
    ExpectNear(total.base(), row["total"], "total");
  }
}

// A switched device has a port, a link and an adapter at its full bandwidth, priced per bandwidth here.
TEST(CostReference, Libra) {
  LOAD(json, "network-cost");
  const Json& libra = json["libra"];
  for (const Json& row : libra["cases"]) {
    Cluster cluster;
    Count devices = 1;
    for (const Json& n : row["npus"]) devices *= n.get<Count>();
    cluster.devices = devices;
    Dollars total;
    for (std::size_t i = 0; i < row["npus"].size(); ++i) {
      const Json& prices = libra["unit_cost_per_GBps"][row["cost_dim"][i].get<std::string>()];
      const std::string name = TextOf(row["topology"][i]);
      NetworkLevel level;
      level.topology = name == "Ring"     ? Topology::kRing
                       : name == "Switch" ? Topology::kSwitch
                                          : Topology::kFullyConnected;
      level.size = row["npus"][i].get<Count>();
      level.bandwidth = row["bw_GBps_per_npu"][i].get<double>() * kGBps;
      level.port.link_price = prices.value("Link", 0.0) * kUsdPerGBps;
      level.port.fabric_price = (prices.value("Switch", 0.0) + prices.value("Nic", 0.0)) * kUsdPerGBps;
      cluster.networks.push_back(level);
      const Dollars links = PriceNetwork(cluster, SystemInputs()).links;
      ExpectNear((links - total).base(), row["cost_per_dim"][i], row.dump());
      total = links;
    }
    ExpectNear(total.base(), row["total"], row.dump());
    ExpectNear(total.base() / static_cast<double>(devices), row["per_npu"], row.dump());
  }
}

TEST(CostReference, Ownership) {
  LOAD(json, "tco");
  for (const Json& row : json["cases"]) {
    Cluster cluster;
    cluster.device.tdp = Get(row, "kW_per_gpu") * kKW;
    SystemInputs system;
    system.host = 0 * kUsd;
    system.pue = Get(row, "PUE");
    system.load = Get(row, "load");
    system.cost_of_capital = Get(row, "cost_of_capital");
    system.colocation = Get(row, "colo_per_kW_month") * kUsdPerKWMonth;
    system.maintenance = Get(row, "opex_fraction");
    system.utilisation = Get(row, "utilisation");
    const SystemCost cost = PriceSystem(cluster, system, {}, Get(row, "capex_per_gpu") * kUsd,
                                        {Get(row, "life_years") * kYear, Get(row, "price_per_kWh") * kUsdPerKWh});
    ExpectNear(In(cost.device_second, kUsdPerHour), row["usd_per_gpu_hour"], row.dump());
  }
}

TEST(CostReference, Carbon) {
  LOAD(json, "act");
  const Json& tables = json["tables"];
  for (const Json& row : json["cases"]) {
    std::string node = row["process"].get<std::string>();
    node = node.substr(0, node.find_first_not_of("0123456789"));
    const std::string fab = row["fab"].is_string()
                                ? json["defaults"]["ci_used"][row["fab"].get<std::string>()].get<std::string>()
                                : row["fab"].dump();
    const double gas =
        (Get(tables["GPA95_g_per_cm2"], node.c_str()) + Get(tables["GPA99_g_per_cm2"], node.c_str())) / 2;
    const GramsPerArea per_area =
        CarbonPerArea(std::stod(fab) * kGPerKWh, Get(tables["EPA_kWh_per_cm2"], node.c_str()) * kKWhPerCm2,
                      gas * kGPerCm2, Get(tables, "MPA_g_per_cm2") * kGPerCm2, Get(row, "yield"));
    ExpectNear(In(per_area, kGPerCm2), row["cpa_g_per_cm2"], row.dump());
    const Grams total = per_area * (Get(row, "area_mm2") * kMm2) + 150.0 * row["n_ic"].get<double>() * kGram;
    ExpectNear(total.base(), row["total_g"], row.dump());
  }
}

}  // namespace
}  // namespace slipstick
