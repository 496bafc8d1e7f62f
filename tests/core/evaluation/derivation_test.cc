// Shares and the path to the input that matters most, on a derivation small enough for the hand:
//   volume = width * height, with width = 2 (an input) and height = width + depth, depth = 3 (an input).
#include "core/evaluation/derivation.h"

#include <gtest/gtest.h>

#include "core/base/units.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

Trace Example() {
  Trace trace = Trace::On();
  const Trace::Scope scope(trace, "training");
  const double width = 2, depth = 3;
  trace.Input("width", width, "model.width");
  trace.Input("depth", depth, "model.depth");
  FIGURE(trace, height, width + depth, (Note{"Height", ""}), width, depth);
  FIGURE(trace, volume, width * height, (Note{"Volume", ""}), width, height);
  EXPECT_EQ(volume, 10);
  return trace;
}

TEST(Derivation, SharesAreTheEffectOfOnePerCent) {
  const Trace trace = Example();
  const Json all = WriteExplanations(trace.figures(), "*");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(Number(all, "0.terms.0.share"), 0.4);  // height: width is 2 of 5
  EXPECT_EQ(Number(all, "0.terms.1.share"), 0.6);
  EXPECT_EQ(Number(all, "1.terms.0.share"), 1);  // volume: a product
  EXPECT_EQ(Number(all, "1.terms.1.share"), 1);
}

// The width moves the volume by 1 % itself and by another 0.4 % through the height: it leads, directly.
TEST(Derivation, MarksTheTermsOnThePath) {
  const Trace trace = Example();
  const Json explanations = WriteExplanations(trace.figures(), "training.volume");
  ASSERT_EQ(explanations.size(), 2u);
  EXPECT_TRUE(explanations[0]["terms"][0].contains("leads"));
  EXPECT_FALSE(explanations[0]["terms"][1].contains("leads"));
  EXPECT_FALSE(explanations[1]["terms"][0].contains("leads"));
  const Json height = WriteExplanations(trace.figures(), "training.height");
  EXPECT_TRUE(height[0]["terms"][1].contains("leads"));  // the depth, 3 of 5
}

// total = wide + narrow = (2 + 2 + 2) + 4: wide is 60 % of it, but each of its inputs only 20 %, and the one of narrow
// 40 %.
TEST(Derivation, LeadsToTheInputThatMovesTheFigureMost) {
  Trace trace = Trace::On();
  const double a = 2, b = 2, c = 2, d = 4;
  trace.Input("a", a, "model.a");
  trace.Input("b", b, "model.b");
  trace.Input("c", c, "model.c");
  trace.Input("d", d, "model.d");
  FIGURE(trace, wide, a + b + c, (Note{"Wide"}), a, b, c);
  FIGURE(trace, narrow, 1 * d, (Note{"Narrow"}), d);
  FIGURE(trace, total, wide + narrow, (Note{"Total"}), wide, narrow);
  EXPECT_EQ(total, 10);
  EXPECT_EQ(LedTo(WriteExplanations(trace.figures(), "total"), "total"), "model.d");
}

// product = left * right = (4 + 6) * (4 + 6): 60 % of left are one input and 60 % of right another, but the third is 40
// % of both.
TEST(Derivation, AddsUpThePathsToAnInput) {
  Trace trace = Trace::On();
  const double both = 4, only_left = 6, only_right = 6;
  trace.Input("both", both, "model.both");
  trace.Input("only_left", only_left, "model.left");
  trace.Input("only_right", only_right, "model.right");
  FIGURE(trace, left, only_left + both, (Note{"Left"}), only_left, both);
  FIGURE(trace, right, only_right + both, (Note{"Right"}), only_right, both);
  FIGURE(trace, product, left * right, (Note{"Product"}), left, right);
  EXPECT_EQ(product, 100);
  EXPECT_EQ(LedTo(WriteExplanations(trace.figures(), "product"), "product"), "model.both");
}

