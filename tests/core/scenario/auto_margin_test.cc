// Version 3: automatic training mappings leave memory free and keep the requested batch, and the answer says what would
// be better.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/support/answers.h"

namespace slipstick {
namespace {

using testing::operator+;

Json Trained(const testing::Assignments& assignments) {
  const Json answer =
      Json::parse(EvaluateAnswer("", testing::Assignments{"serving=null", "cost=null"} + assignments, "", false).text,
                  nullptr, false);
  EXPECT_TRUE(answer.contains("training")) << JsonText(answer).substr(0, 300);
  return answer;
}

bool Warns(const Json& report, const std::string& words) {
  for (const Json& warning : report["warnings"]) {
    if (TextOf(warning).find(words) != std::string::npos) return true;
  }
  return false;
}

// The memory interval ends below the capacity, or no mapping leaves that much free and the answer says so.
TEST(MemoryMargin, IsKeptByAutomaticMappings) {
  int roomy = 0;
  for (const std::string model : {"llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b", "deepseek-v3"}) {
    for (const testing::Assignments& cluster : {testing::Assignments{"cluster=dgx-h100", "cluster.devices=256"},
                                                testing::Assignments{"cluster=dgx-b200", "cluster.devices=64"},
                                                testing::Assignments{"cluster=hgx-mi300x", "cluster.devices=64"},
                                                testing::Assignments{"cluster=dgx-h100", "cluster.devices=8"}}) {
      const Json report = Trained(testing::Assignments{"model=" + model} + cluster);
      const Json& training = report["training"];
      const double capacity = testing::Number(training, "memory_bytes.capacity"),
                   total = testing::Number(training, "memory_bytes.total"),
                   high = testing::Number(training, "memory_interval.high"),
                   low = testing::Number(training, "memory_interval.low");
      const std::string verdict = TextOf(training["memory_verdict"]),
                        name = model + " " + cluster[0] + " " + cluster[1];
      EXPECT_EQ(verdict, total <= capacity ? (high <= capacity ? "fits" : "tight")
                                           : (low > capacity ? "does_not_fit" : "may_not_fit"))
          << name;
      const double margin = testing::Number(report, "scenario.training.memory_margin");
      EXPECT_TRUE(margin == 0 || total <= (1 - margin) * capacity * (1 + 1e-9)) << name;
      if (verdict == "fits") ++roomy;
      EXPECT_EQ(verdict == "tight", Warns(report, "may run out of memory")) << name;
      EXPECT_EQ(verdict == "may_not_fit", Warns(report, "may still fit")) << name;
    }
  }
  EXPECT_GE(roomy, 8);  // half of the runs
}

// Memory does not depend on what takes the time, so all mappings of GPT-3 on 64 H100 keep the same share free, and
// devices of twice the FLOP/s do, too.
TEST(MemoryMargin, IsTheSameForAllMappings) {
  const testing::Assignments gpt{"model=gpt3-175b", "cluster=dgx-h100", "cluster.devices=64"};
  const Json report = Trained(gpt);
  const double margin = testing::Number(report, "scenario.training.memory_margin");
  EXPECT_GT(margin, 0);
  EXPECT_EQ(report["training"]["memory_verdict"], "fits");
  for (const char* other : {"training.mapping.pp=16", "cluster.device.peak.bf16=1978 TFLOP/s"})
    EXPECT_DOUBLE_EQ(testing::Number(Trained(gpt + testing::Assignments{other}), "scenario.training.memory_margin"),
                     margin)
        << other;
}

// Faster matrix products never lengthen the step: before, they moved the share that must stay free.
TEST(MemoryMargin, DoesNotMoveWithTheRateOfTheDevices) {
  const testing::Assignments run{"model=qwen3-next-80b-a3b", "cluster=gaudi3-hls3",
                                 "cluster.devices=16",       "training.framework=fsdp-eager",
                                 "training.sequence=2048",   "training.global_batch=512"};
  EXPECT_LE(testing::Number(Trained(run + testing::Assignments{"cluster.device.efficiency.matrix=0.77"}),
                            "training.step_time_s"),
            testing::Number(Trained(run), "training.step_time_s"));
}

TEST(MemoryMargin, IsAnInputThatChangesTheChosenMapping) {
  const testing::Assignments tight{"model=llama-3.1-70b", "cluster=dgx-h100", "cluster.devices=64"};
  const Json none = Trained(tight + testing::Assignments{"training.memory_margin=0"}),
             half = Trained(tight + testing::Assignments{"training.memory_margin=0.4"});
  EXPECT_LE(testing::Number(half, "training.memory_bytes.total"),
            0.6 * testing::Number(half, "training.memory_bytes.capacity"));
  EXPECT_LE(testing::Number(none, "training.step_time_s"), testing::Number(half, "training.step_time_s"));
}

TEST(MemoryMargin, IsNotKeptByEarlierVersions) {
  const Json report = Trained({"version=2"});
  EXPECT_EQ(report["scenario"]["training"]["memory_margin"], nullptr);
}

TEST(GlobalBatch, OfAutomaticMappingsStaysUnlessItPays) {
  for (const testing::Assignments& kept :
       {testing::Assignments{"model=qwen3-30b-a3b", "cluster=dgx-h100", "cluster.devices=64"},
        testing::Assignments{"model=qwen3-30b-a3b", "cluster=dgx-b200", "cluster.devices=64"},
        testing::Assignments{}}) {
    const Json report = Trained(kept);
    EXPECT_EQ(testing::Number(report, "scenario.training.global_batch"), 512);
  }
  // 576 = 2^6 · 9 devices: without 9 stages, no number of data-parallel ranks on all of them divides 512.
  const Json moved = Trained({"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=576"});
  const bool is_moved = testing::Number(moved, "scenario.training.global_batch") != 512;
  bool is_listed = false;
  for (const Json& one : moved["training"]["chosen"]) is_listed = is_listed || one["path"] == "training.global_batch";
  EXPECT_EQ(is_moved, is_listed);
  EXPECT_TRUE(is_moved);
}

TEST(Hint, NamesFewerDevicesThatAreFaster) {
  // 1,001 = 7 · 11 · 13; 1,000 = 8 · 125 fills whole servers.
  const Json report = Trained({"model=llama-3.1-70b", "cluster=dgx-h100", "cluster.devices=1001"});
  EXPECT_TRUE(Warns(report, "1000 devices train"));
  EXPECT_FALSE(Warns(Trained({"model=llama-3.1-70b", "cluster=dgx-h100", "cluster.devices=1000"}), "devices train"));
}

TEST(Hint, NamesABatchThatSplitsBetter) {
  const Json bad =
      Trained({"model=qwen3-30b-a3b", "cluster=dgx-h100", "cluster.devices=256", "training.global_batch=448"});
  EXPECT_TRUE(Warns(bad, "With a global batch of "));  // 384 and 512 are multiples of 128
  EXPECT_FALSE(
      Warns(Trained({"model=qwen3-30b-a3b", "cluster=dgx-h100", "cluster.devices=256", "training.global_batch=512"}),
            "global batch of"));
}

TEST(Hint, SaysThatAWrittenMappingOfExpertsIsFarFromTheBest) {
  const testing::Assignments experts{"model=qwen3-30b-a3b", "cluster=dgx-h100", "cluster.devices=64"};
  EXPECT_TRUE(
      Warns(Trained(experts +
                    testing::Assignments{"training.mapping={\"auto\":false,\"tp\":8,\"pp\":4,\"virtual_stages\":4}"}),
            "times slower than"));
  EXPECT_FALSE(Warns(Trained(experts), "times slower than"));
}

}  // namespace
}  // namespace slipstick
