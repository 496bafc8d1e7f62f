// How an engine is run: a plain command has the factors of core/presets/tunings/stock.json over a tuned run.
#include <gtest/gtest.h>

#include <string>

#include "core/api/api.h"
#include "core/base/json.h"
#include "tests/support/answers.h"

namespace slipstick {
namespace {

using testing::Assignments;
using testing::Find;
using testing::operator+;

Json ReportOf(const std::string& base, const Assignments& assignments) {
  Result<Json> report = ParseJson(EvaluateAnswer(base, assignments).text);
  return report ? std::move(*report) : Json();
}

double At(const Json& report, const std::string& path) { return NumberAt(report, path).value_or(-1); }

const std::string kThree = R"({"version": 3})";
const Assignments kDense{"model=llama-3.1-8b", "cluster=single-h100-sxm5-80gb", "training=null", "serving.batch=16",
                         "serving.mapping.tp=1"};
const Assignments kExperts{"model=gpt-oss-120b", "cluster=dgx-h100", "training=null",
                           "serving.devices=8",  "serving.batch=16", "serving.mapping.tp=8"};
const Assignments kFp8Experts{
    "model=qwen3-235b-a22b", "cluster=dgx-h100",     "training=null",        "serving.devices=8",
    "serving.batch=16",      "serving.mapping.tp=8", "serving.mapping.ep=8", "serving.precision.weights=fp8"};
const Assignments kExpertsOnCdna{"model=gpt-oss-120b", "cluster=hgx-mi300x", "training=null",
                                 "serving.devices=8",  "serving.batch=16",   "serving.mapping.tp=8"};

// The decode step of a plain command over that of a tuned run.
double StepRatio(const Assignments& assignments) {
  const Json stock = ReportOf(kThree, assignments + Assignments{"serving.tuning=stock"}),
             tuned = ReportOf(kThree, assignments + Assignments{"serving.tuning=tuned"});
  return At(stock, "serving.decode_step_s") / At(tuned, "serving.decode_step_s");
}

TEST(Tuning, APlainCommandTakesLongerPerStep) {
  EXPECT_NEAR(StepRatio(kExperts), 1.2, 1e-9);
  EXPECT_NEAR(StepRatio(kFp8Experts + Assignments{"serving.engine=sglang"}), 1.5, 1e-9);
  EXPECT_NEAR(StepRatio(kExpertsOnCdna), 2, 1e-9);  // AITER's kernels are off
  EXPECT_NEAR(StepRatio(kDense + Assignments{"cluster=hgx-mi300x", "serving.devices=1"}), 1.3, 1e-9);
}

// Every other of Maverick's 48 layers has experts, and 23 of Nemotron's 29 layers; the other 6 have no MLP.
TEST(Tuning, LayersWithoutExpertsTakeNoLonger) {
  const Assignments on_mi300x{"cluster=hgx-mi300x", "training=null", "serving.devices=8", "serving.batch=16",
                              "serving.mapping.tp=8"};
  EXPECT_NEAR(StepRatio(on_mi300x + Assignments{"model=llama-4-maverick"}), 1.5, 1e-9);
  EXPECT_NEAR(StepRatio(on_mi300x + Assignments{"model=nemotron-3-nano-30b-a3b"}), 1 + 23. / 29, 1e-9);
}

// vLLM's Triton kernels for fp8 and 16 bit choose their tiles without a table; FlashInfer's on B200 do not.
TEST(Tuning, ExpertsWhoseTilesNeedNoTableTakeATunedStep) {
  const Assignments vllm{"serving.engine=vllm"},
      before{R"(serving.engine={"preset": "vllm", "chooses_expert_tiles": []})"};
  EXPECT_EQ(StepRatio(kFp8Experts + vllm), 1);
  EXPECT_NEAR(StepRatio(kFp8Experts + before), 1.5, 1e-9);
  EXPECT_NEAR(StepRatio(kFp8Experts + vllm + Assignments{"cluster=dgx-b200"}), 1.5, 1e-9);
  EXPECT_NEAR(StepRatio(kExperts + vllm), 1.2, 1e-9);  // 4-bit experts
}

// The host works 40 us longer on each of 16 sequences. It delays a step only if it launches none ahead.
TEST(Tuning, APlainCommandTakesLongerPerSequenceOfADenseModel) {
  const auto longer = [](const std::string& ahead) {
    const Assignments engine{"serving.engine=vllm", "serving.engine.steps_ahead=" + ahead};
    const auto step = [&](const std::string& tuning) {
      return At(ReportOf(kThree, kDense + engine + Assignments{"serving.tuning=" + tuning}), "serving.decode_step_s");
    };
    return step("stock") - step("tuned");
  };
  EXPECT_NEAR(longer("0"), 16 * 40e-6, 1e-12);
  EXPECT_EQ(longer("1"), 0);
}

// SGLang's host works 48 us on each of 16 sequences, for experts as for dense models, and 40 us longer on those of dense
// models by a plain command. What is not beside the devices is added to the step.
TEST(Tuning, AHostThatLaunchesNothingAheadDelaysEveryStep) {
  const auto longer = [](const Assignments& model, const std::string& tuning, const std::string& ahead) {
    const auto step = [&](const std::string& steps_ahead) {
      const Assignments engine{"serving.engine=sglang", "serving.engine.steps_ahead=" + steps_ahead,
                               "serving.tuning=" + tuning};
      return At(ReportOf(kThree, model + engine), "serving.decode_step_s");
    };
    return step(ahead) - step("1");
  };
  EXPECT_NEAR(longer(kExperts, "tuned", "0"), 16 * 48e-6, 1e-12);
  EXPECT_NEAR(longer(kExperts, "tuned", "0.5"), 16 * 24e-6, 1e-12);
  EXPECT_NEAR(longer(kDense, "tuned", "0"), 16 * 48e-6, 1e-12);
  EXPECT_NEAR(longer(kDense, "stock", "0"), 16 * (48 + 40) * 1e-6, 1e-12);
}

// With 256 sequences of a small model the host is the bound: 6 and 40 us for each.
TEST(Tuning, AHostThatWorksAheadIsABoundOnTheStep) {
  const Assignments small{"model=qwen3-0.6b",    "cluster=single-h100-sxm5-80gb",
                          "training=null",       "serving.batch=256",
                          "serving.prompt=100",  "serving.output=100",
                          "serving.engine=vllm", "serving.engine.host_sequence=6us"};
  EXPECT_NEAR(At(ReportOf(kThree, small), "serving.decode_step_s"), 256 * 46e-6, 1e-9);
}

// llama.cpp was measured as its users run it, and roofline has nothing to tune.
TEST(Tuning, EnginesMeasuredByPlainCommandsStay) {
  for (const char* engine : {"llamacpp-2025", "roofline", "ideal"}) {
    EXPECT_EQ(StepRatio(kDense + Assignments{std::string("serving.engine=") + engine}), 1) << engine;
  }
}

TEST(Tuning, StockIsTheDefaultFromVersion3On) {
  for (const auto& [version, tuning] :
       {std::pair<std::string, std::string>{"1", "tuned"}, {"2", "tuned"}, {"3", "stock"}}) {
    const Json plain = ReportOf(R"({"version": )" + version + "}", kDense),
               said = ReportOf(R"({"version": )" + version + "}", kDense + Assignments{"serving.tuning=" + tuning});
    EXPECT_GT(At(plain, "serving.tpot_s"), 0);
    EXPECT_EQ(At(plain, "serving.tpot_s"), At(said, "serving.tpot_s")) << version;
  }
}

// The factor lengthens the decode part of a time per token; the prompts in the same steps take no longer.
TEST(Tuning, TheTimePerTokenFollowsTheStep) {
  const Json stock = ReportOf(kThree, kExperts + Assignments{"serving.tuning=stock"}),
             tuned = ReportOf(kThree, kExperts + Assignments{"serving.tuning=tuned"});
  const double longer = At(stock, "serving.tpot_s") / At(tuned, "serving.tpot_s");
  EXPECT_GT(longer, 1.1);
  EXPECT_LT(longer, 1.2);
  EXPECT_LT(At(stock, "serving.tokens_per_s"), At(tuned, "serving.tokens_per_s"));
}

// In a tuned run SGLang's host takes 60 ms per request, as it looks for requests only now and then, and 2.5 us per
// prompt token. With a plain command a single request of 1,000 tokens waits 0.4 * 60 + 2.5 ms.
TEST(Tuning, AFirstTokenWaitsLessForTheHost) {
  const Assignments alone =
      kDense + Assignments{"serving.engine=sglang", "serving.batch=1", "serving.prompt=1000", "serving.output=100"};
  const Json stock = ReportOf(kThree, alone + Assignments{"serving.tuning=stock"}),
             tuned = ReportOf(kThree, alone + Assignments{"serving.tuning=tuned"});
  EXPECT_NEAR(At(tuned, "serving.ttft_parts_s.handling"), 0.0625, 1e-9);
  EXPECT_NEAR(At(stock, "serving.ttft_parts_s.handling"), 0.0265, 1e-9);
}

// Two requests of 100 tokens at a time: over its 1,000 steps each waits once for the other's prefill, which the host
// launches more slowly than the device computes. A tuned run launches it ahead and waits only for the device.
TEST(Tuning, DecodingWaitsForAPrefillInTurn) {
  const Assignments pair =
      kDense + Assignments{"serving.engine=sglang", "serving.batch=2", "serving.prompt=100", "serving.output=1001"};
  const Json stock = ReportOf(kThree, pair + Assignments{"serving.tuning=stock"}),
             tuned = ReportOf(kThree, pair + Assignments{"serving.tuning=tuned"});
  const double waited = 1000 * At(stock, "serving.tpot_parts_s.prefill");
  EXPECT_NEAR(waited, At(stock, "serving.prefill_s"), 0.02 * waited);
  EXPECT_LT(2 * At(tuned, "serving.tpot_parts_s.prefill"), At(stock, "serving.tpot_parts_s.prefill"));
}

TEST(Tuning, TheStepIsTheSumOfItsParts) {
  const Json stock = ReportOf(kThree, kExperts + Assignments{"serving.tuning=stock"});
  double sum = 0;
  for (const auto& [bound, part] : Find(stock, "serving.time_by_bound.decode")->items()) {
    if (part.is_number()) sum += part.get<double>();
    if (!part.is_object()) continue;
    for (const auto& [level, time] : part.items()) sum += time.get<double>();
  }
  EXPECT_NEAR(sum, At(stock, "serving.decode_step_s"), 1e-9 * sum);
}

// The factors are inputs.
TEST(Tuning, TheFactorsCanBeStated) {
  const Json twice = ReportOf(kThree, kDense + Assignments{"serving.tuning=tuned", "serving.tuning.dense=2"}),
             tuned = ReportOf(kThree, kDense + Assignments{"serving.tuning=tuned"});
  EXPECT_NEAR(At(twice, "serving.decode_step_s"), 2 * At(tuned, "serving.decode_step_s"), 1e-12);
}

}  // namespace
}  // namespace slipstick
