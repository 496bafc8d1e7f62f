// Post-training steps: response lengths by hand, sums, bounds, the best split against every split, and refused
// requests.
#include "core/post_training/post_training.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/schema.h"
#include "core/post_training/rollout.h"
#include "core/post_training/split.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

const Assignments kBase{"model=llama-3.1-8b",
                        "cluster=dgx-h100",
                        "cluster.devices=16",
                        "cost=null",
                        "training.sequence=4096",
                        "training.global_batch=512",
                        "training.mapping.tp=1",
                        "training.mapping.pp=2",
                        "training.mapping.virtual_stages=1",
                        "training.mapping.sequence_parallel=false",
                        "serving.prompt=128",
                        "serving.output=1024",
                        "serving.mapping.tp=1",
                        "serving.precision.weights=bf16",
                        "serving.precision.activations=bf16",
                        "post_training.prompts=32",
                        "post_training.responses_per_prompt=16",
                        "post_training.max_response=3968"};
const Assignments kPools{"post_training.placement=pools"};

Json Report(const Assignments& assignments, std::string_view explain = "") {
  Json answer = Json::parse(EvaluateAnswer(R"({"version": 1})", assignments, explain).text, nullptr, false);
  EXPECT_TRUE(answer.contains("post_training")) << JsonText(answer).substr(0, 500);
  return answer;
}
double At(const Json& report, const std::string& figure) { return Number(report, "post_training." + figure); }

TEST(ResponseLengths, KeepTheirMeanWhenTheLongestAreCut) {
  PostTraining asked = Standard<PostTraining>();
  asked.prompts = 32;
  asked.responses_per_prompt = 16;
  asked.max_response = 1500;
  ServingLoad load = Standard<ServingLoad>();
  load.output = 1000;
  const ResponseLengths cut = SamplesOf(asked, load, load.output).lengths;
  EXPECT_NEAR(cut.Mean(), 1000, 1e-3);
  EXPECT_EQ(cut.longest, 1500);
  asked.max_response.reset();
  const ResponseLengths whole = SamplesOf(asked, load, load.output).lengths;
  EXPECT_NEAR(whole.Mean(), 1000, 1e-3);
  EXPECT_GT(whole.longest, whole.shares.back());
  // With equal lengths, every token sees the same sequence length.
  asked.length_variation = 0;
  EXPECT_NEAR(SamplesOf(asked, load, load.output).lengths.MeanOfToken(100), 1100, 1e-6);
  EXPECT_GT(whole.MeanOfToken(100), 1100);
}

TEST(PostTraining, PartsAddUpToTheStep) {
  for (const Assignments& more :
       {Assignments{}, Assignments{"post_training.algorithm=ppo", "post_training.reward_model=true"}, kPools,
        kPools + Assignments{"post_training.steps_off=1"}}) {
    const Json report = Report(kBase + more);
    double sum = 0;
    for (const auto& [part, time] : (*Find(report, "post_training.time_s")).items()) sum += time.get<double>();
    EXPECT_NEAR(sum, At(report, "step_time_s"), 1e-9 * sum);
    const double tokens = 32 * 16 * (128 + At(report, "mean_response"));
    EXPECT_NEAR(At(report, "tokens_per_s_per_device"), tokens / At(report, "step_time_s") / 16, 1e-6 * tokens);
  }
}

// Two models are trained under PPO, and its critic and reward model pass over the samples too.
TEST(PostTraining, PpoTrainsTwoModels) {
  const Json grpo = Report(kBase),
             ppo = Report(kBase + Assignments{"post_training.algorithm=ppo", "post_training.reward_model=true"});
  EXPECT_NEAR(At(ppo, "time_s.training"), 2 * At(grpo, "time_s.training"), 1e-9);
  EXPECT_EQ(At(ppo, "time_s.values"), At(grpo, "time_s.reference"));
  EXPECT_EQ(At(ppo, "time_s.reward"), At(grpo, "time_s.reference"));
  EXPECT_EQ(At(grpo, "time_s.values"), 0);
}

// A forward pass is a third of an update's arithmetic; the update also exchanges gradients.
TEST(PostTraining, AForwardPassIsAboutAThirdOfAnUpdate) {
  const Json report = Report(kBase);
  const double share = At(report, "time_s.old_log_probs") / At(report, "time_s.training");
  EXPECT_GT(share, 0.25);
  EXPECT_LT(share, 0.4);
}

