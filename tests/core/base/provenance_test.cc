// Recorded numbers: text, terms and derivatives of each operation, by hand.
#include "core/base/provenance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/base/figure.h"
#include "core/base/schema.h"
#include "core/base/tally.h"
#include "core/base/units.h"
#include "tests/support/operation_value.h"

namespace slipstick {

struct Shelf {
  Tally boards = 2;
  Count nails = 7;
  Ratio depth = 0.5;
};
template <>
struct Schema<Shelf> {
  static const Fields fields;
};
constexpr FieldRow kShelfFields[] = {Of<&Shelf::boards>("boards", "Boards"), Of<&Shelf::nails>("nails", "Nails"),
                                     Of<&Shelf::depth>("depth", "Depth")};
constinit const Fields Schema<Shelf>::fields(kShelfFields);

namespace {

class Provenance : public ::testing::Test {
 protected:
  Ratio In(const char* path, double value) {
    return Ratio::FromBase(value, tape_.Input(path, value, Ratio::kDimension));
  }
  Bytes InBytes(const char* path, double value) {
    return Bytes::FromBase(value, tape_.Input(path, value, Bytes::kDimension));
  }
  Seconds InSeconds(const char* path, double value) {
    return Seconds::FromBase(value, tape_.Input(path, value, Seconds::kDimension));
  }
  template <class Q>
  static std::string TextOf(Q q) {
    return q.node() == nullptr ? "" : FormulaOf(*q.node()).text;
  }
  template <class Q>
  static std::vector<double> SlopesOf(Q q) {
    std::vector<double> slopes;
    for (const FormulaTerm& term : FormulaOf(*q.node()).terms) slopes.push_back(term.derivative);
    return slopes;
  }
  // Text, value and the derivatives by a and b in the order of the text.
  static void Expect(Ratio result, const char* text, double value, std::vector<double> slopes) {
    EXPECT_EQ(TextOf(result), text);
    EXPECT_NEAR(result.base(), value, 1e-12) << text;
    const std::vector<double> found = SlopesOf(result);
    ASSERT_EQ(found.size(), slopes.size()) << text;
    for (std::size_t i = 0; i < slopes.size(); ++i) EXPECT_NEAR(found[i], slopes[i], 1e-12) << text;
  }
  Tape tape_;
};

TEST_F(Provenance, EachOperationHasItsTextAndItsDerivatives) {
  const Ratio a = In("x.a", 3), b = In("x.b", 2);
  Expect(a + b, "a + b", 5, {1, 1});
  Expect(a - b, "a - b", 1, {1, -1});
  Expect(a * b, "a * b", 6, {2, 3});
  Expect(a / b, "a / b", 1.5, {0.5, -0.75});
  Expect(-a + b, "-a + b", -1, {-1, 1});
  Expect(max(a, b), "max(a, b)", 3, {1, 0});
  Expect(min(a, b), "min(a, b)", 2, {0, 1});
  Expect(pow(a, b), "pow(a, b)", 9, {6, 9 * std::log(3)});
  Expect(exp(a), "exp(a)", std::exp(3), {std::exp(3)});
  Expect(log(a), "log(a)", std::log(3), {1 / 3.0});
  Expect(log2(b), "log2(b)", 1, {1 / (2 * std::log(2))});
  Expect(sqrt(a), "sqrt(a)", std::sqrt(3), {1 / (2 * std::sqrt(3))});
  Expect(ceil(a / b), "ceil(a / b)", 2, {0.5, -0.75});
  Expect(floor(a / b), "floor(a / b)", 1, {0.5, -0.75});
  // (3^2 + 2^2)^(1/2): slopes 3 / sqrt(13) and 2 / sqrt(13)
  Expect(norm(a, b, 2), "norm(a, b, 2)", std::sqrt(13), {3 / std::sqrt(13), 2 / std::sqrt(13)});
}

TEST_F(Provenance, LiteralsMayBeOnEitherSide) {
  const Ratio a = In("x.a", 4);
  Expect(a + 1, "a + 1", 5, {1});
  Expect(1 - a, "1 - a", -3, {-1});
  Expect(2 * a, "2 * a", 8, {2});
  Expect(1 / a, "1 / a", 0.25, {-1 / 16.0});
  Expect(a / 8.0, "a / 8", 0.5, {0.125});
  Expect(max(1.0, a), "max(1, a)", 4, {1});
  Expect(min(a, 1), "min(a, 1)", 1, {0});
  Expect(pow(a, 0.5), "pow(a, 0.5)", 2, {0.25});
  Expect(a * -2, "a * (-2)", -8, {-2});
}

TEST_F(Provenance, ParenthesesAppearWhereTheyAreNeeded) {
  const Ratio a = In("x.a", 8), b = In("x.b", 4), c = In("x.c", 2);
  EXPECT_EQ(TextOf((a + b) * c), "(a + b) * c");
  EXPECT_EQ(TextOf(a + b * c), "a + b * c");
  EXPECT_EQ(TextOf(a - (b - c)), "a - (b - c)");
  EXPECT_EQ(TextOf(a - b - c), "a - b - c");
  EXPECT_EQ(TextOf(a / (b * c)), "a / (b * c)");
  EXPECT_EQ(TextOf(a / b * c), "a / b * c");
  EXPECT_EQ(TextOf(-(a + b)), "-(a + b)");
}

TEST_F(Provenance, DimensionsCancelToARecordedRatio) {
  const Bytes sent = InBytes("call.bytes", 6), held = InBytes("x.held", 2);
  Expect(sent / held, "bytes / held", 3, {0.5, -1.5});
  const Seconds time = sent / (In("x.share", 0.5) * (3 * kB / (1 * kS)));
  EXPECT_EQ(time.base(), 4);
  EXPECT_EQ(TextOf(time), "bytes / (share * 3)");
}

TEST_F(Provenance, NothingIsRecordedWithoutAnInput) {
  const Ratio a = 3;
  EXPECT_EQ((pow(a * 2 + 1, 2) / 7).node(), nullptr);
  EXPECT_EQ(Figure("Title", a * 2).node(), nullptr);
  EXPECT_TRUE(tape_.nodes().empty());
}

TEST_F(Provenance, AddingZeroOrMultiplyingByOneRecordsNothing) {
  const Ratio a = In("x.a", 3);
  Ratio sum, product = 1;
  sum += a;
  product *= a;
  EXPECT_EQ(sum.node(), a.node());
  EXPECT_EQ(product.node(), a.node());
  EXPECT_EQ((a - 0).node(), a.node());
  EXPECT_EQ((a / 1).node(), a.node());
  EXPECT_EQ((a * (1 * kB)).node(), a.node());
  EXPECT_EQ(tape_.nodes().size(), 1u);
  // An input of 0 or 1 stays a term, since it may be changed.
  EXPECT_EQ(TextOf(a + In("x.none", 0)), "a + none");
}

TEST_F(Provenance, AFigureIsATermOfTheNext) {
  const Bytes bytes = InBytes("x.bytes", 12);
  const Ratio ranks = In("x.ranks", 4);
  const Bytes volume = Figure("Bytes sent per rank", (ranks - 1) / ranks * bytes, "all but its own block", "a paper");
  EXPECT_EQ(volume.node()->label->note, "all but its own block");
  EXPECT_EQ(volume.node()->label->source, "a paper");
  EXPECT_EQ(TextOf(volume), "(ranks - 1) / ranks * bytes");
  // d/d ranks = bytes / ranks^2, d/d bytes = 3/4
  const std::vector<double> slopes = SlopesOf(volume);
  ASSERT_EQ(slopes.size(), 2u);
  EXPECT_NEAR(slopes[0], 12 / 16.0, 1e-12);
  EXPECT_NEAR(slopes[1], 0.75, 1e-12);
  EXPECT_EQ(TextOf(2 * volume), "2 * bytes_sent_per_rank");
  EXPECT_EQ(TextOf(Figure("The same under its own title", volume)), "bytes_sent_per_rank");
}

TEST_F(Provenance, TermsOfTheSameNameStayApart) {
  const Seconds time = InSeconds("networks.0.latency", 1) + InSeconds("networks.1.latency", 2);
  EXPECT_EQ(TextOf(time), "latency + latency_2");
  EXPECT_EQ(TextOf(In("cluster.networks.0.dims.1", 4) * 2), "dims * 2");
}

TEST_F(Provenance, AChoiceKeepsItsOptions) {
  const Seconds slow = Figure("Ring", 2 * InSeconds("x.a", 3)), fast = Figure("Tree", InSeconds("x.b", 4) + 1 * kS);
  const Seconds best = Choose<Seconds>("Time of the collective", {{"ring", slow}, {"tree", fast}}, 1);
  EXPECT_EQ(best.base(), 5);
  const Label& label = *best.node()->label;
  EXPECT_EQ(label.options, (std::vector<std::string>{"ring", "tree"}));
  EXPECT_EQ(label.compared, (std::vector<double>{6, 5}));
  EXPECT_EQ(SlopesOf(best), (std::vector<double>{0, 1}));
  const std::vector<double> by = DerivativesOf(*best.node());
  EXPECT_EQ(by[0], 0);  // by x.a
  EXPECT_EQ(TextOf(best), "");
}

TEST_F(Provenance, AProcedureNamesItsTerms) {
  const Ratio side = In("x.side", 4);
  const Ratio wires = Procedure<Ratio>("Wires in a row", 3, {side.operand()}, "by counting");
  ASSERT_EQ(FormulaOf(*wires.node()).terms.size(), 1u);
  EXPECT_EQ(FormulaOf(*wires.node()).terms[0].symbol, "side");
  EXPECT_EQ(TextOf(2 * wires), "2 * wires_in_a_row");
}

// The slower of two levels decides: 3 * 4 moves in proportion to it, and not at all with the number of ranks.
TEST_F(Provenance, AProcedureStatesItsSharesWhereTheyAreKnown) {
  const Ratio slowest = In("x.slowest", 4), ranks = In("x.ranks", 16);
  const Ratio found = Procedure<Ratio>("Bandwidth of a rank", 12, {{slowest, 1}, InSteps(ranks)});
  EXPECT_EQ(SlopesOf(found), (std::vector<double>{3, 0}));
  const Ratio beyond = 2 * found;
  EXPECT_EQ(DerivativesOf(*beyond.node())[slowest.node()->place], 6);
  EXPECT_EQ(DerivativesOf(*beyond.node())[ranks.node()->place], 0);
}

// A share that a procedure does not state is unknown, not 0, and so is every derivative through it.
TEST_F(Provenance, AShareThatIsNotStatedIsUnknown) {
  const Ratio rate = In("x.rate", 4), wait = In("x.wait", 2);
  const Ratio served = Procedure<Ratio>("Served by a simulation", 12, {rate});
  const std::vector<double> by = DerivativesOf(*(served * wait).node());
  EXPECT_TRUE(std::isnan(by[rate.node()->place]));
  EXPECT_EQ(by[wait.node()->place], 12);
}

// ceil(rows / 64) stays 1 for up to 64 rows, so its derivative is 0. Above the first step it is the slope of rows / 5.
TEST_F(Provenance, BelowTheFirstStepTheDerivativeIsZero) {
  const Ratio rows = In("x.rows", 16);
  EXPECT_EQ(DerivativesOf(*ceil(rows / 64).node())[rows.node()->place], 0);
  EXPECT_EQ(DerivativesOf(*ceil(rows / 5).node())[rows.node()->place], 1.0 / 5);
}

TEST_F(Provenance, ATallyIsARecordedCount) {
  Shelf shelf;
  BindNumbers(shelf, "shelf",
              [&](const BoundNumber& number) { return tape_.Input(number.path, number.value, number.dimension); });
  EXPECT_EQ(TextOf(Ratio(shelf.boards) * shelf.depth), "boards * depth");
  EXPECT_EQ((Ratio(shelf.boards) * shelf.depth).base(), 1);
  EXPECT_EQ(shelf.boards * shelf.nails, 14);
  Issues issues;
  ReadOver(Json{{"boards", 3}}, "", issues, shelf);
  EXPECT_TRUE(issues.empty());
  EXPECT_EQ(shelf.boards, 3);
  EXPECT_EQ(Ratio(shelf.boards).node(), nullptr);  // overwriting a bound number drops its node
}

TEST_F(Provenance, AFormulaMayHaveAMoreExactValue) {
  const Ratio a = In("x.a", 1e-12);
  const double exact = 9.999999999995e-13;  // a - a^2 / 2: 1 - exp(-a) in floating point is off in the fifth digit
  const Ratio survival = Figure("Survival", Exactly(exact, 1 - exp(-a)));
  EXPECT_EQ(survival.base(), exact);
  EXPECT_EQ(survival.node()->value, exact);
  EXPECT_EQ(TextOf(survival), "1 - exp(-a)");
  EXPECT_EQ(Exactly(exact, Ratio(3)).node(), nullptr);
}

TEST_F(Provenance, OnePassBackGivesTheDerivativesByAllInputs) {
  const Ratio a = In("x.a", 3), b = In("x.b", 2), c = In("x.c", 5);
  const Ratio inner = Figure("Inner", a * b + c);          // 11
  const Ratio outer = Figure("Outer", inner * inner / b);  // 60.5
  const std::vector<double> by = DerivativesOf(*outer.node());
  EXPECT_NEAR(by[a.node()->place], 2 * 11 * 2 / 2.0, 1e-12);
  EXPECT_NEAR(by[b.node()->place], 2 * 11 * 3 / 2.0 - 121 / 4.0, 1e-12);
  EXPECT_NEAR(by[c.node()->place], 2 * 11 / 2.0, 1e-12);
}

TEST_F(Provenance, ALongIntermediateResultIsASeparateTerm) {
  Ratio sum = In("x.a", 1);
  for (int i = 0; i < 60; ++i) sum = sum + sum;  // written out: 2^60 terms
  const NodeFormula formula = FormulaOf(*sum.node());
  EXPECT_LT(formula.text.size(), 400u);
  EXPECT_EQ(formula.text.substr(0, 4), "part");
  EXPECT_NEAR(DerivativesOf(*sum.node())[0], std::exp2(60), 1);
}

// The values of all nodes of a tape for other values of the inputs. Choices stay as they were chosen, and procedures
// keep their results.
std::vector<double> Replayed(const Tape& tape, const std::function<double(const Node& input)>& value_of) {
  std::vector<double> values(tape.nodes().size()), operands;
  for (const Node& node : tape.nodes()) {
    operands.clear();
    for (std::size_t i = 0; i < node.arity(); ++i) {
      const Operand& operand = node.operand(i);
      operands.push_back(operand.node != nullptr ? values[operand.node->place] : operand.value);
    }
    values[node.place] = node.op == Op::kInput       ? value_of(node)
                         : node.op == Op::kProcedure ? node.value
                         : node.op == Op::kChoice    ? operands[node.label->chosen]
                                                     : testing::ValueOf(node.op, operands);
  }
  return values;
}

// A small model with branches, a loop and a maximum.
Seconds Model(Ratio ranks, Bytes bytes, Seconds latency, Ratio rate) {
  Seconds time;
  for (int step = 0; step < 5; ++step) time += latency * ceil(log2(ranks)) + bytes / ranks / (rate * 7 * kBps);
  return max(time, norm(2 * latency, bytes / (11 * kBps), 3));
}

TEST_F(Provenance, AReplayedTapeGivesWhatTheFormulaGives) {
  const Seconds recorded = Model(In("ranks", 16), InBytes("bytes", 1e6), InSeconds("latency", 1e-3), In("rate", 0.5));
  for (const double by : {0.5, 1.0, 1.25, 3.0}) {
    const auto value_of = [by](const Node& input) { return input.value * by; };
    const double replayed = Replayed(tape_, value_of)[recorded.node()->place];
    const double computed = Model(16 * by, 1e6 * by * kB, 1e-3 * by * kS, 0.5 * by).base();
    EXPECT_NEAR(replayed, computed, 1e-12 * computed) << by;
  }
}

TEST_F(Provenance, DerivativesAreThoseOfFiniteDifferences) {
  const Seconds time = Model(In("ranks", 12), InBytes("bytes", 3), InSeconds("latency", 0.25), In("rate", 0.5));
  const std::vector<double> by = DerivativesOf(*time.node());
  for (const Node& input : tape_.nodes()) {
    if (input.op != Op::kInput || input.label->path == "ranks") continue;  // ceil steps over ranks
    const auto at = [&](double factor) {
      return Replayed(tape_, [&](const Node& n) { return n.value * (&n == &input ? factor : 1); })[time.node()->place];
    };
    const double step = 1e-5, slope = (at(1 + step) - at(1 - step)) / (2 * step * input.value);
    EXPECT_NEAR(by[input.place], slope, 1e-6 * std::abs(slope) + 1e-15) << input.label->path;
  }
}

// The path of a figure that is computed more than once ends in a number, " (2)". Texts leave it out.
TEST_F(Provenance, ANameLeavesOutTheNumberOfARepeatedFigure) {
  EXPECT_EQ(TextOf(In("serving.prefill.keys (2)", 8) + 1), "keys + 1");
}

}  // namespace
}  // namespace slipstick
