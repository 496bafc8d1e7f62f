// Shares and the path of the largest ones, on a derivation small enough for the hand:
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

// Of the volume width and height have equal shares: the first leads, and it is an input.
TEST(Derivation, LeadsAlongTheLargestShares) {
  const Trace trace = Example();
  const Json explanations = WriteExplanations(trace.figures(), "training.volume");
  ASSERT_EQ(explanations.size(), 2u);
  EXPECT_TRUE(explanations[0]["terms"][0].contains("leads"));
  EXPECT_FALSE(explanations[0]["terms"][1].contains("leads"));
  EXPECT_FALSE(explanations[1]["terms"][0].contains("leads"));
  const Json height = WriteExplanations(trace.figures(), "training.height");
  EXPECT_TRUE(height[0]["terms"][1].contains("leads"));  // the depth, 3 of 5
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

// What no formula gives names the terms that it rests on.
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
