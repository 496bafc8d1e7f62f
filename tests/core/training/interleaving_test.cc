// Interleaved schedules that a framework refuses, derived by hand from its code.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/search/mapping_space.h"
#include "core/search/training_tuner.h"
#include "scenarios.h"

namespace slipstick {
namespace {

// GPT-3 on 64 A100, TP 8, PP 8, three virtual stages, one sequence per micro-batch: the batch is the number of
// micro-batches.
TrainingReport Interleaved(const std::string& framework, int batch, int chunks = 3) {
  return Evaluated(TrainingScenario(R"({"preset": "gpt3-175b"})", R"({"preset": "dgx-a100", "devices": 64})",
                                    R"({"sequence": 2048, "global_batch": )" + std::to_string(batch) +
                                        R"(, "recompute": "full", "framework": {"preset": ")" + framework +
                                        R"("}, "mapping": {"tp": 8, "pp": 8, "virtual_stages": )" +
                                        std::to_string(chunks) + R"(, "micro_batch": 1}})"));
}

bool IsRefused(const TrainingReport& report) {
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [](const std::string& text) { return text.find(" refuses ") != std::string::npos; });
}

// Megatron's schedules.py takes multiples of the number of stages. Other batches give a warning but stay feasible,
// since recorded runs have them.
TEST(Interleaving, MegatronTakesMultiplesOfTheStages) {
  for (const char* framework : {"megatron", "megatron-2022"}) {
    for (const int batch : {2, 4, 12, 20})
      EXPECT_TRUE(IsRefused(Interleaved(framework, batch))) << framework << " " << batch;
    for (const int batch : {8, 16, 24})
      EXPECT_FALSE(IsRefused(Interleaved(framework, batch))) << framework << " " << batch;
    EXPECT_FALSE(IsRefused(Interleaved(framework, 12, 1))) << "not interleaved";
    EXPECT_TRUE(Interleaved(framework, 12).infeasible.empty());
  }
}

// torch.distributed.pipelining: 20 micro-batches over 8 stages are two rounds of 10; 17 do not divide into two rounds.
TEST(Interleaving, PyTorchTakesEqualRounds) {
  for (const int batch : {2, 8, 12, 20}) EXPECT_FALSE(IsRefused(Interleaved("fsdp", batch))) << batch;
  for (const int batch : {17, 25}) EXPECT_TRUE(IsRefused(Interleaved("fsdp", batch))) << batch;
  EXPECT_FALSE(IsRefused(Interleaved("ideal", 17))) << "no such code";
}

TEST(Interleaving, NoSearchReturnsWhatTheFrameworkRefuses) {
  Scenario scenario =
      TrainingScenario(R"({"preset": "gpt3-175b"})", R"({"preset": "dgx-a100", "devices": 64})",
                       R"({"sequence": 2048, "global_batch": 48, "framework": {"preset": "megatron-2022"},
                                           "mapping": {"tp": 8, "pp": 8}})");
  const TrainingSpace space(scenario.model, scenario.cluster, *scenario.training, 64, {});
  Count interleaved = 0;
  for (Count i = 0; i < space.Size(); ++i) {
    const TrainingMapping mapping = space.At(i).mapping;
    if (mapping.virtual_stages == 1) continue;
    ++interleaved;
    ASSERT_EQ(48 / *mapping.dp / mapping.micro_batch % mapping.pp, 0) << i;
  }
  EXPECT_GT(interleaved, 0);
}

// On 16,384 A100 with a batch of 512 the tuner once chose PP 32 with 8 micro-batches.
TEST(Interleaving, NoTunedMappingIsRefused) {
  for (const char* framework : {"megatron-2022", "megatron"}) {
    for (const int devices : {64, 1024, 16384}) {
      Scenario scenario = TrainingScenario(R"({"preset": "gpt3-175b"})",
                                           R"({"preset": "dgx-a100", "devices": )" + std::to_string(devices) + "}",
                                           R"({"sequence": 2048, "global_batch": 512, "framework": {"preset": ")" +
                                               std::string(framework) + R"("}, "mapping": {"tp": 8, "pp": 8}})");
      scenario.training->mapping = {};
      const TunedTraining tuned = TuneTraining(scenario.model, scenario.cluster, *scenario.training, {{}, true, false});
      ASSERT_TRUE(tuned.is_legal);
      scenario.training = tuned.run;
      EXPECT_FALSE(IsRefused(Evaluated(scenario))) << framework << " " << devices;
    }
  }
}

}  // namespace
}  // namespace slipstick
