// Every figure of an operator has a formula that evaluates to its value.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/operators/attention.h"
#include "core/operators/bound_device.h"
#include "core/operators/gemm.h"
#include "core/operators/moe.h"
#include "core/operators/rowwise.h"
#include "tests/core/operators/devices.h"
#include "tests/support/explained.h"
#include "tests/support/formula.h"

namespace slipstick {
namespace {

TEST(Explanation, EveryOperatorNamesItsTerms) {
  const Device device = H100();
  Tape tape;
  Gemm gemm;
  gemm.m = 16, gemm.n = 4096, gemm.k = 8192;
  gemm.weights = Precision::kInt4;
  std::vector<ShownNumber> shown;
  const auto explain = [&](const KernelTime& kernel) {
    shown.push_back(
        {"kernels." + std::to_string(shown.size()), Seconds::kDimension, kernel.time.base(), kernel.time.node()});
  };
  const Device hopper = WithNodes(device, tape), ampere = WithNodes(A100(), tape);
  explain(TimeOf(gemm, hopper, IsolatedKernelParameters(gemm, hopper)));
  Attention attention;
  attention.kv_len = attention.q_len = 4096;
  attention.heads = 32, attention.kv_heads = 8;
  explain(TimeOf(attention, hopper));
  attention.algorithm = AttentionAlgorithm::kUnfused;
  explain(TimeOf(attention, hopper));
  attention.phase = AttentionPhase::kDecode;
  attention.q_len = 1;
  attention.library = AttentionLibrary::kTrtllm;
  explain(TimeOf(attention, hopper));
  LatentAttention mla;
  mla.q_len = mla.kv_len = 2048;
  explain(TimeOf(mla, hopper));
  mla.phase = AttentionPhase::kDecode;
  mla.q_len = 1;
  explain(TimeOf(mla, hopper));
  explain(TimeOf(mla, ampere));
  explain(TimeOf(MoeLayer{}, hopper, IsolatedKernelParameters(MoeLayer{}, hopper)));
  explain(TimeOf(RowKernel{}, hopper));
  explain(TimeOf(gemm, hopper, TrainingKernelParameters(gemm, hopper)));
  Device tpu = device;
  tpu.architecture = Architecture("tpu");
  const Device named_tpu = WithNodes(tpu, tape);
  explain(TimeOf(gemm, named_tpu, IsolatedKernelParameters(gemm, named_tpu)));
  const std::vector<FigureRecord> figures = Explain(shown);
  EXPECT_GT(figures.size(), 80u);
  for (const FigureRecord& figure : figures) {
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
  Tape tape;
  Gemm gemm;
  gemm.m = 512, gemm.n = 4096, gemm.k = 8192;
  const Device device = WithNodes(H100(), tape);
  const KernelTime time = TimeOf(gemm, device, IsolatedKernelParameters(gemm, device));
  const FigureRecord last = FiguresOf(time.time).back();
  EXPECT_EQ(last.value, time.time.base());
  std::size_t linked = 0;
  for (const Term& term : last.terms) linked += !term.origin.empty();
  EXPECT_GE(linked, 1u);
}

}  // namespace
}  // namespace slipstick
