#include "core/exploration/search_spec.h"

#include <gtest/gtest.h>

#include "core/exploration/search_criteria.h"

namespace slipstick {
namespace {

std::vector<std::string> ValuesOf(std::string_view axis) {
  const Result<Axis> parsed = ParseAxis(axis);
  std::vector<std::string> values;
  for (const Json& value : parsed->values) values.push_back(PlainText(value));
  return values;
}

using Texts = std::vector<std::string>;

TEST(Axis, ARangeOfRatiosKeepsFractionsBetweenWholeEnds) {
  EXPECT_EQ(ValuesOf("cost.system.pue=1:2:5"), (Texts{"1.0", "1.25", "1.5", "1.75", "2.0"}));
  EXPECT_EQ(ValuesOf("cost.system.electricity=0:1:3"), (Texts{"0.0", "0.5", "1.0"}));
}

TEST(Axis, ARangeOfCountsHasWholeNumbersOnceEach) {
  EXPECT_EQ(ValuesOf("cluster.devices=8:10:5"), (Texts{"8", "9", "10"}));
  EXPECT_EQ(ValuesOf("serving.batch=1:100:3:log"), (Texts{"1", "10", "100"}));
}

// Lengths in tokens count in 1,024, as in a list.
TEST(Axis, ARangeOfLengthsReadsKAsAListDoes) {
  EXPECT_EQ(ValuesOf("serving.prompt=8k:32k:4"), (Texts{"8192", "16384", "24576", "32768"}));
}

TEST(SearchLimits, OfAMemberOfTheMappingHasNoUnit) {
  SpaceLimits members;
  std::vector<FigureLimit> figures;
  Issues issues;
  ReadLimit("tp<=8 GB", "serving", members, figures, issues);
  ASSERT_EQ(issues.size(), 1U);
  EXPECT_EQ(issues[0].message, "Enter a number without a unit after tp");
}

}  // namespace
}  // namespace slipstick
