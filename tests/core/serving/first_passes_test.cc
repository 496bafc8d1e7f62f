// An engine that prefills first, against a simulation of the same steps.
#include "core/serving/first_passes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/serving/load_model.h"
#include "core/simulation/random.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

constexpr Ratio kMost = 64;

class FirstPasses : public ::testing::Test {
 protected:
  explicit FirstPasses(const char* prompt = "64")
      : scenario_(ScenarioOf({"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.engine=sglang",
                              std::string("serving.prompt=") + prompt})),
        deployment_(Deploy(scenario_->model, scenario_->cluster, *scenario_->serving)) {}

  [[nodiscard]] Seconds Pass(double prompts, double tokens) const {
    return prompts * PrefillApart(deployment_, prompts, {tokens, 0});
  }

  Result<Scenario> scenario_;
  Deployment deployment_;
};

// Each step prefills all requests that came during the previous step, or decodes if none came.
struct Played {
  double prompts, ending;  // prompts per pass; prompts between two decode steps
  Seconds cycle, pass;     // means
};
template <class PassOf>
Played Play(Hertz rate, Seconds decode, const PassOf& pass_of) {
  constexpr int kDecodes = 20000;
  Random random(5);
  Seconds now, next = random.Exponential() / rate, prefilled;
  double came = 0, passes = 0, prompts = 0;
  for (int decoded = 0; decoded < kDecodes;) {
    const Seconds step = came > 0 ? pass_of(came) : decode;
    came > 0 ? ++passes : ++decoded;
    prompts += came;
    if (came > 0) prefilled += step;
    now += step;
    for (came = 0; next < now; ++came) next += random.Exponential() / rate;
  }
  return {prompts / passes, prompts / kDecodes, now / kDecodes, prefilled / passes};
}

// From a few prompts per second to where prefill takes most of the time, with a cycle of up to ten decode steps. The
// closed form counts every pass at the mean length, which misses some of the longest.
TEST_F(FirstPasses, HoldTheArrivalsOfOneStep) {
  const Seconds decode = 8e-3 * kS;
  for (const double tokens : {64.0, 300.0}) {
    std::vector<Seconds> known(1 + kMost.base());
    const auto pass_of = [&](double prompts) {
      Seconds& pass = known.at(static_cast<std::size_t>(prompts));
      if (!(pass > Seconds{})) pass = Pass(prompts, tokens);
      return pass;
    };
    for (const double rate : {5.0, 20.0, 50.0, 80.0}) {
      const Played played = Play(rate / (1 * kS), decode, pass_of);
      const Ratio prompts = PromptsOfPass(deployment_, decode, played.ending, kMost, {tokens, 0});
      EXPECT_NEAR(prompts.base() / played.prompts, 1, 0.05) << tokens << " tokens, " << rate << " a second";
      EXPECT_NEAR(MeanPass(deployment_, prompts, kMost, {tokens, 0}) / played.pass, 1, 0.05)
          << tokens << " tokens, " << rate << " a second";
    }
  }
}

TEST_F(FirstPasses, HoldOneWhereFewComeAndNoMoreThanAStepTakes) {
  EXPECT_NEAR(PromptsOfPass(deployment_, 8e-3 * kS, 1e-6, kMost, {64, 0}).base(), 1, 1e-4);
  EXPECT_EQ(PromptsOfPass(deployment_, 8e-3 * kS, 1000, 4, {64, 0}).base(), 4);
}

// Interpolated: three prompts in a pass take the mean of two and four.
TEST_F(FirstPasses, AreLinearBetweenPowersOfTwo) {
  EXPECT_NEAR(MeanPass(deployment_, 3, kMost, {64, 0}) / (0.5 * (Pass(2, 64) + Pass(4, 64))), 1, 1e-12);
  EXPECT_EQ(MeanPass(deployment_, 4, kMost, {64, 0}), Pass(4, 64));
  EXPECT_EQ(MeanPass(deployment_, 1, 1, {64, 0}), Pass(1, 64));
}

// A Poisson number with mean 1 has mean 1 / (1 - 1/e) = 1.582 where it is not zero; 1.582 - 1 of those are one. A pass
// of one takes 20 s, a pass of n takes 8 + 2 n. With at most two in a pass, a mean of 1.9 gives 0.1 passes of one.
TEST(MeanOver, WeighsPassesOfOnePromptAndOfSeveral) {
  const auto pass = [](double prompts) { return (prompts > 1 ? 8 + 2 * prompts : 20) * kS; };
  const double mean = 1 / (1 - std::exp(-1.0)), one = mean - 1;
  EXPECT_NEAR(MeanOver(pass, mean, 64).base(), one * 20 + (1 - one) * 8 + 2 * (mean - one), 1e-9);
  EXPECT_NEAR(MeanOver(pass, 1.9, 2).base(), 0.1 * 20 + 0.9 * 12, 1e-9);
  EXPECT_EQ(MeanOver(pass, 1, 64).base(), 20);
}

}  // namespace
}  // namespace slipstick
