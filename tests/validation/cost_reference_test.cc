// The cost formulas against the cases of ../shared/validation/reference-cases: own evaluations with 40 digits, and what other
// tools return when run unmodified. Skipped where the folder is absent.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/economics/carbon.h"
#include "core/economics/compatibility/actuary.h"
#include "core/economics/compatibility/catch_tool.h"
#include "core/economics/compatibility/other_tools.h"
#include "core/economics/harvest.h"
#include "core/economics/network_cost.h"
#include "core/economics/ownership.h"

namespace slipstick {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kTolerance = 1e-9;

Json Cases(const std::string& name) {
  std::ifstream file(SLIPSTICK_SOURCE_DIR "/../shared/validation/reference-cases/" + name + ".json");
  if (!file) return nullptr;
  std::ostringstream text;
  text << file.rdbuf();
  return Json::parse(text.str(), nullptr, false);
}

#define LOAD(json, name)          \
  const Json json = Cases(name);  \
  if (!json.is_object()) GTEST_SKIP() << "no reference case " << (name)

void ExpectNear(double ours, const Json& theirs, const std::string& what) {
  ASSERT_TRUE(theirs.is_number()) << what;
  const double expected = theirs.get<double>();
  EXPECT_LE(std::abs(ours - expected), kTolerance * std::max(std::abs(expected), 1e-12)) << what << ": " << ours << " for " << expected;
}

double Get(const Json& json, const char* key) { return json.at(key).get<double>(); }

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
      if (key.rfind("bose_einstein_total_n", 0) == 0) expect(YieldModel::kBoseEinstein, std::stod(key.substr(21)), key);
      if (key.rfind("bose_einstein_per_layer_n", 0) == 0) expect(YieldModel::kBoseEinsteinPerLayer, std::stod(key.substr(25)), key);
      if (key.rfind("nb_alpha", 0) == 0) expect(YieldModel::kNegativeBinomial, std::stod(key.substr(8)), key);
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
    HarvestDie die{Get(row, "base_mm2") * kMm2, Get(row, "unit_mm2") * kMm2, row["units"].get<Count>(), row["spare_units"].get<Count>()};
    const PerArea density = Get(row, "D0_per_cm2") * kPerCm2;
    ExpectNear(HarvestYield({YieldModel::kPoisson}, die, density), row["poisson"], row.dump());
    for (const double alpha : {2.0, 3.0, 10.0}) {
      const auto found = row.find("nb_alpha" + std::to_string(static_cast<int>(alpha)));
      if (found != row.end()) ExpectNear(HarvestYield({YieldModel::kNegativeBinomial, alpha}, die, density), *found, row.dump());
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
    const SystemInputs inputs;
    const NetworkCost network = PriceNetwork(cluster, inputs);
    EXPECT_EQ(network.switch_count, row["switches"].get<Count>());
    EXPECT_EQ(network.tiers, row["levels"].get<int>());
    ExpectNear(network.cables.base(), row["cables"], "cables");
    const double node_price = row.contains("note") ? 300000 : 310000;  // the row that says so
    const Dollars total = network.switches + network.cables + static_cast<double>(nodes) * (node_price + 50000) * kUsd;
    ExpectNear(total.base(), row["total"], "total");
  }
}

TEST(CostReference, Libra) {
  LOAD(json, "network-cost");
  const Json& libra = json["libra"];
  for (const Json& row : libra["cases"]) {
    double devices = 1;
    for (const Json& n : row["npus"]) devices *= n.get<double>();
    double total = 0;
    for (std::size_t i = 0; i < row["npus"].size(); ++i) {
      const Json& prices = libra["unit_cost_per_GBps"][row["cost_dim"][i].get<std::string>()];
      const std::string name = row["topology"][i];
      const Topology topology = name == "Ring" ? Topology::kRing : name == "Switch" ? Topology::kSwitch : Topology::kFullyConnected;
      const Dollars cost = PriceLevel(
          topology, row["npus"][i].get<Count>(), static_cast<Count>(devices), row["bw_GBps_per_npu"][i].get<double>() * kGBps,
          {prices.value("Link", 0.0) * kUsdPerGBps, prices.value("Switch", 0.0) * kUsdPerGBps, prices.value("Nic", 0.0) * kUsdPerGBps});
      ExpectNear(cost.base(), row["cost_per_dim"][i], row.dump());
      total += cost.base();
    }
    ExpectNear(total, row["total"], row.dump());
    ExpectNear(total / devices, row["per_npu"], row.dump());
  }
}