// Llama-3.1-8B has 8.03 G parameters of 2 bytes; an engine loads them at 38 GB/s.
TEST(PostTraining, SendsTheWholeModel) {
  const Json report = Report(kBase);
  EXPECT_NEAR(At(report, "synced_weights_bytes"), 16.06e9, 0.01e9);
  EXPECT_NEAR(At(report, "time_s.weight_sync"), 16.06 / 38, 0.01);
}

// Responses of one length all end together; the more lengths differ, the longer the last ones run.
TEST(PostTraining, LongTailsLeaveTheBatchEmpty) {
  const Json even = Report(kBase + Assignments{"post_training.length_variation=0"});
  EXPECT_NEAR(At(even, "slots_in_use"), 1, 1e-9);
  EXPECT_NEAR(At(even, "longest_response"), 1024, 1e-6);
  double time = At(even, "generation_s");
  for (const char* variation : {"0.2", "0.4", "0.8"}) {
    const Json report = Report(kBase + Assignments{std::string("post_training.length_variation=") + variation});
    EXPECT_GT(At(report, "generation_s"), time);
    EXPECT_LT(At(report, "slots_in_use"), 1);
    time = At(report, "generation_s");
  }
}

// 32 responses of one length on each device are the static batch of the serving part: prefill, then 1024 decode steps,
// each with 5 ms of the RL framework.
TEST(PostTraining, EvenRolloutsAreTheServingPartsStaticBatch) {
  const Json report =
      Report(kBase + Assignments{"post_training.length_variation=0", "serving.batch=32", "serving.devices=1"});
  EXPECT_NEAR(At(report, "generation_s"), Number(report, "serving.static_latency_s") + 1024 * 0.005,
              0.005 * At(report, "generation_s"));
  EXPECT_EQ(At(report, "running"), 32);
}

// An engine with room for half of them runs two rounds.
TEST(PostTraining, ResponsesBeyondTheEnginesCapacityWait) {
  const Assignments even = kBase + Assignments{"post_training.length_variation=0", "serving.engine.max_sequences=32"};
  const Json one = Report(even), two = Report(even + Assignments{"post_training.prompts=64"});
  EXPECT_EQ(At(two, "running"), 32);
  EXPECT_NEAR(At(two, "generation_s"), 2 * At(one, "generation_s"), 0.002 * At(two, "generation_s"));
  EXPECT_NEAR(At(two, "slots_in_use"), 1, 1e-9);
}

// 512 samples in batches of 128 are four updates, and two epochs are eight.
TEST(PostTraining, UpdatesAreBatchesTimesEpochs) {
  const Assignments batches = kBase + Assignments{"training.global_batch=128"};
  const Json once = Report(batches), twice = Report(batches + Assignments{"post_training.epochs=2"});
  EXPECT_EQ(At(once, "updates"), 4);
  EXPECT_EQ(At(twice, "updates"), 8);
  EXPECT_NEAR(At(twice, "time_s.training"), 2 * At(once, "time_s.training"), 1e-9);
  EXPECT_EQ(At(twice, "time_s.reference"), At(once, "time_s.reference"));  // samples are scored once
}

// The reference model (half of 8.03 G parameters of 2 bytes, as there are two stages) and the policy with its optimizer
// stay in host memory while others use the devices. They move there and back at 9 GB/s, and the engine takes 3 s to
// sleep and to wake up.
TEST(PostTraining, ModelsThatWaitLieInHostMemory) {
  const Json report = Report(kBase);
  const double weights = 8.030257152e9, optimizer = Number(report, "training.memory_bytes.optimizer");
  EXPECT_NEAR(At(report, "host_bytes"), 2 * weights + optimizer, 1);
  EXPECT_NEAR(At(report, "time_s.engine_switch"), 3 + 2 * (2 * weights + optimizer) / 9e9, 1e-6);
  // In pools only the reference model waits, and no engine sleeps.
  const Json pools = Report(kBase + kPools);
  EXPECT_NEAR(At(pools, "host_bytes"), weights, 1);
  EXPECT_NEAR(At(pools, "time_s.engine_switch"), 2 * weights / 9e9, 1e-6);
  // The weights move between pools at 90 GB/s, or at the stated rate.
  EXPECT_NEAR(At(pools, "time_s.weight_sync"), 2 * 8.030261248 / 90, 1e-6);
  const Json slow = Report(kBase + kPools + Assignments{"post_training.sync_rate=10 GB/s"});
  EXPECT_NEAR(At(slow, "time_s.weight_sync"), 2 * 8.030261248 / 10, 1e-6);
}

