// Texts of the reasons for a tuner's choices.
#include "core/search/chosen.h"

#include <gtest/gtest.h>

#include "core/base/units.h"

namespace slipstick {
namespace {

TEST(Chosen, SaysHowFarFromFitting) {
  EXPECT_EQ(DoesNotFit(95 * kGiB, 79.2 * kGiB), "does not fit: 95 GiB of 79.2 GiB");
  EXPECT_EQ(NeedsMore(6.2 * kGiB, 5 * kGiB), "needs 1.2 GiB more memory");
  EXPECT_EQ(NeedsMore(5 * kGiB, 5 * kGiB), "does not fit either");
  EXPECT_EQ(NeedsMore(3 * kGiB, 5 * kGiB), "does not fit either");
}

}  // namespace
}  // namespace slipstick