// A choice is what was chosen: it moves with it.
TEST(Derivation, LeadsThroughAChoice) {
  Trace trace = Trace::On();
  const double slow = 5, ring = 3;
  trace.Input("slow", slow, "model.slow");
  trace.Input("ring", ring, "model.ring");
  trace.Choice("time", ring, Note{"Time", "the faster"},
               std::vector<std::pair<std::string, double>>{{"tree", slow}, {"ring", ring}}, 1, "slow, ring", slow,
               ring);
  trace.MovesBy(1, 1);
  const double time = ring;
  FIGURE(trace, total, 2 * time, (Note{"Total"}), time);
  EXPECT_EQ(total, 6);
  const Json explanations = WriteExplanations(trace.figures(), "total");
  EXPECT_EQ(LedTo(explanations, "total"), "model.ring");
  EXPECT_EQ(DerivationText(explanations, Json::object(), "total"),
            "# Total: 6 = `2 * time`\n\n"
            "- 100 % Time: 3 **←**\n"
            "  - chosen: ring (3), before tree (5); by slow, ring\n"
            "  - 100 % ring: 3 (`model.ring`) **←**\n");
}

TEST(Derivation, IsATreeInMarkdown) {
  const Trace trace = Example();
  const Json sources{{"model.depth", "measured with a ruler"}};
  EXPECT_EQ(DerivationText(WriteExplanations(trace.figures(), "training.volume"), sources, "training.volume"),
            "# Volume: 10 = `width * height`\n\n"
            "- 100 % width: 2 (`model.width`) **←**\n"
            "- 100 % Height: 5 = `width + depth`\n"
            "  - 60 % depth: 3 (`model.depth`: measured with a ruler)\n"
            "  - 40 % width: 2 (`model.width`)\n");
}

// A figure without a formula names the terms that it depends on.
TEST(Derivation, AProcedureHasTermsButNoFormula) {
  Trace trace = Trace::On();
  const double passes = 12;
  trace.Input("passes", passes, "training.passes");
  trace.Procedure("length", 15 * kS, Note{"Length", "simulated pass by pass"}, "passes", passes);
  const Json all = WriteExplanations(trace.figures(), "*");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["kind"], "procedure");
  EXPECT_EQ(all[0]["formula"], "");
  EXPECT_EQ(all[0]["value"], 15.0);
  EXPECT_EQ(all[0]["terms"][0]["origin"], "training.passes");
}

// An equal value does not make an origin, another name needs to be told, and the nearest scope is asked first.
TEST(Derivation, TermsComeFromWhatTheirNameStandsFor) {
  Trace trace = Trace::On();
  const Trace::Scope question(trace, "serving");
  const double batch = 8, rows = 8, users = 8, copy = 8;
  trace.Input("batch", batch, "serving.batch");
  {
    const Trace::Scope layer(trace, "layer");
    trace.Input("users", users, "serving.concurrency");
  }
  trace.Input("users", users, "serving.users");
  trace.Alias("copy", copy, "batch");
  {
    const Trace::Scope layer(trace, "layer");
    FIGURE(trace, sum, batch + rows + users + copy, (Note{"Sum", ""}), batch, rows, users, copy);
    EXPECT_EQ(sum, 32);
  }
  const std::vector<Term>& terms = trace.figures().back().terms;
  EXPECT_EQ(terms[0].origin, "serving.batch");
  EXPECT_EQ(terms[1].origin, "");
  EXPECT_EQ(terms[2].origin, "serving.concurrency");
  EXPECT_EQ(terms[3].origin, "serving.batch");
}

TEST(Derivation, NoNameReachesIntoAnotherQuestion) {
  Trace trace = Trace::On();
  const double area = 800;
  {
    const Trace::Scope cost(trace, "cost");
    trace.Input("area", area, "cost.device.dies.0.area");
  }
  const Trace::Scope training(trace, "training");
  FIGURE(trace, twice, 2 * area, (Note{"Twice", ""}), area);
  EXPECT_EQ(twice, 1600);
  EXPECT_EQ(trace.figures().back().terms[0].origin, "");
}

}  // namespace
}  // namespace slipstick::testing
