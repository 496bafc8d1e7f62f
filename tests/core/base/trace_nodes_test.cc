// The old way of explaining meets numbers that remember.
#include <gtest/gtest.h>

#include "core/base/figure.h"
#include "core/base/trace.h"
#include "core/base/units.h"

namespace slipstick {
namespace {

Seconds InSeconds(Trace& trace, const char* path, double value) {
  return Seconds::FromBase(value, trace.tape().Input(path, value, Seconds::kDimension));
}

TEST(TraceNodes, ATermWithoutANameIsExplainedByItsNode) {
  Trace trace = Trace::On();
  const Trace::Scope scope(trace, "training");
  const Seconds hop = InSeconds(trace, "cluster.networks.0.latency", 2);
  const Seconds time = Figure("Steps around the ring", 7 * hop, "", "a paper");  // a folder without a trace
  FIGURE(trace, twice, 2 * time, (Note{"There and back"}), time);
  ASSERT_EQ(trace.figures().size(), 2u);
  const FigureRecord &steps = trace.figures()[0], &last = trace.figures()[1];
  EXPECT_EQ(steps.path, "training.steps_around_the_ring");
  EXPECT_EQ(steps.title, "Steps around the ring");
  EXPECT_EQ(steps.source, "a paper");
  EXPECT_EQ(steps.formula, "7 * latency");
  EXPECT_EQ(steps.value, 14);
  ASSERT_EQ(steps.terms.size(), 1u);
  EXPECT_EQ(steps.terms[0].origin, "cluster.networks.0.latency");
  EXPECT_EQ(steps.terms[0].figure, kNoFigure);
  EXPECT_EQ(steps.terms[0].dimension, Seconds::kDimension);
  ASSERT_EQ(last.terms.size(), 1u);
  EXPECT_EQ(last.terms[0].origin, steps.path);
  EXPECT_EQ(last.terms[0].figure, 0u);
}

// Of two products that take equally long each leads to its own inputs; the same product twice is one figure.
TEST(TraceNodes, EqualFiguresOfDifferentInputsHavePathsOfTheirOwn) {
  Trace trace = Trace::On();
  const Seconds up = InSeconds(trace, "cluster.networks.0.latency", 2), out = InSeconds(trace, "model.out", 2);
  const Seconds first = Figure("Product", 3 * up), second = Figure("Product", 3 * out),
                again = Figure("Product", 3 * up);
  FIGURE(trace, all, first + second + again, (Note{"All"}), first, second, again);
  const std::vector<Term>& terms = trace.figures().back().terms;
  ASSERT_EQ(terms.size(), 3u);
  EXPECT_EQ(terms[0].origin, "product");
  EXPECT_EQ(terms[1].origin, "product (2)");
  EXPECT_EQ(terms[2].origin, "product");
  EXPECT_EQ(trace.figures()[terms[1].figure].terms[0].origin, "model.out");
  EXPECT_EQ(trace.figures().size(), 3u);
}

TEST(TraceNodes, ANameExplainsATermBeforeItsNode) {
  Trace trace = Trace::On();
  const Seconds time = InSeconds(trace, "cluster.networks.0.latency", 2);
  trace.Input("time", time, "cluster.networks.1.latency");
  FIGURE(trace, twice, 2 * time, (Note{"There and back"}), time);
  EXPECT_EQ(trace.figures().back().terms[0].origin, "cluster.networks.1.latency");
}

TEST(TraceNodes, AnAliasOfNothingIsTheNode) {
  Trace trace = Trace::On();
  const Seconds made = 3 * InSeconds(trace, "cluster.networks.0.latency", 2);
  trace.Alias("reduce_time", made, "collective_time");
  const Seconds reduce_time = Seconds::FromBase(6);
  FIGURE(trace, all, 1 * reduce_time, (Note{"All"}), reduce_time);
  EXPECT_EQ(trace.figures()[0].formula, "3 * latency");
  EXPECT_EQ(trace.figures().back().terms[0].origin, trace.figures()[0].path);
}

TEST(TraceNodes, CarryGivesAValueTheNodeOfAFigure) {
  Trace trace = Trace::On();
  const Seconds latency = 2 * kS;
  trace.Input("latency", latency, "cluster.networks.0.latency");
  FIGURE(trace, steps, 3 * latency, (Note{"Steps"}), latency);
  const Seconds carried = trace.Carry("steps", steps);
  EXPECT_EQ(carried.base(), 6);
  const Seconds half = carried / 2;  // a folder without a trace
  FIGURE(trace, whole, half * 2, (Note{"Whole"}), half);
  EXPECT_EQ(trace.figures()[1].formula, "steps / 2");
  EXPECT_EQ(trace.figures()[1].terms[0].origin, "steps");
  EXPECT_EQ(trace.figures()[1].terms[0].figure, 0u);
  Trace off = Trace::Off();
  EXPECT_EQ(off.Carry("steps", steps).node(), nullptr);
}

TEST(TraceNodes, AProcedureThatChoseIsAChoice) {
  Trace trace = Trace::On();
  const Seconds side = InSeconds(trace, "wafer.side", 2);
  const std::vector<std::pair<std::string, Ratio>> grids{{"straight", 4}, {"staggered", 5}};
  const Ratio fitting = Procedure<Ratio>("Fitting", 5, {side.operand()}, "by counting", "a paper", grids, 1);
  FIGURE(trace, twice, 2 * fitting, (Note{"Twice"}), fitting);
  const FigureRecord& choice = trace.figures()[0];
  EXPECT_EQ(choice.kind, FigureKind::kChoice);
  EXPECT_EQ(choice.source, "a paper");
  ASSERT_EQ(choice.among.size(), 2u);
  EXPECT_EQ(choice.among[1].name, "staggered");
  EXPECT_TRUE(choice.among[1].is_chosen);
  ASSERT_EQ(choice.terms.size(), 1u);
  EXPECT_EQ(choice.terms[0].origin, "wafer.side");
}

// A framework reaches its own rate of a link, and takes a part of that for a step's collectives.
TEST(TraceNodes, WhatACallerMakesOfAnInputComesBeforeWhatReplacesIt) {
  Trace trace = Trace::On();
  const BytesPerSecond rate = 40 * kGBps, nic = rate;
  const char* path = "cluster.networks.1.bandwidth";
  trace.Input("rate", rate, "training.framework.rate");
  trace.Replace(path, rate, "rate");
  FIGURE(trace, part, 1 * rate, (Note{"Part of it"}), rate);
  EXPECT_EQ(trace.InputNode(path, nic.base(), nic.kDimension)->label->path, "training.framework.rate");
  trace.Alias(path, nic, "part");
  EXPECT_EQ(trace.InputNode(path, nic.base(), nic.kDimension)->label->path, "part");
}

TEST(TraceNodes, AConstantOfATableStandsOnce) {
  Trace trace = Trace::On();
  const Ratio share = Ratio::FromBase(0.8, trace.tape().Constant("fabrics.nvlink.short_rate", 0.8, Ratio::kDimension,
                                                                 "Bandwidth efficiency of LL", "fitted"));
  const Seconds one = share * InSeconds(trace, "a.first", 2), other = share * InSeconds(trace, "a.second", 3);
  FIGURE(trace, both, one + other, (Note{"Both"}), one, other);
  std::size_t constants = 0;
  for (const FigureRecord& figure : trace.figures()) {
    if (figure.kind != FigureKind::kConstant) continue;
    ++constants;
    EXPECT_EQ(figure.path, "fabrics.nvlink.short_rate");
    EXPECT_EQ(figure.symbol, "short_rate");
    EXPECT_EQ(figure.title, "Bandwidth efficiency of LL");
    EXPECT_EQ(figure.source, "fitted");
  }
  EXPECT_EQ(constants, 1u);
}

// A scope with another device names it once; all members follow.
TEST(TraceNodes, MembersOfTheDeviceAreThoseOfTheOneThatTheScopeNames) {
  Trace trace = Trace::On();
  EXPECT_EQ(trace.InputNode("cluster.device.clock", 2, Hertz::kDimension)->label->path, "cluster.device.clock");
  const Trace::Scope scope(trace, "serving.prefill");
  const std::string own = trace.DeviceHere();
  trace.Input("cluster.device", 0, "serving.disaggregated.prefill_device");
  EXPECT_EQ(trace.InputNode("cluster.device.clock", 2, Hertz::kDimension)->label->path,
            "serving.disaggregated.prefill_device.clock");
  EXPECT_NE(trace.DeviceHere(), own);
}

}  // namespace
}  // namespace slipstick
