// ttm-cas, Google's chiplet cost model and LLMCompass against the cases of ../shared/validation/reference-cases: what the tools return when
// run unmodified. Skipped where the folder is absent.
#include "core/economics/compatibility/other_tools.h"
#include "core/economics/yield.h"
#include "core/hardware/chip_design.h"
#include "reference_cases.h"

namespace slipstick {
namespace {

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

// LLMCompass's areas of GA100's parts from its transistor counts: the constants that a chip design has by default.
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
               link = Get(constants["ctrl_transistors"], "NVLink3_link") / density;
  ExpectNear(6 * hbm, io["mem_controller_area"], "memory controllers");
  ExpectNear(6 * Get(constants["phy_mm2"], "HBM2e_1024b"), io["mem_phy_area"], "memory interfaces");
  ExpectNear(12 * link, io["device_controller_area"], "link controllers");
  const ChipDesign design;
  EXPECT_NEAR(design.unit.tensor_area.base(), tensor, 5e-4);
  EXPECT_NEAR(design.unit.vector_area.base(), vector, 5e-4);
  EXPECT_NEAR(design.unit.control_area.base(), control, 5e-4);
  EXPECT_NEAR(design.dram.phy_area.base(), Get(constants["phy_mm2"], "HBM2e_1024b"), 5e-4);
  EXPECT_NEAR(design.dram.controller_area.base(), hbm, 5e-3);
  EXPECT_NEAR(design.link.phy_area.base(), Get(constants["phy_mm2"], "NVLink3_link"), 5e-4);
  EXPECT_NEAR(design.link.controller_area.base(), link, 5e-4);
}

}  // namespace
}  // namespace slipstick
