// Every figure of an operator has a formula that evaluates to its value.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/operators/attention.h"
#include "core/operators/gemm.h"
#include "core/operators/moe.h"
#include "core/operators/named_terms.h"
#include "core/operators/rowwise.h"
#include "tests/core/operators/devices.h"
#include "tests/support/formula.h"

namespace slipstick {
namespace {

TEST(Explanation, EveryOperatorNamesItsTerms) {
  const Device device = H100();
  Trace trace = Trace::On();
  Gemm gemm;
  gemm.m = 16, gemm.n = 4096, gemm.k = 8192;
  gemm.weights = Precision::kInt4;
  const auto time = [&](const Gemm& product, const Device& on) {
    return TimeOf(product, on, IsolatedKernelParameters(product, Named(on, trace)), trace);
  };
  time(gemm, device);
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
  TimeOf(MoeLayer{}, device, IsolatedKernelParameters(MoeLayer{}, Named(device, trace)), trace);
  trace.Alias("row_kernel", TimeOf(RowKernel{}, Named(device, trace)).time, "time of this row kernel");
  TimeOf(gemm, device, TrainingKernelParameters(gemm, Named(device, trace)), trace);
  Device tpu = device;
  tpu.architecture = Architecture("tpu");
  time(gemm, tpu);
  EXPECT_GT(trace.figures().size(), 80u);
  for (const FigureRecord& figure : trace.figures()) {
    EXPECT_FALSE(figure.title.empty()) << figure.path;
    if (figure.kind != FigureKind::kFormula) continue;
    std::map<std::string, double> symbols;
    for (const Term& term : figure.terms) {
      symbols[term.symbol] = term.value;
      EXPECT_NE(figure.formula.find(term.symbol), std::string::npos) << term.symbol << " is not in " << figure.formula;
    }
    const slipstick::testing::FormulaResult result = slipstick::testing::EvaluateFormula(figure.formula, symbols);
    EXPECT_EQ(result.fault, "") << figure.path << ": " << figure.formula;
    EXPECT_NEAR(result.value, figure.value, 1e-12 * std::abs(figure.value)) << figure.path << ": " << figure.formula;
  }
}

// The last figure of an operator is its time, derived from the earlier ones.
TEST(Explanation, ATimeLinksToItsParts) {
  Trace trace = Trace::On();
  Gemm gemm;
  gemm.m = 512, gemm.n = 4096, gemm.k = 8192;
  const KernelTime time = TimeOf(gemm, H100(), IsolatedKernelParameters(gemm, Named(H100(), trace)), trace);
  const FigureRecord& last = trace.figures().back();
  EXPECT_EQ(last.value, time.time.base());
  std::size_t linked = 0;
  for (const Term& term : last.terms) linked += !term.origin.empty();
  EXPECT_GE(linked, 1u);
}

}  // namespace
}  // namespace slipstick
