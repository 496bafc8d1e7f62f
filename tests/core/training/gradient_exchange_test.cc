#include "core/training_stage/flops.h"
#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

// The largest figure with this symbol.
double LargestFigure(const Scenario& scenario, std::string_view symbol) {
  double largest = 0;
  for (const FigureRecord& figure : Explained(scenario)) {
    if (figure.symbol == symbol) largest = std::max(largest, figure.value);
  }
  return largest;
}

Scenario Sharded(const std::string& model, const std::string& run) {
  return TrainingScenario(model, R"({"preset": "dgx-h100", "devices": 64})",
                          R"({"sequence": 2048, "recompute": "full", "framework": {"preset": "fsdp"}, )" + run + "}");
}

// "For zero stage 2 (and 3), gradient reduction is required after every backward" (DeepSpeed issue 2252): the rank has
// no memory for whole gradients.
TEST(GradientExchange, TakesPlaceAfterEveryBackwardPassUnderZero2) {
  const auto reduction = [](int zero, int batch) {
    return LargestFigure(
        Sharded(Gpt(2, 1024, 16), R"("global_batch": )" + std::to_string(batch) +
                                      R"(, "mapping": {"micro_batch": 1, "zero": )" + std::to_string(zero) + "}"),
        "reduction_of_the_gradients");
  };
  EXPECT_GT(reduction(1, 64), 0);
  EXPECT_DOUBLE_EQ(reduction(1, 64 * 16), reduction(1, 64));
  EXPECT_DOUBLE_EQ(reduction(2, 64), reduction(1, 64));
  EXPECT_DOUBLE_EQ(reduction(2, 64 * 16), 16 * reduction(1, 64));
}

// no_sync postpones the reduction to the last of 16 micro-batches. Fully sharded, the other 15 save that of two layers and
// the last scatter, which is one layer's.
TEST(GradientExchange, TakesPlaceInTheLastMicroBatchWhereTheFrameworkReducesOnce) {
  const auto scenario = [](bool once, int zero, int batch) {
    Scenario of =
        Sharded(Gpt(2, 1024, 16), R"("global_batch": )" + std::to_string(batch) +
                                      R"(, "mapping": {"micro_batch": 1, "zero": )" + std::to_string(zero) + "}");
    of.training->framework.exchange.reduces_once = once;
    return of;
  };
  const char* reduction = "reduction_of_the_gradients";
  EXPECT_DOUBLE_EQ(LargestFigure(scenario(true, 2, 64 * 16), reduction),
                   LargestFigure(scenario(false, 2, 64), reduction));

  const TrainingReport single = Evaluated(scenario(false, 3, 64)), every = Evaluated(scenario(false, 3, 64 * 16)),
                       once = Evaluated(scenario(true, 3, 64 * 16));
  const double layer = LargestFigure(scenario(false, 3, 64), "gradients_scattered_and_reduced");
  EXPECT_GT(layer, 0);
  EXPECT_NEAR(every.communication.dp.base(), 16 * single.communication.dp.base(), 1e-12);
  EXPECT_NEAR((every.communication.dp - once.communication.dp).base(), 15 * 3 * layer, 1e-12);
  EXPECT_LT(once.time.dp, every.time.dp);
  EXPECT_GE(once.time.dp, single.time.dp);
  EXPECT_EQ(Evaluated(scenario(true, 3, 64)).step_time, single.step_time);  // one micro-batch is the last
}

// A group of eight ranks holds all experts of Mixtral 8x7B (3 · 4096 · 14336 weights each), so every rank reduces an
// eighth of their gradients, two bytes each, with the seven other groups.
TEST(GradientExchange, OfExpertsStaysWithinAGroupThatHoldsAllWeights) {
  const Scenario scenario = Sharded(R"({"preset": "mixtral-8x7b"})",
                                    R"("global_batch": 64, "mapping": {"ep": 1, "zero": 3, "shard_within": 8})");
  EXPECT_NEAR(LargestFigure(scenario, "experts_gradients_of_the_rank_s_shard"), 2 * 8 * 3 * 4096.0 * 14336 / 8, 1);
}

// Full sharding sends the gradients of a layer (12 · 1024² weights and 13 · 1024 others) in the framework's format.
TEST(GradientExchange, SendsGradientsInTheFrameworksFormatUnderZero3) {
  for (const int bytes : {2, 4}) {
    Scenario scenario = Sharded(Gpt(2, 1024, 16), R"("global_batch": 64, "mapping": {"zero": 3})");
    scenario.training->framework.exchange.gradient_bytes = bytes;
    EXPECT_NEAR(LargestFigure(scenario, "gradients_of_the_layer_on_the_links"),
                bytes * (12 * 1024.0 * 1024 + 13 * 1024), 1);
  }
}

// Five iterations of 4m²n + 2m³ per matrix with m <= n: at 1,024 columns 14 m³ for Q, K and V together (n = 3m), 6 m³ for
// the output and 18 m³ for each matrix of the MLP (n = 4m).
TEST(Muon, OrthogonalizesEveryMatrix) {
  const Scenario scenario = Sharded(Gpt(2, 1024, 16), R"("global_batch": 64, "optimizer": "muon")");
  EXPECT_NEAR(In(NewtonSchulzFlops(scenario.model), kFlop), 2 * 5 * (14 + 6 + 18 + 18) * std::pow(1024., 3), 1);
}

}  // namespace
}  // namespace slipstick
