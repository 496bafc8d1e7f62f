// At both ends of the range of every input a report holds figures: no null, and nothing too large to read.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/answers.h"
#include "tests/support/sound.h"

namespace slipstick::testing {
namespace {

struct End {
  std::string path;
  double value;
};

// Both ends of the range of every number in a scenario.
std::vector<End> EndsOfRanges() {
  std::vector<End> ends;
  const Json described = *ParseJson(DescribeAnswer().text);
  for (const Json& input : described["inputs"]) {
    std::string path(TextOf(input["path"]));
    if (!input.contains("low") && !input.contains("high")) continue;
    EXPECT_TRUE(input.contains("low") && input.contains("high")) << path << " is not bounded";
    for (std::size_t star = path.find('*'); star != std::string::npos; star = path.find('*')) path[star] = '0';
    for (const char* end : {"low", "high"}) ends.push_back({path, input[end].get<double>()});
  }
  return ends;
}

TEST(Ranges, EndBeforeFiguresBecomeMeaningless) {
  const std::vector<End> ends = EndsOfRanges();
  EXPECT_GT(ends.size(), 1000U);
  int answered = 0;
  for (const End& end : ends) {
    Json request{
        {"version", 1}, {"model", "llama-3.1-8b"}, {"cluster", {{"preset", "dgx-h100"}}}, {"cost", Json::object()}};
    SetPath(request, end.path, end.value);
    SCOPED_TRACE(JsonText(request));
    const Json report = Ask(request);
    if (report.contains("issues")) continue;
    ++answered;
    ExpectSoundReport(report);
  }
  EXPECT_GT(answered, 500);
}

// Values below a millionth of a unit, or above their bound, are refused with the nearest valid value.
TEST(Ranges, HaveAFloor) {
  for (const char* path :
       {"cluster.device.memory.bandwidth", "cluster.device.peak.bf16", "cluster.device.clock", "cluster.device.tdp",
        "cluster.device.memory.capacity", "cluster.networks.0.bandwidth", "cost.lifetime"}) {
    for (const double value : {0.0, 1e-300, 1e300}) {
      Json request{{"version", 1}, {"cluster", {{"preset", "dgx-h100"}}}, {"cost", Json::object()}};
      SetPath(request, "cluster.device.idle", 0);  // any power limit is above it
      SetPath(request, path, value);
      const Json answer = Ask(request);
      ASSERT_TRUE(answer.contains("issues")) << path << value;
      EXPECT_EQ(TextOf(answer["issues"][0]["path"]), path);
      ASSERT_FALSE(answer["issues"][0]["fixes"].empty()) << JsonText(answer);
      SetPath(request, path, answer["issues"][0]["fixes"][0]["value"]);
      EXPECT_FALSE(Ask(request).contains("issues")) << JsonText(request);
    }
  }
}

}  // namespace
}  // namespace slipstick::testing