TEST(CostReference, Ownership) {
  LOAD(json, "tco");
  for (const Json& row : json["cases"]) {
    OwnershipInputs in;
    in.capital = Get(row, "capex_per_gpu") * kUsd;
    in.years = Get(row, "life_years");
    in.cost_of_capital = Get(row, "cost_of_capital");
    in.power = Get(row, "kW_per_gpu") * kKW;
    in.pue = Get(row, "PUE");
    in.electricity = Get(row, "price_per_kWh") * kUsdPerKWh;
    in.load = Get(row, "load");
    in.colocation = Get(row, "colo_per_kW_month") * kUsdPerKWMonth;
    in.upkeep = Get(row, "opex_fraction");
    in.utilisation = Get(row, "utilisation");
    ExpectNear(In(DeviceHour(in), kUsdPerHour), row["usd_per_gpu_hour"], row.dump());
  }
}

actuary::Node ActuaryNode(const Json& json, const std::string& name) {
  const Json& row = json["parameters"][name];
  return {Get(row, "wafer_cost") * kUsd, Get(row, "defect_density_per_cm2") * kPerCm2, Get(row, "NRE_300mm2") * kUsd};
}
actuary::Scheme ActuaryScheme(const std::string& name) {
  if (name == "InFO chip-last") return actuary::Scheme::kFanOutChipLast;
  if (name == "InFO chip-first") return actuary::Scheme::kFanOutChipFirst;
  if (name == "2.5D Si interposer") return actuary::Scheme::kInterposer;
  return actuary::Scheme::kMcm;
}
constexpr actuary::Settings kActuaryFaults{true, true};

void ExpectBill(const actuary::Bill& ours, const Json& row) {
  ExpectNear(ours.raw_chips.base(), row["raw_chips"], "raw_chips " + row.dump());
  ExpectNear(ours.defect_chips.base(), row["defect_chips"], "defect_chips " + row.dump());
  ExpectNear(ours.raw_package.base(), row["raw_package"], "raw_package " + row.dump());
  ExpectNear(ours.defect_package.base(), row["defect_package"], "defect_package " + row.dump());
  ExpectNear(ours.wasted_chips.base(), row["wasted_chips"], "wasted_chips " + row.dump());
  ExpectNear(ours.Total().base(), row["total_RE"], "total_RE " + row.dump());
  if (row.contains("package_area")) ExpectNear(ours.package_area.base(), row["package_area"], "package_area " + row.dump());
  if (row.contains("package_NRE")) ExpectNear(ours.package_design.base(), row["package_NRE"], "package_NRE " + row.dump());
}

TEST(CostReference, ActuaryDies) {
  LOAD(json, "actuary");
  int rows = 0;
  for (const Json& row : json["die_cost"]) {
    const actuary::Die die = actuary::PriceDie(Get(row, "area") * kMm2, ActuaryNode(json, row["node"]));
    ExpectNear(die.per_wafer, row["dies_per_wafer"], row.dump());
    ExpectNear(die.yield, row["yield"], row.dump());
    ExpectNear(die.raw.base(), row["raw_die"], row.dump());
    ExpectNear(die.good.base(), row["kgd"], row.dump());
    ExpectNear(die.defect.base(), row["defect"], row.dump());
    ExpectNear(die.chip_design.base(), row["chip_NRE"], row.dump());
    ExpectNear(die.module_design.base(), row["module_NRE"], row.dump());
    ++rows;
  }
  EXPECT_EQ(rows, 135);
}

TEST(CostReference, ActuaryPackages) {
  LOAD(json, "actuary");
  int rows = 0;
  for (const Json& row : json["system_RE"]) {
    const bool one_kind = row.value("identical_chiplets_in_one_dict_key", false);
    const actuary::Split split{ActuaryScheme(row["scheme"]), Get(row, "module_area") * kMm2, row["n_chiplets"].get<Count>(),
                               Get(row, "D2D_overhead"), one_kind};
    const actuary::Bill bill = actuary::PriceSplit(split, ActuaryNode(json, row["node"]), kActuaryFaults);
    ExpectBill(bill, row);
    if (row.contains("interposer_area")) {
      ExpectNear(bill.carrier_area.base(), row["interposer_area"], row.dump());
      ExpectNear(bill.carrier_yield, row["interposer_yield"], row.dump());
      ExpectNear(bill.raw_carrier.base(), row["interposer_raw"], row.dump());
      ExpectNear(bill.substrate.base(), row["substrate"], row.dump());
    }
    ++rows;
  }
  EXPECT_EQ(rows, 725);
}

