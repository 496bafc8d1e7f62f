// The text of every figure evaluates to its value, and every figure that the report shows has one.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/provenance.h"
#include "costs.h"
#include "tests/support/explained_part.h"
#include "tests/support/formula.h"

namespace slipstick {
namespace {

std::vector<FigureRecord> FiguresOf(const std::vector<std::string>& assignments) {
  const Scenario scenario = ScenarioOf(assignments);
  Tape tape;
  CostPart part;
  static_cast<CostReport&>(part) = EvaluateCost(scenario.cluster, *scenario.cost, &tape);
  return ExplainedPart(part);
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
    EXPECT_TRUE(paths.contains(path)) << path;
  }
  for (const char* input :
       {"cost.device.dies.0.node.wafer_price", "cost.device.dies.0.node.defect_density", "cost.device.memory.price",
        "cost.electricity", "cost.lifetime", "cost.system.utilisation", "cluster.devices", "cluster.device.tdp"}) {
    EXPECT_TRUE(origins.contains(input)) << input;
  }
  EXPECT_TRUE(origins.contains("cost.device_usd") || origins.contains("cost.device.price"));
}

TEST(CostExplanations, OwnershipLeadsToTheNetworkAndTheSystem) {
  std::set<std::string> origins;  // 128 devices of a plane: two tiers
  for (const FigureRecord& figure : FiguresOf({"cluster=dgx-h100", "cluster.devices=1024"})) {
    for (const Term& term : figure.terms) origins.insert(term.origin);
  }
  for (const char* input :
       {"cluster.devices", "cluster.networks.0.size", "cluster.networks.1.bandwidth",
        "cluster.networks.1.port.switch_ports", "cluster.networks.1.port.switch_price",
        "cluster.networks.1.port.cables_two_tiers", "cluster.networks.1.port.optics_power",
        "cluster.networks.1.port.adapter_price", "cost.system.devices_per_host", "cost.system.adapters_included",
        "cost.system.host_power", "cost.system.load", "cost.system.pue", "cost.system.cost_of_capital",
        "cost.system.maintenance", "cost.system.margin"}) {
    EXPECT_TRUE(origins.contains(input)) << input;
  }
}

// Derivatives of the cost per GPU-hour, by the tape and by a small step up and down.
TEST(CostExplanations, DerivativesAreThoseOfTheCost) {
  const Scenario scenario = ScenarioOf({"cluster=dgx-h100", "cluster.devices=512"});
  Tape tape;
  const CostReport report = EvaluateCost(scenario.cluster, *scenario.cost, &tape);
  const Node* hour = report.device_hour.node();
  ASSERT_NE(hour, nullptr);
  const std::vector<double> derivatives = DerivativesOf(*hour);
  const auto expect_slope = [&](const std::string& path, auto input_of) {
    double by_tape = 0;
    for (std::size_t i = 0; i < derivatives.size(); ++i) {
      const Node& node = hour->tape->nodes()[i];
      if (node.op == Op::kInput && node.label->path == path) by_tape += derivatives[i];
    }
    const auto hour_at = [&](double factor) {
      Scenario moved = scenario;
      input_of(moved) = input_of(moved) * factor;
      return EvaluateCost(moved.cluster, *moved.cost).device_hour.base();
    };
    Scenario usual = scenario;
    const double by_steps = (hour_at(1.001) - hour_at(0.999)) / (0.002 * input_of(usual).base());
    EXPECT_NEAR(by_tape / by_steps, 1, 1e-5) << path;
  };
  expect_slope("cluster.device.tdp", [](Scenario& s) -> auto& { return s.cluster.device.tdp; });
  expect_slope("cluster.networks.1.port.switch_price",
               [](Scenario& s) -> auto& { return s.cluster.networks[1].port.switch_price; });
  expect_slope("cost.electricity", [](Scenario& s) -> auto& { return s.cost->electricity; });
  expect_slope("cost.lifetime", [](Scenario& s) -> auto& { return s.cost->lifetime; });
  expect_slope("cost.system.pue", [](Scenario& s) -> auto& { return s.cost->system.pue; });
  expect_slope("cost.system.cost_of_capital", [](Scenario& s) -> auto& { return s.cost->system.cost_of_capital; });
  expect_slope("cost.system.utilisation", [](Scenario& s) -> auto& { return s.cost->system.utilisation; });
}

}  // namespace
}  // namespace slipstick
