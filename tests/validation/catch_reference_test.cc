// CATCH's dies, layers and systems against the cases of ../shared/validation/reference-cases, computed by the
// unmodified tool. Skipped where the folder is absent.
#include <vector>

#include "reference_cases.h"
#include "tests/support/cost_tools/catch_tool.h"

namespace slipstick {
namespace {

catch_tool::Layer CatchLayer(const Json& json, const std::string& name) {
  const Json& row = json["layer_parameters"][name];
  return {Get(row, "cost_per_mm2") * kUsdPerMm2, PerArea::FromBase(Get(row, "defect_density_mm2")),
          Get(row, "critical_area_ratio"),       Get(row, "litho_percent"),
          Get(row, "clustering_factor"),         Get(row, "mask_cost") * kUsd};
}
catch_tool::Process CatchProcess(const std::string& name) {
  catch_tool::Process p;
  const auto set = [&p](double place, double bond, Count group, double separation, double edge, double amperes,
                        double pitch, double material) {
    p.place_machine = place * kUsd, p.bond_machine = bond * kUsd, p.bond_group = group;
    p.separation = separation * kMm, p.edge = edge * kMm, p.amperes_per_mm2 = amperes, p.pitch = pitch * kMm;
    p.material = material * kUsdPerMm2;
  };
  if (name == "silicon_individual_bonding" || name == "glass_individual_bonding")
    set(1.8e6, 1.8e6, 1, 0.1, 0.1, 1e4, 0.010, 0);
  if (name == "silicon_simultaneous_bonding") set(1.8e6, 1.8e6, 64, 0.1, 0.1, 1e4, 0.010, 0);
  if (name == "silicon_45_individual_bonding") set(5e5, 5e5, 1, 0.1, 0.1, 1e4, 0.045, 0.1);
  if (name == "organic_simultaneous_bonding") set(6e5, 2e5, 64, 1, 2, 100, 0.110, 0.1);
  if (name == "organic_25_simultaneous_bonding") set(8e5, 8e5, 10, 1, 2, 100, 0.025, 0.1);
  if (name == "organic_55_simultaneous_bonding") set(1e6, 3e5, 10, 1, 2, 100, 0.055, 0.1);
  if (name == "w2w_hybrid_bonding") {
    set(1e6, 1e6, 1000, 0.1, 0.1, 1e4, 0.001, 0.1);
    p.place_group = 1000, p.align_yield = 0.99999, p.bond_yield = 0.99999999,
    p.dielectric_defects = PerArea::FromBase(1e-4);
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
    const catch_tool::Layer layer = CatchLayer(json, TextOf(row["layer"]));
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
    const bool organic = row["organic"].get<bool>();
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
    system.process = CatchProcess(TextOf(row["assembly_process"]));
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

// A stack of three levels without its test. For the CPU's own stack the file has only the results.
TEST(CostReference, CatchStack) {
  LOAD(json, "catch");
  const Json &sip = json["demo_sip"], &cpu = sip["children"][0], &gpu = sip["children"][1];
  const catch_tool::Process process = CatchProcess("silicon_individual_bonding");
  const auto part = [](const Json& child) {
    return catch_tool::Part{Get(child, "cost") * kUsd, Get(child, "self_true_yield"), Get(child, "chip_true_yield")};
  };
  const std::vector<catch_tool::Part> parts{part(cpu), part(gpu)};
  const SquareMillimetres area = Get(sip, "stacked_die_area") * kMm2;
  const catch_tool::Settings as_tool = catch_tool::Settings::AsTool();
  const Dollars assembly = catch_tool::AssemblyCost(process, 2, area, as_tool);
  ExpectNear(assembly.base(), sip["assembly_cost"], "assembly");
  ExpectNear(catch_tool::AssemblyCost(process, 1, {}, as_tool).base(), cpu["assembly_cost"], "assembly of the CPU");
  ExpectNear((Get(sip, "self_cost") * kUsd + parts[0].cost + parts[1].cost + assembly).base(), sip["cost"], "cost");
  // Power and ground through the interposer: twice as many vias as 0.19635 A per via allows.
  const double vias = 2 * std::ceil(Get(sip, "total_power") / (1e4 * 3.14159265358979323846 * 0.0025 * 0.0025));
  ExpectNear(catch_tool::AssemblyYield(process, Get(sip, "self_true_yield"), parts, 0, vias, area, as_tool),
             sip["chip_true_yield"], "yield");
  // The fault: no level above finds the losses of stacking the CPU.
  EXPECT_NEAR(catch_tool::AssemblyYield(process, 1, parts, 0, vias, area, {}) / Get(sip, "chip_true_yield"),
              Get(cpu, "chip_true_yield") / Get(cpu, "self_true_yield"), 1e-12);
}

}  // namespace
}  // namespace slipstick
