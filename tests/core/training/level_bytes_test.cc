// Traffic of a layer's operators at each memory level.
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

TrainingReport WithOperators(const std::string& cluster) {
  const Scenario scenario =
      TrainingScenario(R"({"preset": "llama-3.1-8b"})", R"({"preset": ")" + cluster + R"(", "devices": 8})",
                       R"({"sequence": 8192, "global_batch": 8, "framework": {"preset": "megatron"}})");
  return EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {true, false});
}

// 8,192³ in 16 bits: 32·32 blocks of 256 x 256 outputs, on two SMs that share their loads, each fetch 512 rows of 8,192
// and write the outputs; fragments of 64 rows read 64 + 256 rows.
TEST(LevelBytes, OfASquareProductFollowItsTiles) {
  const Scenario scenario = TrainingScenario(R"({"preset": "llama-3.1-8b"})", R"({"preset": "dgx-h100"})", "{}");
  Device device = scenario.cluster.device;
  CompleteEfficiency(device);
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 8192;
  const KernelTime kernel = TimeOf(gemm, device, TrainingKernelParameters(gemm, device));
  const double outputs = 2 * 8192.0 * 8192;
  EXPECT_EQ(kernel.l2_bytes.base(), 32 * 32 * 512 * 8192.0 * 2 + outputs);
  EXPECT_EQ(kernel.l1_bytes.base(), 64 * 32 * 2 * (64 + 256) * 8192.0 * 2 + outputs);
  EXPECT_LT(kernel.bytes, kernel.l2_bytes);
  EXPECT_GE(kernel.bytes.base(), 3 * outputs);  // at least each operand and the result once
}

TEST(LevelBytes, GrowInwards) {
  for (const char* cluster : {"dgx-a100", "dgx-h100", "dgx-b200", "hgx-mi300x", "tpu-v5p-pod"}) {
    const TrainingReport report = WithOperators(cluster);
    ASSERT_FALSE(report.operators.empty());
    for (const TimedOperator& one : report.operators) {
      ASSERT_FALSE(one.level_bytes.empty());
      EXPECT_EQ(one.level_bytes.back(), one.bytes);
      for (std::size_t level = 1; level < one.level_bytes.size(); ++level) {
        EXPECT_GE(one.level_bytes[level - 1].base(), one.level_bytes[level].base() * (1 - 1e-12))
            << cluster << " " << one.name;
      }
    }
  }
}

// On-chip reuse makes GEMMs compute-bound: far more bytes move on the chip than from memory.
TEST(LevelBytes, OfProductsAndAttentionDifferByLevel) {
  for (const TimedOperator& one : WithOperators("dgx-h100").operators) {
    if (one.name.find("element-wise") != std::string::npos) {
      EXPECT_EQ(one.level_bytes.front(), one.bytes);
    } else {
      EXPECT_GT(one.level_bytes[1], 2 * one.bytes) << one.name;
      EXPECT_GT(one.level_bytes[0], one.level_bytes[1]) << one.name;
    }
  }
}

}  // namespace
}  // namespace slipstick
