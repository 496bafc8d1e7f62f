// ttm-cas, ECO-CHIP, Google's chiplet cost model and LLMCompass against the cases of
// ../shared/validation/reference-cases, computed by the unmodified tools. Skipped where the folder is absent.
#include <algorithm>
#include <array>
#include <map>

#include "core/economics/yield.h"
#include "core/hardware/chip_design.h"
#include "reference_cases.h"
#include "tests/support/cost_tools/eco_chip.h"
#include "tests/support/cost_tools/ttm_cas.h"

namespace slipstick {
namespace {

TEST(CostReference, TtmCas) {
  LOAD(json, "llmcompass-ttmcas");
  int rows = 0;
  for (const Json& row : json["ttm_cas_die_cost"]) {
    const std::string node =
        row["node"].is_string() ? row["node"].get<std::string>() : std::to_string(row["node"].get<int>());
    const Json& parameters = json["ttm_cas_parameters"][node];
    const SquareMillimetres area = Get(row, "area") * kMm2;
    const PerArea density = PerArea::FromBase(Get(parameters, "D0_per_mm2"));
    ExpectNear(ttm_cas::DiesPerWafer(area), row["dies_per_wafer"], row.dump());
    ExpectNear(ttm_cas::DieYield(area, density), row["yield"], row.dump());
    ExpectNear(ttm_cas::GoodDie(area, density, Get(parameters, "wafer_cost") * kUsd).base(), row["die_cost"],
               row.dump());
    ++rows;
  }
  EXPECT_EQ(rows, 72);
}

TEST(CostReference, TtmCasRuns) {
  LOAD(json, "llmcompass-ttmcas");
  constexpr Seconds kWeek = 7 * kDay;
  // An engineer's hours per transistor (supply_chain_model.py at d98ac05).
  const std::map<std::string, double> effort{{"28", 6.76e-7}, {"14", 1.5862e-6}, {"7", 3.6458e-6}, {"5", 5.5068e-6}};
  int rows = 0;
  for (const Json& row : json["ttm_cas_runs"]) {
    const std::string node = std::to_string(row["node"].get<int>());
    const Json& from = json["ttm_cas_parameters"][node];
    ttm_cas::Process process;
    process.wafer_price = Get(from, "wafer_cost") * kUsd;
    process.masks = Get(from, "mask_cost") * kUsd;
    process.intellectual_property = Get(from, "ip_cost") * kUsd;
    process.labour_per_gate = Get(from, "backend_labor_per_gate") * kUsd;
    process.transistors = 1e6 * Get(from, "density_MTr_mm2") * kPerMm2;
    process.defect_density = Get(from, "D0_per_mm2") * kPerMm2;
    process.hours_per_transistor = effort.at(node);
    process.latency = Get(from, "fab_latency_weeks") * kWeek;
    process.wafers = Get(row, "wafers_per_hour") / (1 * kHour);
    ttm_cas::Run run;
    run.chips = Get(row, "chips");
    run.transistors = Get(row, "total_transistors");
    run.designed = Get(row, "unique_transistors");
    run.engineers = Get(row, "engineers");
    run.parallel = Get(row, "parallel");
    run.queue = Get(row, "queue_weeks") * kWeek;
    run.dies = Get(row, "dies_per_package");
    const auto result = ttm_cas::Price(process, run, ttm_cas::Settings::AsTool());
    ASSERT_TRUE(result.has_value()) << row.dump();
    ExpectNear(result->tape_out / kWeek, row["tapeout_weeks"], row.dump());
    ExpectNear(result->queue / kWeek, row["queue_weeks_out"], row.dump());
    ExpectNear(result->foundry / kWeek, row["foundry_weeks"], row.dump());
    ExpectNear(result->packaging / kWeek, row["osat_weeks"], row.dump());
    ExpectNear(result->cost.base(), row["total_cost"], row.dump());
    ++rows;
  }
  EXPECT_EQ(rows, 12);
}

TEST(CostReference, EcoChip) {
  LOAD(json, "eco-chip");
  const Json& tables = json["tables"];
  const std::array<const char*, eco_chip::kCircuits> circuits{"logic", "analog", "sram"};
  const auto node = [&](int nanometres) {
    const std::string key = std::to_string(nanometres);
    eco_chip::Node read;
    read.carbon = GramsPerArea::FromBase(Get(tables["cpa"][key], "cpa"));
    read.defect_density = Get(tables["defect_den"][key], "defect_density") * kPerCm2;
    read.wiring_share = Get(tables["beolVfeol"][key], "beolVfeol");
    read.dynamic_share = Get(tables["dyn_pwr_ratio"][key], "dyn_pwr_ratio");
    if (nanometres == 65) return read;  // used by carriers only
    for (std::size_t i = 0; i < circuits.size(); ++i) {
      read.area_scale[i] = Get(tables[circuits[i]][key], "area");
      read.power_scale[i] = Get(tables[circuits[i]][key], "power");
    }
    read.transistors = Get(tables["transistors_per_mm2"][key], "Transistors_per_mm2") * kPerMm2;
    read.gates_per_hour = Get(tables["gates_per_hr_per_core"][key], "Gates_per_hr_per_core");
    return read;
  };
  const std::map<std::string, eco_chip::Scheme> schemes{{"RDL", eco_chip::Scheme::kRdl},
                                                        {"EMIB", eco_chip::Scheme::kBridge},
                                                        {"passive", eco_chip::Scheme::kPassive},
                                                        {"active", eco_chip::Scheme::kActive},
                                                        {"3D", eco_chip::Scheme::kStacked}};
  int rows = 0;
  for (const Json& row : json["cases"]) {
    const Json &inputs = row["inputs"], &design = inputs["design"], &packaging = inputs["package"];
    const std::string what = row["testcase"].get<std::string>() + " " + row["pkg_type"].get<std::string>();
    std::vector<std::string> names;
    std::vector<eco_chip::Chip> chips;
    for (const auto& [name, chip] : inputs["architecture"].items()) {
      if (name == "pkg_type") continue;
      names.push_back(name);
      const auto circuit =
          std::find(circuits.begin(), circuits.end(), chip["type"].get<std::string>()) - circuits.begin();
      chips.push_back(
          {static_cast<eco_chip::Circuit>(circuit), Get(chip, "area") * kMm2, node(chip["node"].get<int>())});
    }
    eco_chip::Package package;
    package.scheme = schemes.at(row["pkg_type"].get<std::string>());
    package.carrier = node(packaging["interposer_node"].get<int>());
    package.bridge = node(22);
    package.router_scale = node(14).area_scale;
    package.redistribution_layers = Get(packaging, "rdl_layers");
    package.metal_layers = Get(packaging, "num_beol");
    package.bridge_pitch = Get(packaging, "emib_pitch") * kMm;
    package.via_pitch = Get(packaging, "tsv_pitch") * kMm;
    package.via_size = Get(packaging, "tsv_size") * kMm;
    eco_chip::Product product;
    product.power = Get(design, "power") * kWatt;
    product.iterations = Get(design, "num_iter");
    product.volume = Get(design, "num_prt_mfg");
    product.transistors_per_gate = Get(design, "Transistors_per_gate");
    product.core_power = Get(design, "Power_per_core") * kWatt;
    product.intensity = Get(design, "Carbon_per_kWh") * kGPerKWh;
    product.life = Get(inputs["operation"], "lifetime") * kHour;
    const eco_chip::Bill bill = eco_chip::Price(chips, package, product, eco_chip::Settings::AsTool());
    const auto expect = [&](const eco_chip::Footprint& ours, const std::string& name) {
      ExpectNear(In(ours.manufacture, kGram), row["manufacture_g"][name], what + " manufacture " + name);
      ExpectNear(In(ours.design, kGram), row["design_g"][name], what + " design " + name);
      ExpectNear(In(ours.operation, kGram), row["operational_g"][name], what + " operation " + name);
      ExpectNear(In(ours.Total(), kGram), row["total_g"][name], what + " total " + name);
    };
    for (std::size_t i = 0; i < chips.size(); ++i) expect(bill.chips[i], names[i]);
    expect(bill.package, "Packaging");
    ++rows;
  }
  EXPECT_EQ(rows, 30);
}

TEST(CostReference, GoogleYields) {
  LOAD(json, "google-chiplets");
  for (const Json& row : json["yield_checks"]) {
    const double x = Get(row, "A_mm2") * kMm2 * (Get(row, "D0_cm2") * kPerCm2);
    ExpectNear(Yield({YieldModel::kMurphy}, x), row["murphy"], row.dump());
    ExpectNear(Yield({YieldModel::kBoseEinsteinPerLayer, 0, 10, 0}, x), row["bose_einstein_N10"], row.dump());
  }
}

// LLMCompass's areas of GA100's parts from its transistor counts, which are the default constants of a chip design.
TEST(CostReference, LlmCompassAreas) {
  LOAD(json, "llmcompass-ttmcas");
  const Json &constants = json["area_constants"], &ga100 = json["area_cases"][0], &core = ga100["core_breakdown"],
             &io = ga100["io_breakdown"];
  const double density = 96.3e6, fp64 = Get(constants, "fpu64_transistors"), int32 = Get(constants, "int32");
  const double fp16 = fp64 * std::pow(10.0 / 52, 2), fp32 = fp64 * std::pow(23.0 / 52, 2);
  const double tensor = 1024 * fp16 / density, vector = 4 * (8 * fp64 + 16 * fp32 + 16 * int32) / density;
  const double control = 128 * Get(constants["control_per_sublane_per_lane"], "used") / density;
  ExpectNear(tensor, core["sa_area"], "tensor part");
  ExpectNear(vector, core["alu_area"], "vector part");
  ExpectNear(control, core["control_area"], "control");
  const double hbm = Get(constants["ctrl_transistors"], "HBM2e_1024b") / density,
               nvlink = Get(constants["ctrl_transistors"], "NVLink3_link") / density;
  ExpectNear(6 * hbm, io["mem_controller_area"], "memory controllers");
  ExpectNear(6 * Get(constants["phy_mm2"], "HBM2e_1024b"), io["mem_phy_area"], "memory interfaces");
  ExpectNear(12 * nvlink, io["device_controller_area"], "link controllers");
  const auto& design = Standard<ChipDesign>();
  EXPECT_NEAR(design.unit.tensor_area.base(), tensor, 5e-4);
  EXPECT_NEAR(design.unit.vector_area.base(), vector, 5e-4);
  EXPECT_NEAR(design.unit.control_area.base(), control, 5e-4);
  EXPECT_NEAR(design.dram.phy_area.base(), Get(constants["phy_mm2"], "HBM2e_1024b"), 5e-4);
  EXPECT_NEAR(design.dram.controller_area.base(), hbm, 5e-3);
  EXPECT_NEAR(design.link.phy_area.base(), Get(constants["phy_mm2"], "NVLink3_link"), 5e-4);
  EXPECT_NEAR(design.link.controller_area.base(), nvlink, 5e-4);
}

}  // namespace
}  // namespace slipstick