TEST(CostReference, ActuaryVolumes) {
  LOAD(json, "actuary");
  for (const Json& row : json["total_with_volume_800mm2_distinct_chiplets"]) {
    const actuary::Split split{ActuaryScheme(row["scheme"]), 800 * kMm2, row["k"].get<Count>(), 0.1, false};
    const actuary::Shared shared = actuary::PriceAtVolume(split, ActuaryNode(json, row["node"]), Get(row, "volume"), kActuaryFaults);
    ExpectNear(shared.recurring.base(), row["RE"], row.dump());
    ExpectNear(shared.modules.base(), row["module_NRE_unit"], row.dump());
    ExpectNear(shared.chips.base(), row["chip_NRE_unit"], row.dump());
    if (row.contains("D2D_NRE_unit")) ExpectNear(shared.links.base(), row["D2D_NRE_unit"], row.dump());
    ExpectNear(shared.package.base(), row["package_NRE_unit"], row.dump());
    ExpectNear(shared.Total().base(), row["total"], row.dump());
  }
}

TEST(CostReference, ActuaryCrossovers) {
  LOAD(json, "actuary");
  for (const Json& row : json["crossover_area_SoC_vs_chiplets"]["rows"]) {
    const actuary::Node node = ActuaryNode(json, row["node"]);
    actuary::Split split{ActuaryScheme(row["scheme"]), 800 * kMm2, row["k"].get<Count>(), Get(row, "D2D_overhead"), false};
    const auto expect = [&](const char* key, const auto& ours) {
      if (row[key].is_null()) {
        EXPECT_FALSE(ours.has_value()) << key << row.dump();
      } else if (ours) {
        ExpectNear(ours->base(), row[key], key + row.dump());
      } else {
        ADD_FAILURE() << key << row.dump();
      }
    };
    expect("RE_crossover_module_area", actuary::Crossover(split, node, std::nullopt, kActuaryFaults));
    for (const auto& [key, value] : row.items()) {
      if (key.rfind("total_crossover_vol_", 0) != 0) continue;
      split.one_kind = key.find("_one_design") != std::string::npos;
      expect(key.c_str(), actuary::Crossover(split, node, std::stod(key.substr(20)), kActuaryFaults));
    }
  }
}

TEST(CostReference, ActuaryZen) {
  LOAD(json, "actuary");
  const actuary::Node seven = ActuaryNode(json, "7"), fourteen = ActuaryNode(json, "14");
  for (const Json& row : json["AMD_zen_absolute"]) {
    const Count ccds = row["ccd"].get<Count>();
    const actuary::Bill bill = actuary::PricePackage(actuary::Scheme::kMcm,
                                                     {{74 * kMm2, ccds, seven, false},
                                                      {416 * kMm2, 1, fourteen, false},
                                                      {67 * kMm2, row["dummies"].get<Count>(), seven, true}},
                                                     kActuaryFaults);
    ExpectBill(bill, row);
    const SquareMillimetres area = (67.0 * static_cast<double>(ccds) + 360) * kMm2;
    ExpectBill(actuary::PricePackage(actuary::Scheme::kMcm, {{area, 1, seven, false}}, kActuaryFaults), row["monolithic_7nm"]);
  }
}

