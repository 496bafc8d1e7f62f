// Random numbers, lengths and arrivals against their distributions.
#include "core/simulation/lengths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/core/preset.h"

namespace slipstick {
namespace {

constexpr int kDraws = 200'000;

struct Moments {
  double mean = 0, deviation = 0;
};
template <class Draw>
Moments MomentsOf(const Draw& draw) {
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  return {mean, std::sqrt(squares / kDraws - mean * mean)};
}

// The first numbers of SplitMix64 with this seed, as its reference implementation prints them.
TEST(Random, IsSplitMix64) {
  Random random(1234567);
  EXPECT_EQ(random.Uniform(), std::ldexp(static_cast<double>(6457827717110365317ULL >> 11), -53));
  EXPECT_EQ(random.Uniform(), std::ldexp(static_cast<double>(3203168211198807973ULL >> 11), -53));
  EXPECT_EQ(random.Uniform(), std::ldexp(static_cast<double>(9817491932198370423ULL >> 11), -53));
}

TEST(Random, HasTheMomentsOfItsDistributions) {
  Random random(1);
  const Moments even = MomentsOf([&] { return random.Uniform(); });
  EXPECT_NEAR(even.mean, 0.5, 0.005);
  EXPECT_NEAR(even.deviation, std::sqrt(1.0 / 12), 0.005);
  const Moments normal = MomentsOf([&] { return random.Normal(); });
  EXPECT_NEAR(normal.mean, 0, 0.01);
  EXPECT_NEAR(normal.deviation, 1, 0.01);
  for (const double shape : {0.3, 1.0, 4.0}) {
    const Moments gamma = MomentsOf([&] { return random.Gamma(shape); });
    EXPECT_NEAR(gamma.mean / shape, 1, 0.02) << shape;
    // Four standard errors of the deviation, from the excess kurtosis of 6 / shape.
    EXPECT_NEAR(gamma.deviation / std::sqrt(shape), 1, 4 * std::sqrt((2 + 6 / shape) / (4 * kDraws))) << shape;
  }
}

TEST(Arrivals, ComeInBurstsWhereAsked) {
  Random random(2);
  const Moments poisson = MomentsOf([&] { return DrawGap({ArrivalKind::kPoisson, 1}, random); });
  EXPECT_NEAR(poisson.mean, 1, 0.01);
  EXPECT_NEAR(poisson.deviation, 1, 0.01);
  const Moments bursts = MomentsOf([&] { return DrawGap({ArrivalKind::kGamma, 0.25}, random); });
  EXPECT_NEAR(bursts.mean, 1, 0.02);
  EXPECT_NEAR(bursts.deviation, 2, 0.05) << "1 / sqrt(burstiness)";
}

TEST(Lengths, KeepTheMeanAndHaveTheVariation) {
  Random random(3);
  for (const LengthKind kind : {LengthKind::kUniform, LengthKind::kLognormal}) {
    const LengthDistribution distribution{kind, 0.3, {}};
    const Moments lengths = MomentsOf([&] { return static_cast<double>(DrawLength(distribution, 1000, random)); });
    EXPECT_NEAR(lengths.mean / 1000, 1, 0.005);
    EXPECT_NEAR(lengths.deviation / 300, 1, 0.01);
  }
  EXPECT_EQ(DrawLength({LengthKind::kFixed, 0.3, {}}, 1000, random), 1000);
  EXPECT_EQ(DrawLength({LengthKind::kLognormal, 16, {}}, 1e-9, random), 1) << "at least one token";
}

// A lognormal of mean m and variation c has its median at m / sqrt(1 + c^2) and its quantile Phi(1) = 0.841345 at e^s
// times that, with s^2 = ln(1 + c^2).
TEST(Lengths, AreTheQuantilesOfTheDistribution) {
  const LengthDistribution lognormal{LengthKind::kLognormal, 0.75, {}};
  EXPECT_NEAR(LengthAtShare(lognormal, 1000, 0.5), 800, 1e-6);
  EXPECT_NEAR(LengthAtShare(lognormal, 1000, 0.8413447460685429), 800 * std::exp(std::sqrt(std::log(1.5625))), 1e-6);
  const LengthDistribution uniform{LengthKind::kUniform, 1 / std::sqrt(3.0), {}};  // from 0 to twice the mean
  EXPECT_NEAR(LengthAtShare(uniform, 1000, 0.25), 500, 1e-9);
  EXPECT_EQ(LengthAtShare({LengthKind::kFixed, 1, {}}, 1000, 0.25), 1000);
}

// The closed forms use the variation of the drawn lengths; for uniform lengths, which start at 0 or above, it is at
// most 1/sqrt(3).
TEST(Lengths, HaveTheVariationOfTheirDistribution) {
  EXPECT_EQ(VariationOf({LengthKind::kFixed, 0.3, {}}), 0);
  EXPECT_EQ(VariationOf({LengthKind::kLognormal, 1.2, {}}), 1.2);
  EXPECT_NEAR(VariationOf({LengthKind::kUniform, 2, {}}), 0.57735, 1e-5);
  Random random(5);
  const LengthDistribution quantiles{LengthKind::kQuantiles, 1, {{0, 100}, {0.5, 400}, {1, 1600}}};
  const Moments drawn = MomentsOf([&] { return static_cast<double>(DrawLength(quantiles, 1, random)); });
  EXPECT_NEAR(VariationOf(quantiles) / (drawn.deviation / drawn.mean), 1, 0.01);
}

// The published traces: their quantiles, and their means in their authors' files. Of the last hundredth of the code
// outputs, 252 to 1,899 tokens, only the ends are known.
TEST(Lengths, OfAPublishedTraceHaveItsQuantiles) {
  struct Published {
    const char* id;
    double prompt, output, tolerance;
  };
  for (const auto& [id, prompt, output, tolerance] :
       {Published{"azure-code-2023", 2047.8, 27.9, 0.16}, Published{"azure-conversation-2023", 1154.7, 211.1, 0.02}}) {
    const RequestLengths lengths = FromPreset<RequestLengths>(id);
    Random random(4);
    EXPECT_NEAR(MomentsOf([&] { return static_cast<double>(DrawLength(lengths.prompt, 1, random)); }).mean / prompt, 1,
                0.02)
        << id;
    EXPECT_NEAR(MomentsOf([&] { return static_cast<double>(DrawLength(lengths.output, 1, random)); }).mean / output, 1,
                tolerance)
        << id;
    std::vector<Count> drawn;
    for (int i = 0; i < kDraws; ++i) drawn.push_back(DrawLength(lengths.prompt, 1, random));
    std::sort(drawn.begin(), drawn.end());
    for (const LengthQuantile& quantile : lengths.prompt.quantiles) {
      if (quantile.share <= 0 || quantile.share >= 1) continue;
      const auto place = static_cast<std::size_t>(quantile.share * kDraws);
      EXPECT_NEAR(static_cast<double>(drawn[place]) / static_cast<double>(quantile.tokens), 1, 0.05)
          << id << " " << quantile.share;
    }
  }
}

}  // namespace
}  // namespace slipstick
