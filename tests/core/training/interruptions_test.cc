// Failures, checkpoints and ramps: published runs and hand calculation.
#include "core/training/interruptions.h"

#include <cmath>

#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

Scenario Llama405() {
  return TrainingScenario(
      R"({"preset": "llama-3.1-405b"})", R"({"preset": "dgx-h100", "devices": 16384})",
      R"({"sequence": 8192, "global_batch": 2048, "tokens": "15.6 Ttoken", "framework": {"preset": "megatron"},
                              "mapping": {"tp": 8, "pp": 16, "sequence_parallel": true}})");
}

// Llama 3: 419 unexpected interruptions in 54 days on 16,384 H100, and more than 90 % effective training time.
TEST(Interruptions, OfLlama3AreThosePublished) {
  const RunReport run = Evaluated(Llama405()).run;
  EXPECT_NEAR(In(run.mean_time_between_interruptions, kHour), 54 * 24 / 419.0, 1e-9);
  // 14 bytes per parameter at 2 TB/s.
  EXPECT_NEAR(run.checkpoint.base(), 14 * 405.85e9, 1e-3 * 14 * 405.85e9);
  EXPECT_NEAR(In(run.checkpoint_stall, kS), 14 * 405.85e9 / 2e12, 3e-3);
  EXPECT_GT(run.goodput, 0.90);
  EXPECT_LT(run.goodput, 0.96);
}

// "Each checkpoint with optimizer states and weights is 2.3 TB": BLOOM's training notes, in TiB.
TEST(Interruptions, CheckpointOfBloomIsAsLargeAsPublished) {
  const Scenario scenario = TrainingScenario(
      R"({"preset": "bloom-176b"})", R"({"preset": "dgx-a100", "devices": 384})",
      R"({"sequence": 2048, "global_batch": 2048, "framework": {"preset": "megatron-deepspeed"}, "mapping": {"tp": 4, "pp": 12, "micro_batch": 2}})");
  EXPECT_NEAR(Evaluated(scenario).run.checkpoint.base() / std::pow(2, 40), 2.3, 0.07);
}

struct Case {
  Scenario scenario;
  explicit Case(Seconds mtbf, Seconds stall) {
    scenario = TrainingScenario(
        R"({"preset": "llama-3.1-8b"})", R"({"preset": "dgx-h100", "devices": 8})",
        R"({"sequence": 4096, "global_batch": 64, "tokens": "10 Gtoken", "framework": {"preset": "megatron"}})");
    Interruptions& input = scenario.training->interruptions;
    input.device_mtbf = 8 * mtbf;
    input.restart = {};
    input.storage_bandwidth = Evaluated(scenario).run.checkpoint / (8 * stall);
  }
};

// MTBF 10,000 s, stall 50 s: Young sqrt(2·50·10,000) = 1,000 s; Daly 1,000·(1 + 0.05/3 + 0.0025/9) - 50 = 966.9444 s.
TEST(Interruptions, IntervalsAreYoungsAndDalys) {
  const RunReport run = Evaluated(Case(10000 * kS, 50 * kS).scenario).run;
  EXPECT_NEAR(run.young_interval.base(), 1000, 1e-9);
  EXPECT_NEAR(run.daly_interval.base(), 966.944444444, 1e-8);
  EXPECT_EQ(run.checkpoint_interval, run.daly_interval);
  // Daly's complete model at that interval, with a restart of 50 s for reading: tau / (M·exp(R/M)·(exp((tau + C)/M) -
  // 1)).
  const double tau = 966.944444444444;
  EXPECT_NEAR(run.goodput, tau / (1e4 * std::exp(50 / 1e4) * (std::exp((tau + 50) / 1e4) - 1)), 1e-12);
}

TEST(Interruptions, DalysIntervalIsTheBestToAThousandth) {
  for (const double stall : {1., 30., 300., 2000.}) {
    Case one(10000 * kS, stall * kS);
    const double at_daly = Evaluated(one.scenario).run.goodput;
    double best = 0;
    for (double interval = 20; interval < 40000; interval *= 1.02) {
      one.scenario.training->interruptions.checkpoint_interval = interval * kS;
      best = std::max<double>(best, Evaluated(one.scenario).run.goodput);
    }
    EXPECT_GE(at_daly, best * (1 - 1e-3)) << stall;
    EXPECT_LE(at_daly, best * (1 + 1e-3)) << stall;
  }
}

TEST(Interruptions, RareOnesLeaveTheCheckpointsAlone) {
  Case one(1e12 * kS, 10 * kS);
  one.scenario.training->interruptions.checkpoint_interval = 990 * kS;
  const TrainingReport report = Evaluated(one.scenario);
  EXPECT_NEAR(report.run.goodput, 0.99, 1e-6);
  EXPECT_NEAR(*report.run.wall_time / report.time_to_train, 1 / 0.99, 1e-6);
  EXPECT_NEAR(report.run.interruptions, 0, 1e-4);
}