catch_tool::Layer CatchLayer(const Json& json, const std::string& name) {
  const Json& row = json["layer_parameters"][name];
  return {Get(row, "cost_per_mm2") * kUsdPerMm2,
          PerArea::FromBase(Get(row, "defect_density_mm2")),
          Get(row, "critical_area_ratio"),
          Get(row, "litho_percent"),
          Get(row, "clustering_factor"),
          Get(row, "mask_cost") * kUsd};
}
catch_tool::Process CatchProcess(const std::string& name) {
  catch_tool::Process p;
  const auto set = [&p](double place, double bond, Count group, double separation, double edge, double amperes, double pitch, double material) {
    p.place_machine = place * kUsd, p.bond_machine = bond * kUsd, p.bond_group = group;
    p.separation = separation * kMm, p.edge = edge * kMm, p.amperes_per_mm2 = amperes, p.pitch = pitch * kMm;
    p.material = material * kUsdPerMm2;
  };
  if (name == "silicon_individual_bonding" || name == "glass_individual_bonding") set(1.8e6, 1.8e6, 1, 0.1, 0.1, 1e4, 0.010, 0);
  if (name == "silicon_simultaneous_bonding") set(1.8e6, 1.8e6, 64, 0.1, 0.1, 1e4, 0.010, 0);
  if (name == "silicon_45_individual_bonding") set(5e5, 5e5, 1, 0.1, 0.1, 1e4, 0.045, 0.1);
  if (name == "organic_simultaneous_bonding") set(6e5, 2e5, 64, 1, 2, 100, 0.110, 0.1);
  if (name == "organic_25_simultaneous_bonding") set(8e5, 8e5, 10, 1, 2, 100, 0.025, 0.1);
  if (name == "organic_55_simultaneous_bonding") set(1e6, 3e5, 10, 1, 2, 100, 0.055, 0.1);
  if (name == "w2w_hybrid_bonding") {
    set(1e6, 1e6, 1000, 0.1, 0.1, 1e4, 0.001, 0.1);
    p.place_group = 1000, p.align_yield = 0.99999, p.bond_yield = 0.99999999, p.dielectric_defects = PerArea::FromBase(1e-4);
  }
  if (name == "dummy_assembly_process") {
    set(0, 0, 1, 0, 0, 1, 1, 0);
    p.labour = Dollars(), p.place_time = p.bond_time = 1 * kS, p.align_yield = p.bond_yield = 1;
  }
  return p;
}

TEST(CostReference, CatchDiesAndLayers) {
  LOAD(json, "catch");
  for (const Json& row : json["dies_per_wafer"]) {
    const SquareMillimetres area = Get(row, "area") * kMm2;
    const double aspect = Get(row, "aspect_ratio");
    ExpectNear(catch_tool::DiesGrid(area, aspect), row["dies_grid"], row.dump());
    ExpectNear(catch_tool::DiesRows(area, aspect), row["dies_nogrid"], row.dump());
    ExpectNear(catch_tool::DiesFormula(area, aspect), row["dies_formula"], row.dump());
    ExpectNear(catch_tool::ReticleUse(area), row["reticle_utilisation"], row.dump());
  }
  for (const Json& row : json["layer_cost_yield"]) {
    const catch_tool::Layer layer = CatchLayer(json, row["layer"]);
    const SquareMillimetres area = Get(row, "area") * kMm2;
    ExpectNear(catch_tool::LayerYield(layer, area), row["yield"], row.dump());
    ExpectNear(catch_tool::LayerCost(layer, area, Get(row, "aspect_ratio")).base(), row["layer_cost"], row.dump());
  }
}

void ExpectGrid(const catch_tool::GridSystem& system, const Json& row) {
  const catch_tool::GridBill bill = catch_tool::PriceGrid(system, catch_tool::Settings::AsTool());
  const std::string at = row.dump();
  ExpectNear(bill.interposer_area.base(), row["area"], "area " + at);
  ExpectNear(bill.interposer.base(), row["self_cost"], "self_cost " + at);
  ExpectNear(bill.assembly.base(), row["assembly_cost"], "assembly_cost " + at);
  ExpectNear(bill.yield, row["chip_true_yield"], "chip_true_yield " + at);
  ExpectNear(bill.cost.base(), row["cost"], "cost " + at);
  ExpectNear(bill.perfect.base(), row["perfect_yield_cost"], "perfect_yield_cost " + at);
  ExpectNear((bill.cost - bill.perfect).base(), row["scrap_cost"], "scrap_cost " + at);
  ExpectNear(bill.design.base(), row["nre_per_unit"], "nre_per_unit " + at);
  ExpectNear((bill.cost + bill.design).base(), row["total_cost"], "total_cost " + at);
}

TEST(CostReference, CatchSystems) {
  LOAD(json, "catch");
  for (const Json& row : json["grid_800mm2_systems"]) {
    const bool organic = row["organic"];
    catch_tool::GridSystem system;
    system.chip = CatchLayer(json, "combined_" + row["tech"].get<std::string>());
    system.interposer = CatchLayer(json, organic ? "combined_interposer_organic" : "combined_interposer_silicon");
    system.process = CatchProcess(organic ? "organic_simultaneous_bonding" : "silicon_individual_bonding");
    system.chiplets = row["n_chiplets"].get<Count>();
    ExpectGrid(system, row);
  }
}