// "If PEFT is used, the reference model is not needed since the adapter can be disabled" (TRL, grpo_trainer.py): its
// forward pass stays, its copy does not.
TEST(PostTraining, AdaptersNeedNoCopyOfTheReferenceModel) {
  const Assignments lora = kBase + Assignments{"training.trainable=lora"};
  const Json with = Report(lora + Assignments{"post_training.reference=true"}),
             without = Report(lora + Assignments{"post_training.reference=false"});
  EXPECT_EQ(At(with, "host_bytes"), At(without, "host_bytes"));
  EXPECT_EQ(At(with, "time_s.engine_switch"), At(without, "time_s.engine_switch"));
  EXPECT_GT(At(with, "time_s.reference"), 0);
  EXPECT_EQ(At(without, "time_s.reference"), 0);
}

// Offloaded weights of the reference model lie in host memory, too: half of 8.03 G parameters of 2 bytes, which no pass
// of the policy moves there and back.
TEST(PostTraining, AnOffloadedReferenceModelLiesInHostMemory) {
  const Assignments offload = kBase + Assignments{"training.offload.parameters=1", "training.offload.optimizer=1"};
  const Json with = Report(offload + Assignments{"post_training.reference=true"}),
             without = Report(offload + Assignments{"post_training.reference=false"});
  EXPECT_NEAR(At(with, "host_bytes") - At(without, "host_bytes"), 8.030257152e9, 1);
  EXPECT_NEAR(At(with, "time_s.engine_switch"), At(without, "time_s.engine_switch"), 1e-9);
}

// Each pool is busy with its own part and while weights move, and idle for the rest of the step.
TEST(PostTraining, APoolIdlesWhileTheOtherWorks) {
  for (const char* steps_off : {"post_training.steps_off=0", "post_training.steps_off=1"}) {
    const Json report = Report(kBase + kPools + Assignments{"post_training.generation_devices=4", steps_off});
    const double step = At(report, "step_time_s"), sync = At(report, "time_s.weight_sync");
    const double generating = (At(report, "generation_s") + sync) / step,
                 training = (At(report, "learning_s") + sync) / step;
    EXPECT_NEAR(At(report, "generation_idle"), 1 - generating, 1e-9);
    EXPECT_NEAR(At(report, "training_idle"), 1 - training, 1e-9);
    EXPECT_NEAR(At(report, "idle"), (4 * (1 - generating) + 12 * (1 - training)) / 16, 1e-9);
  }
}

TEST(PostTraining, TheBestSplitBeatsEveryOther) {
  for (const char* steps_off : {"post_training.steps_off=0", "post_training.steps_off=1"}) {
    const Assignments pools = kBase + kPools + Assignments{steps_off};
    const Json best = Report(pools);
    EXPECT_EQ(At(best, "generation_devices") + At(best, "training_devices"), 16);
    for (int generation = 2; generation < 16; generation += 2) {
      const Json report = Report(pools + Assignments{"post_training.generation_devices=" + std::to_string(generation)});
      EXPECT_GE(At(report, "step_time_s"), At(best, "step_time_s")) << generation;
      EXPECT_GE(At(report, "idle"), 0);
      EXPECT_LT(At(report, "idle"), 1);
    }
  }
}

// All of 63 splits are compared, of 511 only a few. Whole samples per device make the step time a sawtooth over the
// split. Long training takes most devices; one step off it hides the rollouts, which then may take most.
TEST(PostTraining, TheSplitFoundIsTheBestOfAll) {
  for (const Count devices : {128, 1024}) {
    for (const char* prompts : {"post_training.prompts=64", "post_training.prompts=100"}) {
      for (const char* asked :
           {"serving.output=3000", "serving.output=500", "post_training.epochs=4", "post_training.steps_off=1"}) {
        SCOPED_TRACE(std::to_string(devices) + " " + prompts + " " + asked);
        const Result<Json> request =
            ReadRequest(R"({"version": 1})",
                        kBase + kPools + Assignments{"cluster.devices=" + std::to_string(devices), prompts, asked});
        ASSERT_TRUE(request);
        const Result<Scenario> scenario = ParseScenario(*request);
        ASSERT_TRUE(scenario);
        const StepInputs inputs = InputsOf(
            *scenario->post_training, {scenario->model, scenario->cluster, *scenario->training, *scenario->serving});
        const Samples sampled = SamplesOf(inputs.asked, *scenario->serving, inputs.output);
        const std::vector<DeviceSplit> splits = SplitsOf(*scenario->training, *scenario->serving, devices);
        ASSERT_EQ(static_cast<Count>(splits.size()), devices / 2 - 1);  // replicas of two pipeline stages
        const BestSplit found = FindBestSplit(inputs, sampled, splits);
        EXPECT_LT(found.compared.size(), 128U);
        for (const DeviceSplit& one : splits) {
          const SplitStep step = StepOn(inputs, sampled, {one.generation_devices, one.training_devices});
          if (step.learning.issues.empty() && step.split.fits) {
            EXPECT_GE(step.split.step_time, found.best.step_time) << one.generation_devices;
          }
        }
      }
    }
  }
}

