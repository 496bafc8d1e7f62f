// The kernel command times the device of a chip design, as a scenario does.
#include <gtest/gtest.h>

#include <string>

#include "core/evaluation/kernel.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/support/answers.h"

namespace slipstick {
namespace {

Json Timed(const std::string& text) {
  const Result<Json> request = ParseJson(text);
  EXPECT_TRUE(request) << text;
  const Result<Json> answer = EvaluateKernel(*request);
  EXPECT_TRUE(answer) << text << ": " << (answer.issues.empty() ? "" : answer.issues[0].message);
  return answer ? *answer : Json();
}

constexpr const char* kGemm = R"("operator": {"kind": "gemm", "m": 8192, "n": 8192, "k": 8192, "precision": "bf16"})";

TEST(KernelOfADesign, AFinerNodeIsFaster) {
  const auto time_on = [](const std::string& device) {
    return Timed(R"({"device": )" + device + ", " + kGemm + "}")["time_s"].get<double>();
  };
  const double sheet = time_on(R"({"preset": "a100-sxm4-80gb"})");
  const double fine =
      time_on(R"({"preset": "a100-sxm4-80gb", "design": {"preset": "a100-like", "node": "1nm", "dram": "hbm4"}})");
  EXPECT_LT(fine, 0.6 * sheet);
}

// The scenario's derived device, given as a data sheet, takes the same time.
TEST(KernelOfADesign, IsTheScenariosDevice) {
  const Result<Scenario> scenario = ParseScenario(
      *ReadRequest("", {"cluster=dgx-a100", "cluster.device.design=a100-like", "cluster.device.design.node=3nm"}));
  ASSERT_TRUE(scenario);
  Json sheet = Write(scenario->cluster.device);
  sheet["design"] = nullptr;
  Json derived = Timed(R"({"device": )" + JsonText(sheet) + ", " + kGemm + "}");
  Json designed = Timed(
      std::string(R"({"device": {"preset": "a100-sxm4-80gb", "design": {"preset": "a100-like", "node": "3nm"}}, )") +
      kGemm + "}");
  for (Json* answer : {&derived, &designed}) answer->erase("assumed");  // a data sheet states what a design assumes
  EXPECT_EQ(JsonText(designed), JsonText(derived));
}

TEST(KernelOfADesign, ItsLinksCarryACollective) {
  const auto time_on = [](const std::string& cluster) {
    return Timed(R"({"cluster": )" + cluster +
                 R"(, "collective": {"kind": "all_reduce", "bytes": 1e9, "ranks": 8}})")["time_s"]
        .get<double>();
  };
  const std::string device = R"("device": {"preset": "a100-sxm4-80gb", "design": {"preset": "h100-like"}})";
  const Result<Scenario> scenario =
      ParseScenario(*ReadRequest(R"({"version": 1})", {"cluster=dgx-a100", "cluster.device.design=h100-like"}));
  ASSERT_TRUE(scenario);
  const std::string links = NumberText(scenario->cluster.networks[0].bandwidth.base());
  EXPECT_DOUBLE_EQ(time_on(R"({"preset": "dgx-a100", )" + device + "}"),
                   time_on(R"({"preset": "dgx-a100", "networks": [{"bandwidth": )" + links + "}]}"));
}

TEST(KernelOfADesign, AnImpossibleDesignIsAnIssue) {
  const Result<Json> request = ParseJson(
      std::string(
          R"({"device": {"preset": "a100-sxm4-80gb", "design": {"preset": "a100-like", "power_split": {"core": 1e-9}}}, )") +
      kGemm + "}");
  const Result<Json> answer = EvaluateKernel(*request);
  ASSERT_FALSE(answer);
  EXPECT_TRUE(std::string_view(answer.issues[0].path).starts_with("device.design"));
}

}  // namespace
}  // namespace slipstick
