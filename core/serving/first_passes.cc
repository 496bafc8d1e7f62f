#include "core/serving/first_passes.h"

#include <algorithm>
#include <cmath>

#include "core/base/figure.h"
#include "core/serving/prompt_time.h"

namespace slipstick {
namespace {

// Powers of two around a mean number of prompts; the pass time is interpolated linearly between them.
struct Around {
  double low = 1, high = 1;
};
Around NumbersAround(double prompts, double most) {
  const double low = std::min(most, std::exp2(std::floor(std::log2(std::max(1.0, prompts)))));
  return {low, std::min(most, 2 * low)};
}

// Share of non-empty passes with a single prompt (Poisson); lowered if the mean would need passes of more than `most`.
double HoldOne(double prompts, double most) {
  if (prompts <= 1 || most <= 1) return 1;
  constexpr int kHalvings = 50;
  double low = std::log(prompts), high = prompts;  // bounds of the Poisson mean, empty passes included
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (middle < prompts * (1 - std::exp(-middle)) ? low : high) = middle;
  }
  return std::min(prompts - high, (most - prompts) / (most - 1));
}

// The interval between two decode steps.
struct BetweenDecodes {
  Ratio ending;
  Seconds decode;
  // Whether passes of this many prompts have more room than the arriving prompts need.
  [[nodiscard]] bool IsTooFull(double prompts, Seconds pass) const {
    const Hertz arrivals = ending / (decode + ending / prompts * pass);
    return prompts * (1 - exp(-arrivals * decode)) * exp(arrivals * pass) >= ending;
  }
};

template <class PassOf>
double SettledPrompts(const BetweenDecodes& between, double most, const PassOf& pass_of) {
  constexpr int kHalvings = 30;
  double low = 1, high = 1;
  Seconds at_low = pass_of(low), at_high = at_low;
  while (high < most && !between.IsTooFull(high, at_high)) {
    low = high, at_low = at_high;
    high = std::min(2 * low, most);
    at_high = pass_of(high);
  }
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    const Seconds pass = (at_low + at_high) / 2;
    if (between.IsTooFull(middle, pass)) {
      high = middle, at_high = pass;
    } else {
      low = middle, at_low = pass;
    }
  }
  return high;
}

}  // namespace

Seconds PrefillApart(const Deployment& deployment, Ratio prompts, const PromptTokens& prompt) {
  Deployment ahead = deployment;
  if (!TakesTurns(deployment)) ahead.launch.per_operation = Seconds{};
  return Figure("Prefill of a prompt in passes that only prefill",
                (TimePrompt(ahead, prompts, prompt).occupancy + deployment.engine.overhead.prefill_step) / prompts);
}

Seconds MeanOver(const std::function<Seconds(double prompts)>& pass_of, Ratio prompts, Ratio most) {
  const auto hold_one = [&](double by) { return HoldOne(by * prompts.base(), most.base()); };
  if (hold_one(1) >= 1) return pass_of(1);
  const Ratio one = Procedure("Passes with one prompt", Ratio(hold_one(1)), {{prompts, MeasuredShare(hold_one)}},
                              "of those that hold any: Poisson");
  const Ratio more = Figure("Prompts of a pass with several", (prompts - one) / (1 - one));
  const auto [low, high] = NumbersAround(more.base(), most.base());
  Seconds several = pass_of(low);
  if (high > low) several += (more - low) / (high - low) * (pass_of(high) - several);
  return Figure("Mean pass", one * pass_of(1) + (1 - one) * several,
                "of one prompt, or of several; linear in these between powers of two");
}

Seconds MeanPass(const Deployment& deployment, Ratio prompts, Ratio most, const PromptTokens& prompt) {
  const auto [low, high] = NumbersAround(prompts.base(), most.base());
  const auto pass_of = [&](double whole) {
    return Figure("Pass that only prefills", whole * PrefillApart(deployment, whole, prompt));
  };
  const Seconds fewer = pass_of(low);
  if (high <= low) return fewer;
  return Figure("Mean pass", fewer + (prompts - low) / (high - low) * (pass_of(high) - fewer),
                "linear in its prompts between powers of two");
}

Ratio PromptsOfPass(const Deployment& deployment, Seconds decode, Ratio ending, Ratio most,
                    const PromptTokens& prompt) {
  const Deployment& plain = PlainOf(deployment);
  const PromptTokens tokens{PlainOf(prompt.tokens), PlainOf(prompt.cached)};
  const auto settled = [&](double ends, double steps) {
    return SettledPrompts({ends * PlainOf(ending), steps * PlainOf(decode)}, most.base(),
                          [&](double whole) { return whole * PrefillApart(plain, whole, tokens); });
  };
  const double prompts = settled(1, 1);
  if (ending.node() == nullptr) return prompts;
  const double by_ending = MeasuredShare([&](double by) { return settled(by, 1); }),
               by_decode = MeasuredShare([&](double by) { return settled(1, by); });
  return Procedure("Prompts of a pass", Ratio(prompts),
                   {{ending, by_ending}, {decode, by_decode}, {prompt.tokens}, {prompt.cached}},
                   "those that come between two decode steps, over the passes: another follows while somebody came in "
                   "an earlier step");
}

}  // namespace slipstick
