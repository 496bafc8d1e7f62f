// Training on Trainium under NeuronX Distributed.
#include <algorithm>

#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

double FigureOf(const std::vector<FigureRecord>& figures, std::string_view symbol) {
  const auto figure =
      std::find_if(figures.begin(), figures.end(), [&](const FigureRecord& one) { return one.symbol == symbol; });
  EXPECT_NE(figure, figures.end()) << symbol;
  return figure == figures.end() ? 0 : figure->value;
}

// Softmax is one fused kernel: it reads 2,048 x 2,048 scores of each of 4 heads and writes probabilities; backward
// reads two such tensors and writes one, 2 bytes each. Nothing hides the exchanges of tensor parallelism.
TEST(Neuron, FusesTheSoftmaxAndExposesTensorParallelism) {
  const std::vector<FigureRecord> figures = Explained(TrainingScenario(
      Gpt(2, 2048, 16), R"({"preset": "trn1-32xlarge", "devices": 16})",
      R"({"sequence": 2048, "global_batch": 16, "flash_attention": false, "framework": {"preset": "neuronx"},
          "mapping": {"tp": 4, "sequence_parallel": true}})"));
  EXPECT_NEAR(FigureOf(figures, "memory_traffic_of_the_scores"), 5 * 2.0 * 4 * 2048 * 2048, 1);
  EXPECT_GT(FigureOf(figures, "tp_link_time_of_a_layer"), 0);
  EXPECT_DOUBLE_EQ(FigureOf(figures, "exposed_tp_time_of_a_layer"), FigureOf(figures, "tp_link_time_of_a_layer"));
}

// The run that sets the GEMM efficiency: Llama-3.1-70B on 32 trn1.32xlarge, 7.94 sequences/s.
TEST(Neuron, TrainsLlamaAsFastAsPublished) {
  const TrainingReport report =
      Evaluated(TrainingScenario(R"({"preset": "llama-3.1-70b"})", R"({"preset": "trn1-32xlarge", "devices": 512})",
                                 R"({"sequence": 8192, "global_batch": 1024, "recompute": "selective",
                           "framework": {"preset": "neuronx"},
                           "mapping": {"tp": 16, "pp": 8, "zero": 1, "sequence_parallel": true}})"));
  EXPECT_NEAR(In(report.step_time, kS), 1024 / 7.94, 0.03 * 1024 / 7.94);
}

}  // namespace
}  // namespace slipstick
