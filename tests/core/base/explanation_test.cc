// Explanations of recorded numbers, on derivations small enough to check by hand.
#include "core/base/explanation.h"

#include <gtest/gtest.h>

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/base/output.h"
#include "core/base/units.h"
#include "tests/support/explained.h"

namespace slipstick {
namespace {

Seconds InSeconds(Tape& tape, const char* path, double value) {
  return Seconds::FromBase(value, tape.Input(path, value, Seconds::kDimension));
}
ShownNumber At(const char* path, Seconds number) { return {path, Seconds::kDimension, number.base(), number.node()}; }

TEST(Explanation, AFigureComesAfterItsTerms) {
  Tape tape;
  const Seconds hop = InSeconds(tape, "cluster.networks.0.latency", 2);
  const Seconds time = Figure("Steps around the ring", 7 * hop, "", "a paper");
  const std::vector<ShownNumber> shown{At("training.step_time_s", 2 * time)};
  const std::vector<FigureRecord> figures = Explain(shown);
  ASSERT_EQ(figures.size(), 2u);
  const FigureRecord &steps = figures[0], &last = figures[1];
  EXPECT_EQ(steps.path, "training.steps_around_the_ring");
  EXPECT_EQ(steps.title, "Steps around the ring");
  EXPECT_EQ(steps.source, "a paper");
  EXPECT_EQ(steps.formula, "7 * latency");
  EXPECT_EQ(steps.value, 14);
  ASSERT_EQ(steps.terms.size(), 1u);
  EXPECT_EQ(steps.terms[0].origin, "cluster.networks.0.latency");
  EXPECT_EQ(steps.terms[0].figure, kNoFigure);
  EXPECT_EQ(steps.terms[0].dimension, Seconds::kDimension);
  EXPECT_EQ(last.path, "training.step_time_s");
  EXPECT_EQ(last.formula, "2 * steps_around_the_ring");
  EXPECT_EQ(last.value, 28);
  ASSERT_EQ(last.terms.size(), 1u);
  EXPECT_EQ(last.terms[0].origin, steps.path);
  EXPECT_EQ(last.terms[0].figure, 0u);
  EXPECT_EQ(last.shares, std::vector<double>{1});
}

// Two products of equal value lead to their own inputs. The same product computed twice is one figure.
TEST(Explanation, EqualFiguresOfDifferentInputsHaveTheirOwnPaths) {
  Tape tape;
  const Seconds up = InSeconds(tape, "cluster.networks.0.latency", 2), out = InSeconds(tape, "model.out", 2);
  const Seconds first = Figure("Product", 3 * up), second = Figure("Product", 3 * out),
                again = Figure("Product", 3 * up);
  const std::vector<ShownNumber> shown{At("serving.ttft_s", first + second + again)};
  const std::vector<FigureRecord> figures = Explain(shown);
  ASSERT_EQ(figures.size(), 3u);
  const std::vector<Term>& terms = figures[2].terms;
  ASSERT_EQ(terms.size(), 3u);
  EXPECT_EQ(terms[0].origin, "serving.product");
  EXPECT_EQ(terms[1].origin, "serving.product (2)");
  EXPECT_EQ(terms[2].origin, "serving.product");
  EXPECT_EQ(figures[terms[1].figure].terms[0].origin, "model.out");
}

// A figure of the report keeps the report's path, whether the report shows it before or after its parts.
TEST(Explanation, AFigureOfTheReportHasItsPath) {
  Tape tape;
  const Seconds part = Figure("Part", 3 * InSeconds(tape, "model.part", 2)), sum = Figure("Sum", part + part);
  for (const std::vector<ShownNumber>& shown :
       {std::vector{At("serving.ttft_s", sum), At("serving.prefill_s", part)},
        std::vector{At("serving.prefill_s", part), At("serving.ttft_s", sum)}}) {
    const std::vector<FigureRecord> figures = Explain(shown);
    ASSERT_EQ(figures.size(), 2u);
    EXPECT_EQ(figures[0].path, "serving.prefill_s");
    EXPECT_EQ(figures[1].path, "serving.ttft_s");
    EXPECT_EQ(figures[1].terms[0].origin, "serving.prefill_s");
  }
}

TEST(Explanation, AnInputANothingAndANumberShownAgain) {
  Tape tape;
  const Seconds input = InSeconds(tape, "serving.gap", 2), made = Figure("Made", 2 * input);
  const std::vector<ShownNumber> shown{At("serving.made_s", made), At("serving.again_s", made),
                                       At("serving.gap_s", input), At("serving.none_s", Seconds())};
  const std::vector<FigureRecord> figures = Explain(shown);
  ASSERT_EQ(figures.size(), 4u);
  EXPECT_EQ(figures[1].formula, "1 * value");
  EXPECT_EQ(figures[1].terms[0].origin, "serving.made_s");
  EXPECT_EQ(figures[2].terms[0].origin, "serving.gap");
  EXPECT_EQ(figures[3].formula, "0");
  EXPECT_TRUE(figures[3].terms.empty());
}

TEST(Explanation, AProcedureThatChoseIsAChoice) {
  Tape tape;
  const Seconds side = InSeconds(tape, "wafer.side", 2);
  const Alternatives<Seconds> grids{{"straight", 4 * kS}, {"staggered", 5 * kS}};
  const Ratio fitting = Procedure<Ratio, Seconds>("Fitting", 5, {side}, "by counting", "a paper", grids, 1);
  const std::vector<FigureRecord> figures = FiguresOf(2 * fitting);
  const FigureRecord& choice = figures[0];
  EXPECT_EQ(choice.kind, FigureKind::kChoice);
  EXPECT_EQ(choice.source, "a paper");
  EXPECT_EQ(choice.compared, Seconds::kDimension);
  EXPECT_EQ(choice.dimension, Ratio::kDimension);
  ASSERT_EQ(choice.among.size(), 2u);
  EXPECT_EQ(choice.among[1].name, "staggered");
  EXPECT_TRUE(choice.among[1].is_chosen);
  ASSERT_EQ(choice.terms.size(), 1u);
  EXPECT_EQ(choice.terms[0].origin, "wafer.side");
}

TEST(Explanation, AConstantOfATableAppearsOnce) {
  Tape tape;
  const Ratio share = Ratio::FromBase(
      0.8, tape.Constant("fabrics.nvlink.short_rate", 0.8, Ratio::kDimension, "Bandwidth efficiency of LL", "fitted"));
  const Seconds one = share * InSeconds(tape, "a.first", 2), other = share * InSeconds(tape, "a.second", 3);
  const std::vector<FigureRecord> figures = FiguresOf(one, other);
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_EQ(figures[0].kind, FigureKind::kConstant);
  EXPECT_EQ(figures[0].path, "fabrics.nvlink.short_rate");
  EXPECT_EQ(figures[0].symbol, "short_rate");
  EXPECT_EQ(figures[0].title, "Bandwidth efficiency of LL");
  EXPECT_EQ(figures[0].source, "fitted");
}

TEST(Explanation, AFigureCitesTheRuleThatSetItsInput) {
  Tape tape;
  const InputRules rules{{"cluster.device.memory.usable", "0.96 of the capacity"}};
  const Seconds read = Figure("Read", 2 * InSeconds(tape, "cluster.device.memory.usable", 2), "", "a paper");
  const std::vector<ShownNumber> shown{At("serving.ttft_s", read)};
  EXPECT_EQ(Explain(shown, rules)[0].source, "assumed from the data sheet: 0.96 of the capacity");
  EXPECT_EQ(Explain(shown)[0].source, "a paper");
}

TEST(BindInputs, ANumberThatHasANodeKeepsIt) {
  Tape tape;
  Seconds own = InSeconds(tape, "training.framework.gap", 2), plain = 2 * kS;
  BindInputs(own, "cluster.networks.0.latency", &tape);
  BindInputs(plain, "cluster.networks.0.latency", &tape);
  EXPECT_EQ(own.node()->label->path, "training.framework.gap");
  EXPECT_EQ(plain.node()->label->path, "cluster.networks.0.latency");
  Seconds unbound = 2 * kS;
  BindInputs(unbound, "cluster.networks.0.latency", nullptr);
  EXPECT_EQ(unbound.node(), nullptr);
}

struct Part {
  Seconds time;
};
struct Whole {
  Seconds total;
  std::vector<Part> explained, others;
  std::optional<Part> absent;
};

double InMilli(Seconds time) { return 1e3 * time.base(); }

}  // namespace

template <>
struct Outputs<Part> {
  static constexpr auto rows = std::tuple{
      Output("time_s", &Part::time, "Time"),
  };
};
template <>
struct Outputs<Whole> {
  static constexpr auto rows = std::tuple{
      Output("total_ms", &Whole::total, InMilli, "Total"),
      Output("explained", &Whole::explained, "Explained parts").EachExplained(),
      Output("others", &Whole::others, "Other parts"),
      Output("absent", &Whole::absent, "A part that is absent"),
  };
};

namespace {

// Values are in base units, whatever unit the row is written in.
TEST(Shown, HoldsTheRecordedNumbers) {
  Tape tape;
  const Seconds time = InSeconds(tape, "model.time", 2);
  const Whole whole{time, {{time}, {3 * kS}, {Seconds()}}, {{time}}, {}};
  std::vector<ShownNumber> shown;
  AddShown(whole, "training", shown);
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[0].path, "training.total_ms");
  EXPECT_EQ(shown[0].value, 2);
  EXPECT_EQ(shown[0].node, time.node());
  EXPECT_EQ(shown[1].path, "training.explained.0.time_s");
  EXPECT_EQ(shown[2].path, "training.explained.2.time_s");  // 0: the scenario has no such part
  EXPECT_EQ(shown[2].node, nullptr);
}

}  // namespace
}  // namespace slipstick
