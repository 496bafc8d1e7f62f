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

TEST(RunningSum, OfOneAddendIsThatAddend) {
  Trace trace = Trace::On();
  trace.Input("step", 2.0, "steps.0");
  RunningSum<double> sum(trace, "total", "before", Note{"Total"});
  sum.Add("step", 2);
  const double total = sum.sum();
  FIGURE(trace, twice, 2 * total, (Note{"Twice"}), total);
  EXPECT_EQ(twice, 4);
  EXPECT_EQ(Latest(trace).terms[0].origin, "steps.0");
}

TEST(RunningSum, RestsOnEveryAddend) {
  Trace trace = Trace::On();
  const Trace::Scope question(trace, "cost");
  RunningSum<double> sum(trace, "total", "before", Note{"Total"});
  for (const double value : {2.0, 3.0, 4.0}) {
    const Trace::Scope scope(trace, "step " + std::to_string(static_cast<int>(value)));
    trace.Input("step", value, "steps." + std::to_string(static_cast<int>(value)));
    sum.Add("step", value);
  }
  EXPECT_EQ(sum.sum(), 9);
  ASSERT_EQ(trace.figures().size(), 2u);
  const FigureRecord &second = trace.figures()[0], &third = trace.figures()[1];
  EXPECT_EQ(second.formula, "before + step");
  EXPECT_EQ(second.terms[0].origin, "steps.2");
  EXPECT_EQ(second.terms[1].origin, "steps.3");
  EXPECT_EQ(third.terms[0].origin, second.path);
  EXPECT_EQ(third.terms[1].origin, "steps.4");
}

TEST(RunningSum, GrowsFromZeroWithoutLosingItsFirstAddend) {
  Trace trace = Trace::On();
  trace.Input("free", 0.0, "steps.0");
  trace.Input("paid", 3.0, "steps.1");
  RunningSum<double> sum(trace, "total", "before", Note{"Total"});
  sum.Add("free", 0);
  sum.Add("paid", 3);
  EXPECT_EQ(Latest(trace).terms[0].origin, "steps.0");
  EXPECT_EQ(Latest(trace).terms[1].origin, "steps.1");
}

TEST(RunningProduct, RestsOnEveryFactor) {
  Trace trace = Trace::On();
  trace.Input("first", 0.5, "steps.0");
  trace.Input("second", 0.8, "steps.1");
  RunningProduct product(trace, "yield", "before", Note{"Yield"});
  product.MultiplyBy("first", 0.5);
  product.MultiplyBy("second", 0.8);
  EXPECT_EQ(product.product(), 0.4);
  EXPECT_EQ(Latest(trace).formula, "before * second");
  EXPECT_EQ(Latest(trace).terms[0].origin, "steps.0");
  EXPECT_EQ(Latest(trace).terms[1].origin, "steps.1");
}

TEST(Sum, AddsUpTheSameWithoutATrace) {
  Trace off = Trace::Off();
  RunningSum<double> sum(off, "total", "before", Note{"Total"});
  RunningProduct product(off, "yield", "before", Note{"Yield"});
  for (const double value : {0.1, 0.2, 0.3}) sum.Add("step", value), product.MultiplyBy("step", value);
  EXPECT_EQ(sum.sum(), 0.1 + 0.2 + 0.3);
  EXPECT_EQ(product.product(), 0.1 * 0.2 * 0.3);
  EXPECT_TRUE(off.figures().empty());
}

}  // namespace
}  // namespace slipstick
