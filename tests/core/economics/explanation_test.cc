// Every figure's text gives its value, and the figures that the report shows are there.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "costs.h"
#include "tests/support/formula.h"

namespace slipstick {
namespace {

std::vector<FigureRecord> FiguresOf(const std::vector<std::string>& assignments) {
  const Scenario scenario = ScenarioOf(assignments);
  Trace trace = Trace::On();
  static_cast<void>(EvaluateCost(scenario.cluster, *scenario.cost, trace));
  return trace.figures();
}

TEST(CostExplanations, EveryTextGivesItsValue) {
  for (const char* device : {"h100-sxm5-80gb", "mi300x", "tpu-v4", "rtx-4090", "mi250x"}) {
    for (const char* model : {"negative_binomial", "poisson", "murphy", "murphy_rectangular", "seeds", "seeds_sqrt",
                              "bose_einstein", "bose_einstein_per_layer", "manual"}) {
      for (const FigureRecord& figure : FiguresOf({"cluster=dgx-h100", std::string("cluster.device=") + device,
                                                   std::string("cost.device.dies.0.yield_model=") + model})) {
        if (figure.kind != FigureKind::kFormula) continue;
        std::map<std::string, double> symbols;
        for (const Term& term : figure.terms) symbols[term.symbol] = term.value;
        const testing::FormulaResult result = testing::EvaluateFormula(figure.formula, symbols);
        ASSERT_EQ(result.fault, "") << figure.path << ": " << figure.formula;
        ASSERT_NEAR(result.value, figure.value, 1e-9 * std::abs(figure.value) + 1e-30)
            << figure.path << ": " << figure.formula;
        ASSERT_FALSE(figure.title.empty()) << figure.path;
      }
    }
  }
}

TEST(CostExplanations, ReportFiguresAreExplainedDownToInputs) {
  std::set<std::string> paths, origins;
  for (const FigureRecord& figure : FiguresOf({"cluster=dgx-h100"})) {
    paths.insert(figure.path);
    for (const Term& term : figure.terms) origins.insert(term.origin);
  }
  for (const char* path : {"cost.device_usd", "cost.system_usd", "cost.device_hour_usd", "cost.dies.0.cost_usd",
                           "cost.dies.0.yield", "cost.dies.0.dies_per_wafer", "cost.carbon.embodied_g"}) {
    EXPECT_TRUE(paths.count(path)) << path;
  }
  for (const char* input :
       {"cost.device.dies.0.node.wafer_price", "cost.device.dies.0.node.defect_density", "cost.device.memory.price",
        "cost.electricity", "cost.lifetime", "cost.system.utilisation", "cluster.devices", "cluster.device.tdp"}) {
    EXPECT_TRUE(origins.count(input)) << input;
  }
  EXPECT_TRUE(origins.count("cost.device_usd") || origins.count("cost.device.price"));
}

}  // namespace
}  // namespace slipstick
