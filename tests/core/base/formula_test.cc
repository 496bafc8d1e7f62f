// Derivatives of formulas, by hand.
#include "core/base/formula.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace slipstick {
namespace {

constexpr std::array<std::string_view, 2> kNames{"a", "b"};

double Derivative(std::string_view text, double a, double b, std::size_t place) {
  const Result<Formula> formula = Formula::Parse(text, kNames);
  EXPECT_TRUE(formula) << text;
  return formula ? formula->Gradient(std::array{a, b})[place] : NAN;
}

TEST(Formula, DerivesSumsProductsAndQuotients) {
  EXPECT_DOUBLE_EQ(Derivative("a + 3 * b", 2, 5, 1), 3);
  EXPECT_DOUBLE_EQ(Derivative("-a - b", 2, 5, 1), -1);
  EXPECT_DOUBLE_EQ(Derivative("a * b", 2, 5, 0), 5);
  EXPECT_DOUBLE_EQ(Derivative("a / b", 2, 5, 1), -2.0 / 25);
  EXPECT_DOUBLE_EQ(Derivative("(a + b) * a", 2, 5, 0), 9);
}

TEST(Formula, DerivesFunctions) {
  EXPECT_DOUBLE_EQ(Derivative("pow(a, b)", 2, 5, 0), 80);
  EXPECT_DOUBLE_EQ(Derivative("pow(a, b)", 2, 5, 1), 32 * std::log(2));
  EXPECT_DOUBLE_EQ(Derivative("sqrt(a)", 4, 0, 0), 0.25);
  EXPECT_DOUBLE_EQ(Derivative("log2(a)", 8, 0, 0), 1 / (8 * std::log(2)));
  EXPECT_DOUBLE_EQ(Derivative("log(a)", 8, 0, 0), 0.125);
  EXPECT_DOUBLE_EQ(Derivative("exp(a)", 1, 0, 0), std::exp(1));
  EXPECT_DOUBLE_EQ(Derivative("norm(a, b, 2)", 3, 4, 0), 0.6);
  EXPECT_DOUBLE_EQ(Derivative("norm(a, b, 2)", 3, 4, 1), 0.8);
}

// What was not chosen has no influence; a step has that of the line through it.
TEST(Formula, DerivesChoicesAndSteps) {
  EXPECT_EQ(Derivative("max(a, b, 1)", 2, 5, 0), 0);
  EXPECT_EQ(Derivative("max(a, b, 1)", 2, 5, 1), 1);
  EXPECT_EQ(Derivative("min(a, b)", 2, 5, 0), 1);
  EXPECT_EQ(Derivative("ceil(3 * a) + floor(b)", 2.5, 5.5, 0), 3);
}

}  // namespace
}  // namespace slipstick