TEST(Interruptions, MoreOfThemNeverHelp) {
  double last = 1;
  for (const double mtbf : {1e6, 1e5, 1e4, 2e3, 500., 100.}) {
    const TrainingReport report = Evaluated(Case(mtbf * kS, 20 * kS).scenario);
    EXPECT_LT(report.run.goodput, last);
    ASSERT_TRUE(report.run.wall_time);
    EXPECT_GT(*report.run.wall_time, report.time_to_train);
    EXPECT_GE(*report.run.energy, report.energy);
    last = report.run.goodput;
  }
  // With an interruption every 0.1 s no checkpoint is ever written: the wall time is null, not a large number.
  const RunReport never = Evaluated(Case(0.1 * kS, 30 * kS).scenario).run;
  EXPECT_EQ(never.goodput, 0);
  EXPECT_FALSE(never.wall_time);
  // The same holds for one every 100 s where a restart takes an hour.
  Scenario slow_to_start = Case(100 * kS, 1 * kS).scenario;
  slow_to_start.training->interruptions.restart = 1 * kHour;
  EXPECT_FALSE(Evaluated(slow_to_start).run.wall_time);
}

TEST(Interruptions, AsynchronousCheckpointsCostLess) {
  Case one(10000 * kS, 50 * kS);
  const RunReport waiting = Evaluated(one.scenario).run;
  one.scenario.training->interruptions.asynchronous_checkpoints = true;
  const RunReport behind = Evaluated(one.scenario).run;
  EXPECT_LT(behind.checkpoint_stall, waiting.checkpoint_stall);
  EXPECT_GT(behind.goodput, waiting.goodput);
  EXPECT_GE(behind.checkpoint_interval, 50 * kS);  // no checkpoint starts before the previous one is written
}

// 1,200 sequences. With steps of 2 s at any batch, 1,200·2·ln(400/100)/300 s; with steps of 10 ms per sequence, 12 s.
TEST(BatchRamp, TakesTheSumOfItsSteps) {
  GrowingBatch batch{100, 400, 1.2e6 * kToken, 1000, 2 * kS, 2 * kS};
  EXPECT_NEAR(RampTime(batch).base(), 1200 * 2 * std::log(4) / 300, 1e-12);
  batch.start_time = 1 * kS, batch.full_time = 4 * kS;
  EXPECT_NEAR(RampTime(batch).base(), 12, 1e-12);
}

TEST(BatchRamp, MakesTheRunLonger) {
  Scenario scenario = Case(1e9 * kS, 1 * kS).scenario;
  const TrainingReport plain = Evaluated(scenario);
  scenario.training->batch_ramp = BatchRamp{64, 2 * kGToken};
  EXPECT_NEAR(Evaluated(scenario).time_to_train / plain.time_to_train, 1, 1e-12);  // the full batch from the start
  scenario.training->batch_ramp = BatchRamp{8, 2 * kGToken};
  const TrainingReport ramped = Evaluated(scenario);
  EXPECT_GT(ramped.time_to_train, plain.time_to_train);
  EXPECT_EQ(ramped.step_time, plain.step_time);
}

TEST(BatchRamp, MustSuitTheMapping) {
  const Issues issues = TrainingIssues(
      R"({"preset": "llama-3.1-8b"})", R"({"preset": "dgx-h100", "devices": 8})",
      R"({"sequence": 4096, "global_batch": 64, "tokens": "1 Gtoken", "batch_ramp": {"start": 12, "tokens": "2 Gtoken"}})");
  ASSERT_EQ(issues.size(), 2U);
  EXPECT_EQ(issues[0].path, "training.batch_ramp.start");
  EXPECT_EQ(issues[1].path, "training.batch_ramp.tokens");
}

// Hoffmann et al. 2022: 20 tokens per parameter.
TEST(Chinchilla, TokensFollowFromTheModel) {
  const Scenario scenario = TrainingScenario(R"({"preset": "llama-2-70b"})", R"({"preset": "dgx-h100", "devices": 64})",
                                             R"({"sequence": 2048, "global_batch": 64, "tokens_per_parameter": 20})");
  EXPECT_EQ(scenario.training->tokens, 20 * 68976648192.0 * kToken);
  const RunReport run = Evaluated(scenario).run;
  EXPECT_EQ(run.compute_optimal_tokens, scenario.training->tokens);
  // The run's budget is 6·N·D, without attention.
  EXPECT_NEAR(run.compute_optimal_parameters, 68976648192.0, 0.04 * 68976648192.0);
}

}  // namespace
}  // namespace slipstick
