// Every figure of an operator comes with a formula that gives its value.
#include <gtest/gtest.h>

#include "core/operators/attention.h"
#include "core/operators/gemm.h"
#include "core/operators/moe.h"
#include "core/operators/rowwise.h"
#include "tests/core/operators/devices.h"

namespace slipstick {
namespace {

TEST(Explanation, EveryOperatorNamesItsTerms) {
  Trace trace = Trace::On();
  Gemm gemm;
  gemm.m = 16, gemm.n = 4096, gemm.k = 8192;
  gemm.weights = Precision::kInt4;
  TimeOf(gemm, H100(), trace);
  Attention attention;
  attention.kv_len = attention.q_len = 4096;
  attention.heads = 32, attention.kv_heads = 8;
  TimeOf(attention, H100(), trace);
  attention.algorithm = AttentionAlgorithm::kUnfused;
  TimeOf(attention, H100(), trace);
  attention.phase = AttentionPhase::kDecode;
  attention.q_len = 1;
  attention.library = AttentionLibrary::kTrtllm;
  TimeOf(attention, H100(), trace);
  LatentAttention mla;
  mla.q_len = mla.kv_len = 2048;
  TimeOf(mla, H100(), trace);
  mla.phase = AttentionPhase::kDecode;
  mla.q_len = 1;
  TimeOf(mla, H100(), trace);
  TimeOf(mla, A100(), trace);
  TimeOf(MoeLayer{}, H100(), trace);
  TimeOf(RowKernel{}, H100(), trace);
  EXPECT_GT(trace.figures().size(), 80u);
  for (const Figure& figure : trace.figures()) {
    EXPECT_FALSE(figure.title.empty()) << figure.path;
    EXPECT_EQ(figure.formula.find("::"), std::string::npos) << figure.formula;
    EXPECT_EQ(figure.formula.find("kFlop"), std::string::npos) << figure.formula;
    for (const Term& term : figure.terms) {
      EXPECT_NE(figure.formula.find(term.symbol), std::string::npos) << term.symbol << " is not in " << figure.formula;
    }
  }
}

}  // namespace
}  // namespace slipstick