TEST(CostReference, CatchAssemblySweep) {
  LOAD(json, "catch");
  int answered = 0;
  for (const Json& row : json["assembly_sweep_5nm"]) {
    if (row.contains("error")) continue;
    catch_tool::GridSystem system;
    system.chip = CatchLayer(json, "combined_5nm");
    system.interposer = CatchLayer(json, "combined_interposer_silicon");
    system.process = CatchProcess(row["assembly_process"]);
    system.chiplets = row["n_chiplets"].get<Count>();
    ExpectGrid(system, row);
    ++answered;
  }
  EXPECT_EQ(answered, 17);
}

TEST(CostReference, CatchDefectSweep) {
  LOAD(json, "catch");
  for (const Json& row : json["defect_density_sweep_5nm"]) {
    catch_tool::GridSystem system;
    system.chip = CatchLayer(json, "combined_5nm");
    system.chip.defect_density = PerArea::FromBase(Get(row, "defect_density_per_mm2"));
    system.interposer = CatchLayer(json, "combined_interposer_silicon");
    system.process = CatchProcess("silicon_individual_bonding");
    system.chiplets = row["n_chiplets"].get<Count>();
    ExpectGrid(system, row);
  }
}

TEST(CostReference, TtmCas) {
  LOAD(json, "llmcompass-ttmcas");
  int rows = 0;
  for (const Json& row : json["ttm_cas_die_cost"]) {
    const std::string node = row["node"].is_string() ? row["node"].get<std::string>() : std::to_string(row["node"].get<int>());
    const Json& parameters = json["ttm_cas_parameters"][node];
    const SquareMillimetres area = Get(row, "area") * kMm2;
    const PerArea density = PerArea::FromBase(Get(parameters, "D0_per_mm2"));
    ExpectNear(ttm_cas::DiesPerWafer(area), row["dies_per_wafer"], row.dump());
    ExpectNear(ttm_cas::DieYield(area, density), row["yield"], row.dump());
    ExpectNear(ttm_cas::GoodDie(area, density, Get(parameters, "wafer_cost") * kUsd).base(), row["die_cost"], row.dump());
    ++rows;
  }
  EXPECT_EQ(rows, 72);
}

TEST(CostReference, GoogleYields) {
  LOAD(json, "google-chiplets");
  for (const Json& row : json["yield_checks"]) {
    const double x = Get(row, "A_mm2") * kMm2 * (Get(row, "D0_cm2") * kPerCm2);
    ExpectNear(Yield({YieldModel::kMurphy}, x), row["murphy"], row.dump());
    ExpectNear(Yield({YieldModel::kBoseEinsteinPerLayer, 0, 10, 0}, x), row["bose_einstein_N10"], row.dump());
  }
}

TEST(CostReference, Carbon) {
  LOAD(json, "act");
  const Json& tables = json["tables"];
  for (const Json& row : json["cases"]) {
    std::string node = row["process"].get<std::string>();
    node = node.substr(0, node.find_first_not_of("0123456789"));
    const std::string fab = row["fab"].is_string() ? json["defaults"]["ci_used"][row["fab"].get<std::string>()].get<std::string>() : row["fab"].dump();
    const double gas = (Get(tables["GPA95_g_per_cm2"], node.c_str()) + Get(tables["GPA99_g_per_cm2"], node.c_str())) / 2;
    const GramsPerArea per_area =
        CarbonPerArea(std::stod(fab) * kGPerKWh, Get(tables["EPA_kWh_per_cm2"], node.c_str()) * kKWhPerCm2, gas * kGPerCm2,
                      Get(tables, "MPA_g_per_cm2") * kGPerCm2, Get(row, "yield"));
    ExpectNear(In(per_area, kGPerCm2), row["cpa_g_per_cm2"], row.dump());
    const Grams total = per_area * (Get(row, "area_mm2") * kMm2) + 150.0 * row["n_ic"].get<double>() * kGram;
    ExpectNear(total.base(), row["total_g"], row.dump());
  }
}

}  // namespace
}  // namespace slipstick
