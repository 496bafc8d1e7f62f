// Sums and products that say what they were made of.
#include "core/base/sum.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/units.h"

namespace slipstick {
namespace {

const FigureRecord& Latest(const Trace& trace) { return trace.figures().back(); }

TEST(Sum, HasOnlyTheAddendsThatAreThere) {
  Trace trace = Trace::On();
  trace.Input("dies", 3 * kUsd, "cost.dies");
  const Dollars sum = Sum<Dollars>(trace, "price", Note{"Price"},
                                   {{"dies", 3 * kUsd}, {"carrier", 5 * kUsd, false}, {"work", 0 * kUsd}});
  EXPECT_EQ(sum, 3 * kUsd);
  EXPECT_EQ(Latest(trace).formula, "dies + work");
  ASSERT_EQ(Latest(trace).terms.size(), 2u);
  EXPECT_EQ(Latest(trace).terms[0].origin, "cost.dies");
}

TEST(Sum, OfNothingIsZero) {
  Trace trace = Trace::On();
  EXPECT_EQ(Sum<double>(trace, "parts", Note{"Parts"}, {{"dies", 3, false}}), 0);
  EXPECT_EQ(Latest(trace).formula, "0");
  EXPECT_TRUE(Latest(trace).terms.empty());
}

TEST(SumFormula, WritesProductsWithTheirTerms) {
  Trace trace = Trace::On();
  const double layers = 4, each = 3, head = 2;
  SumFormula formula;
  formula.Add("layers * each", {{"layers", internal::ValueOf(layers)}, {"each", internal::ValueOf(each)}});
  formula.Add("head", {{"head", internal::ValueOf(head)}});
  formula.Record(trace, "all", internal::ValueOf(14), Note{"All"});
  EXPECT_EQ(Latest(trace).formula, "layers * each + head");
  ASSERT_EQ(Latest(trace).terms.size(), 3u);
  EXPECT_EQ(Latest(trace).terms[2].symbol, "head");
  EXPECT_EQ(Latest(trace).value, 14);
}

TEST(Sum, AddsUpTheSameWithoutATrace) {
  Trace off = Trace::Off();
  const double total = Sum<double>(off, "total", Note{"Total"}, {{"first", 0.1}, {"second", 0.2}, {"third", 0.3}});
  EXPECT_EQ(total, 0.1 + 0.2 + 0.3);
  EXPECT_TRUE(off.figures().empty());
}

TEST(ListedSum, MakesSymbolsOfLettersAndDigits) {
  Trace trace = Trace::On();
  ListedSum<double> sum(trace);
  sum.Add("gate+up projection", 3);
  sum.Add("expert 2 of 8", 5, 2);
  EXPECT_EQ(sum.Total("all", Note{"All"}), 13);
  EXPECT_EQ(Latest(trace).formula, "gate_up_projection + expert_2_of_8 * expert_2_of_8_count");
}

}  // namespace
}  // namespace slipstick
