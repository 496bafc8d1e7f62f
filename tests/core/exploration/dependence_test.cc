// The figures that move with an input, also at the ends of its range. tests/core/evaluation/dependence_test.cc compares
// them with the derivations.
#include "core/exploration/dependence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace slipstick {
namespace {

TEST(Dependence, ListsTheFiguresThatMoveWithAnInput) {
  const Json answer = *ParseJson(DependenceAnswer(R"({"version": 1})", {}, "cluster.device.peak.bf16").text);
  ASSERT_EQ(answer["inputs"].size(), 1u);
  const auto figures = answer["inputs"][0]["figures"].get<std::vector<std::string>>();
  const auto moves = [&](const char* path) { return std::find(figures.begin(), figures.end(), path) != figures.end(); };
  EXPECT_TRUE(moves("training.step_time_s"));
  EXPECT_FALSE(moves("training.memory_bytes.total"));
  EXPECT_FALSE(moves("cost.device_usd"));
}

TEST(Dependence, AnswersAPartAtATime) {
  const Json all =
      *ParseJson(DependenceAnswer(R"({"version": 1})", {"training=null", "serving=null"}, "cost.device").text);
  const Json part =
      *ParseJson(DependenceAnswer(R"({"version": 1})", {"training=null", "serving=null"}, "cost.device", 2, 4).text);
  EXPECT_EQ(part["of"], all["of"]);
  ASSERT_EQ(part["inputs"].size(), 2u);
  EXPECT_EQ(part["inputs"][0], all["inputs"][2]);
}

// A PUE of 1 can only rise and a utilization of 1 only fall; the cost per hour moves with both.
TEST(Dependence, IsKnownAtTheEndsOfARange) {
  for (const std::string input : {"cost.system.pue", "cost.system.utilisation"}) {
    const Json answer = *ParseJson(DependenceAnswer("", {"training=null", "serving=null", input + "=1"}, input).text);
    ASSERT_EQ(answer["inputs"].size(), 1u) << input;
    const auto figures = answer["inputs"][0]["figures"].get<std::vector<std::string>>();
    EXPECT_NE(std::find(figures.begin(), figures.end(), "cost.device_hour_usd"), figures.end()) << input;
  }
}

}  // namespace
}  // namespace slipstick
