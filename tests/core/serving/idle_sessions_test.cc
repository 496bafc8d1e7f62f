// The cost of a stated hit rate: sessions between two turns keep their prefixes. Llama-3.1-8B caches 131,072 bytes per
// token in 16 bit, so half of a prompt of 8,192 tokens takes 0.5 GiB.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/scenario/request.h"
#include "core/scenario/scenario.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

using Texts = std::vector<std::string>;
constexpr double kGiB = 1 << 30;

Texts With(Texts more) {
  Texts all{
      "training=null",      "cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.precision.weights=bf16",
      "serving.batch=4",    "serving.prompt=8192",           "serving.output=256", "serving.prefix_hit=0.5",
      "serving.engine=vllm"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
Json Answer(const std::string& version, const Texts& assignments) {
  const Result<Json> request = ReadRequest(R"({"version": )" + version + "}", assignments);
  EXPECT_TRUE(request);
  return Ask(*request, "");
}
std::string Warned(const Json& report) { return report["warnings"].dump(); }

// Four running requests, one waiting session each: 2 GiB.
TEST(IdleSessions, KeepTheirPrefixes) {
  const Json kept = Answer("3", With({})), none = Answer("3", With({"serving.idle_sessions=0"})),
             three = Answer("3", With({"serving.idle_sessions=3"}));
  EXPECT_EQ(Number(kept, "scenario.serving.idle_sessions"), 1);
  EXPECT_NEAR(Number(kept, "serving.prefix_cache.device_bytes") / (2 * kGiB), 1, 1e-12);
  EXPECT_NEAR(
      (Number(kept, "serving.memory_bytes.kv_cache") - Number(none, "serving.memory_bytes.kv_cache")) / (2 * kGiB), 1,
      1e-9);
  EXPECT_NEAR(Number(three, "serving.prefix_cache.device_bytes") / (6 * kGiB), 1, 1e-12);
  EXPECT_EQ(Number(kept, "serving.ttft_s"), Number(none, "serving.ttft_s"));
}

// A running request holds 8,192 + 128 tokens; with its waiting session 12,416. Two thirds as many requests fit.
TEST(IdleSessions, LeaveRoomForFewerRequests) {
  const double alone = Number(Answer("3", With({"serving.idle_sessions=0"})), "serving.max_batch"),
               with = Number(Answer("3", With({})), "serving.max_batch");
  EXPECT_NEAR(with, alone * 8320 / 12416, 1.01);
  const Json full = Answer("3", With({"serving.batch=" + std::to_string(static_cast<int>(alone))}));
  EXPECT_FALSE(full["serving"]["feasible"].get<bool>());
  EXPECT_NE(full["serving"]["infeasible"].dump().find("for sessions that wait (serving.idle_sessions)"),
            std::string::npos);
}

// A request that states its kept prefixes has no idle sessions added; former versions have none either; without hits
// nothing is kept.
TEST(IdleSessions, AreTheDefaultOfVersionThree) {
  EXPECT_TRUE(Answer("3", With({"serving.prefix_cache.prefixes=4"}))["scenario"]["serving"]["idle_sessions"].is_null());
  EXPECT_TRUE(Answer("2", With({}))["scenario"]["serving"]["idle_sessions"].is_null());
  EXPECT_EQ(Number(Answer("3", With({"serving.prefix_hit=0"})), "serving.prefix_cache.device_bytes"), 0);
  EXPECT_NE(Warned(Answer("3", With({}))).find("(serving.idle_sessions) with 4,096 tokens"), std::string::npos);
}

TEST(IdleSessions, WaitInTheTiers) {
  const Json host = Answer("3", With({"serving.prefix_cache.host_share=0.5", "serving.prefix_cache.ssd_share=0.25"}));
  EXPECT_NEAR(Number(host, "serving.prefix_cache.host_bytes") / kGiB, 1, 1e-12);
  EXPECT_NEAR(Number(host, "serving.prefix_cache.ssd_bytes") / (0.5 * kGiB), 1, 1e-12);
  EXPECT_NEAR(Number(host, "serving.prefix_cache.device_bytes") / (0.5 * kGiB), 1, 1e-12);
  const Json small =
      Answer("3", With({"serving.prefix_cache.host_share=1", "serving.prefix_cache.host_capacity=1 GB"}));
  EXPECT_FALSE(small["serving"]["feasible"].get<bool>());
}

// A hit rate of 95 % on prompts of 50,000 tokens halves the number of requests that fit.
TEST(IdleSessions, OfAgentsHalveTheBatch) {
  const Texts agents{"training=null",      "model=kimi-k2.6",  "cluster=dgx-b200",       "serving.prompt=50000",
                     "serving.output=600", "serving.batch=16", "serving.prefix_hit=0.95"};
  Texts free = agents;
  free.emplace_back("serving.idle_sessions=0");
  const double with = Number(Answer("3", agents), "serving.max_batch"),
               without = Number(Answer("3", free), "serving.max_batch");
  EXPECT_NEAR(with / without, 50300.0 / (50300 + 47500), 0.02);
}

// The simulation keeps the same memory for idle sessions, so requests wait longer for a slot.
TEST(IdleSessions, AreSimulated) {
  const auto first_token = [](const std::string& idle) {
    return Number(Answer("3", {"training=null", "cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b",
                               "serving.precision.weights=bf16", "serving.prompt=8192", "serving.output=256",
                               "serving.prefix_hit=0.5", "serving.engine=vllm", "serving.concurrency=200",
                               "serving.simulate.requests=400", idle}),
                  "serving.ttft_percentiles_s.p50");
  };
  EXPECT_GT(first_token("serving.idle_sessions=1"), 1.1 * first_token("serving.idle_sessions=0"));
}

}  // namespace
}  // namespace slipstick::testing
