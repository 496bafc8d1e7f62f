// Shares and the path to the input that matters most, on a derivation small enough to check by hand:
//   volume = width * height, with width = 2 (an input) and height = width + depth, depth = 3 (an input).
#include "core/evaluation/derivation.h"

#include <gtest/gtest.h>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

Ratio InputOf(Tape& tape, const char* path, double value) {
  return Ratio::FromBase(value, tape.Input(path, value, Ratio::kDimension));
}

std::vector<FigureRecord> Explained(const char* path, Ratio number) {
  const std::vector<ShownNumber> shown{{path, Ratio::kDimension, number.base(), number.node()}};
  return Explain(shown);
}

std::vector<FigureRecord> Example() {
  Tape tape;
  const Ratio width = InputOf(tape, "model.width", 2), depth = InputOf(tape, "model.depth", 3);
  const Ratio volume = Figure("Volume", width * Figure("Height", width + depth));
  EXPECT_EQ(volume, 10);
  return Explained("training.volume", volume);
}

TEST(Derivation, SharesAreTheEffectOfOnePerCent) {
  const Json all = WriteExplanations(Example(), "*");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(Number(all, "0.terms.0.share"), 0.4);  // height: width is 2 of 5
  EXPECT_EQ(Number(all, "0.terms.1.share"), 0.6);
  EXPECT_EQ(Number(all, "1.terms.0.share"), 1);  // volume: a product
  EXPECT_EQ(Number(all, "1.terms.1.share"), 1);
}

// The width moves the volume by 1 % directly and by 0.4 % through the height. The direct path leads.
TEST(Derivation, MarksTheTermsOnThePath) {
  const std::vector<FigureRecord> figures = Example();
  const Json explanations = WriteExplanations(figures, "training.volume");
  ASSERT_EQ(explanations.size(), 2u);
  EXPECT_TRUE(explanations[0]["terms"][0].contains("leads"));
  EXPECT_FALSE(explanations[0]["terms"][1].contains("leads"));
  EXPECT_FALSE(explanations[1]["terms"][0].contains("leads"));
  const Json height = WriteExplanations(figures, "training.height");
  EXPECT_TRUE(height[0]["terms"][1].contains("leads"));  // the depth, 3 of 5
}

// total = wide + narrow = (2 + 2 + 2) + 4: wide is 60 % of it, but each of its inputs only 20 %; narrow's one input is
// 40 %.
TEST(Derivation, LeadsToTheInputThatMovesTheFigureMost) {
  Tape tape;
  const auto input = [&tape](const char* path, double value) { return InputOf(tape, path, value); };
  const Ratio wide = Figure("Wide", input("model.a", 2) + input("model.b", 2) + input("model.c", 2)),
              narrow = Figure("Narrow", 1 * input("model.d", 4)), total = Figure("Total", wide + narrow);
  EXPECT_EQ(total, 10);
  EXPECT_EQ(LedTo(WriteExplanations(Explained("total", total), "total"), "total"), "model.d");
}

// product = left * right = (4 + 6) * (4 + 6): one input is 60 % of left and another 60 % of right, but a third one is
// 40 % of both.
TEST(Derivation, AddsUpThePathsToAnInput) {
  Tape tape;
  const Ratio both = InputOf(tape, "model.both", 4), left = Figure("Left", InputOf(tape, "model.left", 6) + both),
              right = Figure("Right", InputOf(tape, "model.right", 6) + both),
              product = Figure("Product", left * right);
  EXPECT_EQ(product, 100);
  EXPECT_EQ(LedTo(WriteExplanations(Explained("product", product), "product"), "product"), "model.both");
}

// A choice moves with the option that was chosen.
TEST(Derivation, LeadsThroughAChoice) {
  Tape tape;
  const Ratio slow = InputOf(tape, "model.slow", 5), ring = InputOf(tape, "model.ring", 3);
  const Alternatives<Ratio> both{{"tree", slow}, {"ring", ring}};
  const Ratio time = Procedure("Time", ring, {slow, {ring, 1}}, "the faster", "", both, 1);
  const Ratio total = Figure("Total", 2 * time);
  EXPECT_EQ(total, 6);
  const Json explanations = WriteExplanations(Explained("total", total), "total");
  EXPECT_EQ(LedTo(explanations, "total"), "model.ring");
  EXPECT_EQ(DerivationText(explanations, Json::object(), "total"),
            "# Total: 6 = `2 * time`\n\n"
            "- 100 % Time: 3 **←**\n"
            "  - chosen: ring (3), before tree (5); by slow, ring\n"
            "  - 100 % ring: 3 (`model.ring`) **←**\n");
}

TEST(Derivation, IsATreeInMarkdown) {
  const Json sources{{"model.depth", "measured with a ruler"}};
  EXPECT_EQ(DerivationText(WriteExplanations(Example(), "training.volume"), sources, "training.volume"),
            "# Volume: 10 = `width * height`\n\n"
            "- 100 % width: 2 (`model.width`) **←**\n"
            "- 100 % Height: 5 = `width + depth`\n"
            "  - 60 % depth: 3 (`model.depth`: measured with a ruler)\n"
            "  - 40 % width: 2 (`model.width`)\n");
}

// 80 GB at 16 $ per GB, in the units of their fields and not in bytes.
TEST(Derivation, InputsAreInTheUnitInWhichTheyAreEntered) {
  Tape tape;
  const auto price =
      DollarsPerByte::FromBase(16e-9, tape.Input("cost.device.memory.price", 16e-9, DollarsPerByte::kDimension));
  const auto capacity = Bytes::FromBase(80e9, tape.Input("cost.device.memory.stack_capacity", 80e9, Bytes::kDimension));
  const Dollars memory = Figure("Memory", capacity * price);
  const std::vector<ShownNumber> shown{{"memory", Dollars::kDimension, memory.base(), memory.node()}};
  EXPECT_EQ(DerivationText(WriteExplanations(Explain(shown), "memory"), Json::object(), "memory"),
            "# Memory: 1280 $ = `stack_capacity * price`\n\n"
            "- 100 % stack_capacity: 80 GB (`cost.device.memory.stack_capacity`)\n"
            "- 100 % price: 16 $/GB (`cost.device.memory.price`) **←**\n");
}

// A figure without a formula still names the terms that it depends on.
TEST(Derivation, AProcedureHasTermsButNoFormula) {
  Tape tape;
  const Ratio passes = InputOf(tape, "training.passes", 12);
  const Json all = WriteExplanations(
      Explained("training.length", Procedure<Ratio>("Length", 15, {passes}, "simulated pass by pass")), "*");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["kind"], "procedure");
  EXPECT_EQ(all[0]["formula"], "");
  EXPECT_EQ(all[0]["value"], 15.0);
  EXPECT_EQ(all[0]["terms"][0]["origin"], "training.passes");
}

}  // namespace
}  // namespace slipstick::testing
