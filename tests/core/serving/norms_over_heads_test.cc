// Norms over the heads of all tensor-parallel ranks.
#include <gtest/gtest.h>

#include <string>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

ServingReport MiniMaxStep(const std::string& ranks, const std::string& norm) {
  return Serve({"model=minimax-m2", "model.qk_norm=" + norm, "cluster=dgx-h200", "serving.devices=" + ranks,
                "serving.mapping.tp=" + ranks, "serving.engine=vllm", "serving.batch=16"},
               true);
}

ServedOperator OperatorOf(std::string_view name, const ServingReport& report) {
  for (const ServedOperator& one : report.operators.decode) {
    if (one.name == name) return one;
  }
  return {};
}

// MiniMax-M2 has one norm over all query heads of a layer and one over all key heads. In each of its 62 layers the
// ranks exchange two sums, 8 bytes per token, in less time than the hidden state takes.
TEST(NormsOverHeads, AreSummedOverTheRanks) {
  const ServingReport over_all = MiniMaxStep("4", "all_heads"), each = MiniMaxStep("4", "each_head");
  const ServedOperator sums = OperatorOf("all-reduce of norms", over_all), hidden = OperatorOf("all-reduce", over_all);
  EXPECT_EQ(sums.count, 62);
  EXPECT_GT(sums.time, Seconds{});
  EXPECT_LT(sums.time, hidden.time);
  EXPECT_NEAR(In(over_all.decode_step - each.decode_step, kUs), 62 * In(sums.time, kUs), 1e-6);
}

TEST(NormsOverHeads, TakeNoExchangeWhereARankHasThem) {
  EXPECT_EQ(OperatorOf("all-reduce of norms", MiniMaxStep("4", "each_head")).time, Seconds{});
  EXPECT_EQ(MiniMaxStep("4", "each_head").decode_step, MiniMaxStep("4", "head").decode_step);
}

}  // namespace
}  // namespace slipstick
