// The number of sequences that an open loop settles at. The search looks only at squares, so it takes at most the
// square root of the slots.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/serving/load_model.h"

namespace slipstick {
namespace {

constexpr double kMostSlots = 1 << 24;  // the range of serving.max_requests

template <class Inflow>
int LooksOf(double slots, const Inflow& inflow) {
  int looks = 0;
  const double settled = SettledSequences(slots, [&](double running) {
    ++looks;
    return inflow(running);
  });
  EXPECT_FALSE(settled > slots);
  return looks;
}

TEST(SettledSequences, TakesAFewLooksWhereFewArrive) {
  EXPECT_LE(LooksOf(kMostSlots, [](double) { return 0.5; }), 2);
  EXPECT_LE(LooksOf(1024, [](double running) { return 20 + 0.3 * running; }), 10);
}

// The inflow stays above the number running up to the last slot.
TEST(SettledSequences, EndsWhereTheInflowStaysAbove) {
  const double most = std::sqrt(kMostSlots) + 3;
  EXPECT_LE(LooksOf(kMostSlots, [](double running) { return std::min(running + 0.5, kMostSlots - 0.25); }), most);
  EXPECT_LE(
      LooksOf(kMostSlots, [](double running) { return running < kMostSlots ? running * (1 + 1e-15) + 1e-9 + 1 : 1; }),
      most);
  EXPECT_LE(
      LooksOf(kMostSlots, [](double running) { return running > 5 ? std::numeric_limits<double>::quiet_NaN() : 9.0; }),
      most);
}

}  // namespace
}  // namespace slipstick