// One step off, both pools work at the same time.
TEST(PostTraining, OneStepOffIsNeverSlower) {
  for (const char* generation : {"4", "8", "12"}) {
    const Assignments pools =
        kBase + kPools + Assignments{std::string("post_training.generation_devices=") + generation};
    EXPECT_LE(At(Report(pools + Assignments{"post_training.steps_off=1"}), "step_time_s"),
              At(Report(pools), "step_time_s"));
  }
}

TEST(PostTraining, AnInfeasibleStepSaysWhy) {
  const Json longer = Report(kBase + Assignments{"post_training.max_response=8192"});
  ASSERT_FALSE((*Find(longer, "post_training.infeasible")).empty());
  EXPECT_EQ(TextOf(*Find(longer, "post_training.infeasible.0.reason")), "sequence");
  const Json hosted = Report(kBase + Assignments{"cluster.device.host.memory=1 GB"});
  EXPECT_EQ(TextOf(*Find(hosted, "post_training.infeasible.0.reason")), "host_memory");
}

// Contradictions with the other parts are issues, and every offered fix removes its issue.
TEST(PostTraining, WrongRequestsAreIssuesWithFixes) {
  const struct {
    Assignments asked;
    std::string path;
  } wrong[] = {
      {{"training=null", "post_training.prompts=32"}, "post_training"},
      {{"serving=null", "post_training.prompts=32"}, "post_training"},
      {kBase + Assignments{"post_training.steps_off=1"}, "post_training.steps_off"},
      {kBase + Assignments{"post_training.generation_devices=8"}, "post_training.generation_devices"},
      {kBase + kPools + Assignments{"post_training.generation_devices=15"}, "post_training.generation_devices"},
      {kBase + kPools + Assignments{"training.mapping.pp=8", "training.mapping.tp=2"}, "post_training.placement"}};
  for (const auto& [asked, path] : wrong) {
    const Json answer = Json::parse(EvaluateAnswer(R"({"version": 1})", asked, "").text, nullptr, false);
    ASSERT_TRUE(answer.contains("issues")) << path;
    const Json& issue = answer["issues"][0];
    EXPECT_EQ(TextOf(issue["path"]), path);
    ASSERT_FALSE(issue["fixes"].empty()) << path;
    for (const Json& fix : issue["fixes"]) {
      if (!fix.contains("value")) continue;  // the fix removes the member
      const Assignments mended{TextOf(fix["path"]) + "=" +
                               (fix["value"].is_string() ? TextOf(fix["value"]) : fix["value"].dump())};
      EXPECT_TRUE(Json::parse(EvaluateAnswer(R"({"version": 1})", asked + mended, "").text, nullptr, false)
                      .contains("post_training"))
          << path;
    }
  }
}

// A micro-batch of 2^40 tokens holds about 10^10 sequences of a few tokens; 2 CP TP = 1024 divides it a billion times.
TEST(PostTraining, PacksAnyNumberOfSequences) {
  const Assignments asked{"post_training.prompts=32",  "post_training.max_response=64",
                          "training.sequence=1048576", "training.mapping.micro_batch=1048576",
                          "training.mapping.cp=512",   "cluster.devices=4096",
                          "serving.prompt=1",          "serving.output=1"};
  EXPECT_TRUE(Json::parse(EvaluateAnswer(R"({"version": 1})", asked, "").text, nullptr, false).is_object());
}

TEST(PostTraining, IsOffByDefault) {
  const Json answer = Json::parse(EvaluateAnswer(R"({"version": 1})", {}, "").text, nullptr, false);
  EXPECT_FALSE(answer.contains("post_training"));
  EXPECT_TRUE(answer["scenario"]["post_training"].is_null());
}

}  // namespace
}  // namespace slipstick::testing
