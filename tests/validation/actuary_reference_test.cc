// Chiplet Actuary's bills against the cases of ../shared/validation/reference-cases, computed by the unmodified tool.
// Skipped where the folder is absent.
#include "reference_cases.h"
#include "tests/support/cost_tools/actuary.h"

namespace slipstick {
namespace {

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
  if (row.contains("package_area"))
    ExpectNear(ours.package_area.base(), row["package_area"], "package_area " + row.dump());
  if (row.contains("package_NRE"))
    ExpectNear(ours.package_design.base(), row["package_NRE"], "package_NRE " + row.dump());
}

TEST(CostReference, ActuaryDies) {
  LOAD(json, "actuary");
  int rows = 0;
  for (const Json& row : json["die_cost"]) {
    const actuary::Die die = actuary::PriceDie(Get(row, "area") * kMm2, ActuaryNode(json, TextOf(row["node"])));
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
    const actuary::Split split{ActuaryScheme(TextOf(row["scheme"])), Get(row, "module_area") * kMm2,
                               row["n_chiplets"].get<Count>(), Get(row, "D2D_overhead"), one_kind};
    const actuary::Bill bill = actuary::PriceSplit(split, ActuaryNode(json, TextOf(row["node"])), kActuaryFaults);
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
    const actuary::Split split{ActuaryScheme(TextOf(row["scheme"])), 800 * kMm2, row["k"].get<Count>(), 0.1, false};
    const actuary::Shared shared =
        actuary::PriceAtVolume(split, ActuaryNode(json, TextOf(row["node"])), Get(row, "volume"), kActuaryFaults);
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
    const actuary::Node node = ActuaryNode(json, TextOf(row["node"]));
    actuary::Split split{ActuaryScheme(TextOf(row["scheme"])), 800 * kMm2, row["k"].get<Count>(),
                         Get(row, "D2D_overhead"), false};
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
      if (!key.starts_with("total_crossover_vol_")) continue;
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
    ExpectBill(actuary::PricePackage(actuary::Scheme::kMcm, {{area, 1, seven, false}}, kActuaryFaults),
               row["monolithic_7nm"]);
  }
}

}  // namespace
}  // namespace slipstick
