// Offload to host memory: bytes by hand, overlap with compute, exposed time at most link time.
#include "core/training/memory.h"
#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

Scenario Small() {
  return TrainingScenario(
      R"({"preset": "llama-3.1-8b"})", R"({"preset": "dgx-h100", "devices": 8})",
      R"({"sequence": 4096, "global_batch": 64, "framework": {"preset": "ideal"}, "mapping": {"zero": 1}})");
}

// Adam's state is 12 bytes per parameter, an eighth of 8,030,261,248 parameters per rank; PCIe 5.0 carries 64 GB/s per
// direction.
TEST(Offload, OptimizerStateMovesToTheHost) {
  Scenario scenario = Small();
  const TrainingReport plain = Evaluated(scenario);
  scenario.training->offload.optimizer = 1;
  const TrainingReport report = Evaluated(scenario);
  const double state = 12 * 8030261248.0 / 8;
  EXPECT_NEAR(report.memory.host.base(), state, 1e-9 * state);
  EXPECT_NEAR((plain.memory.optimizer - report.memory.optimizer).base(), state, 1e-9 * state);
  EXPECT_NEAR(report.communication.offload.base(), state / 64e9, 1e-9);
  EXPECT_NEAR(report.time.offload.base(), state / 64e9 - plain.time.optimizer.base(), 1e-9);
  EXPECT_EQ(report.step_time, report.time.Total());
}

// Megatron-Core's fp32 weights stay on the device: Qwen3-30B-A3B at TP 2, PP 2 and EP 4 on 16 H100 had 47.2 GB
// allocated between steps, 39.6 with half of the optimizer offloaded and 32.0 with all of it
// (NVIDIA-NeMo/Megatron-Bridge, skills/nemo-mbridge-perf-cpu-offloading/card.yaml).
TEST(Offload, UnderMegatronLeavesTheMasterWeights) {
  for (const auto& [share, allocated] : {std::pair{0.0, 47.2e9}, {0.25, 43.4e9}, {0.5, 39.6e9}, {1.0, 32.0e9}}) {
    Scenario scenario = TrainingScenario(
        R"({"preset": "qwen3-30b-a3b"})", R"({"preset": "dgx-h100", "devices": 16})",
        R"({"sequence": 4096, "global_batch": 8, "recompute": "full", "framework": {"preset": "megatron"},
            "mapping": {"tp": 2, "sequence_parallel": true, "pp": 2, "ep": 4, "zero": 1}})");
    scenario.training->offload.optimizer = share;
    scenario.training->offload.gradients = 0;
    const TrainingMemory memory = Evaluated(scenario).memory;
    EXPECT_NEAR((memory.weights + memory.gradients + memory.optimizer).base() / allocated, 1, 0.01) << share;
  }
}

TEST(Offload, ActivationsMoveDuringThePasses) {
  Scenario scenario = Small();
  const TrainingReport plain = Evaluated(scenario);
  scenario.training->offload.activations = 0.5;
  const TrainingReport report = Evaluated(scenario);
  // Flash attention, gated: 8h + 2·2d(a + n_kv) + 4a + 6f bytes per token, for half of 32 layers, out and back, and 8
  // micro-batches.
  const double layer = 4096.0 * (8 * 4096 + 4 * 128 * (32 + 8) + 4 * 32 + 6 * 14336);
  EXPECT_NEAR(report.communication.offload.base(), 8 * 32 * 2 * 0.5 * layer / 64e9, 1e-9);
  EXPECT_NEAR(report.memory.host.base(), 0.5 * 32 * layer, 1);
  EXPECT_NEAR((plain.memory.activations - report.memory.activations).base(), (0.5 * 32 - 1) * layer, 1);
  EXPECT_LT(report.time.offload, report.communication.offload);
}

TEST(Offload, IsHiddenOnAFastLinkAndExposedBeyondThePassesOnASlowOne) {
  Scenario scenario = Small();
  const TrainingReport plain = Evaluated(scenario);
  scenario.training->offload = {1, 1};
  scenario.cluster.device.host.bandwidth = 100 * kTBps;
  EXPECT_EQ(Evaluated(scenario).time.offload, Seconds{});
  EXPECT_EQ(Evaluated(scenario).step_time, plain.step_time);
  double last = 0;
  for (const double gbps : {64., 16., 1., 0.01}) {
    scenario.cluster.device.host.bandwidth = gbps * kGBps;
    const TrainingReport report = Evaluated(scenario);
    EXPECT_GE(report.time.offload.base(), last);
    EXPECT_LE(report.time.offload, report.communication.offload);
    last = report.time.offload.base();
  }
  const TrainingReport slow = Evaluated(scenario);
  EXPECT_GT(slow.time.offload / slow.communication.offload, 0.99);
}

TEST(Offload, NeverTakesMoreDeviceMemory) {
  for (const char* recompute : {"none", "selective", "full"}) {
    for (const int layers_a_stage : {1, 2, 8}) {
      Scenario scenario = TrainingScenario(
          Gpt(4 * layers_a_stage, 4096, 32), R"({"preset": "dgx-a100", "devices": 8})",
          R"({"sequence": 2048, "global_batch": 32, "framework": {"preset": "megatron"}, "recompute": ")" +
              std::string(recompute) + R"(", "mapping": {"pp": 4}})");
      Bytes last = Evaluated(scenario).memory.Total();
      for (const double share : {0.1, 0.5, 0.9, 1.0}) {
        scenario.training->offload.activations = share;
        const Bytes now = Evaluated(scenario).memory.Total();
        EXPECT_LE(now.base(), last.base() * (1 + 1e-12)) << recompute << layers_a_stage << " " << share;
        last = now;
      }
    }
  }
}

TEST(Offload, IsRefusedWhereTheHostIsFull) {
  Scenario scenario = Small();
  scenario.training->offload.optimizer = 1;
  scenario.cluster.device.host.memory = 10 * kGB;
  const TrainingReport report = Evaluated(scenario);
  ASSERT_FALSE(report.infeasible.empty());
  EXPECT_EQ(report.infeasible.front().reason, "host_memory");
}

// 8,030,261,248 parameters: gradients of 4 bytes and weights of 2 go to the host, except those of the current layer and
// the next.
TEST(Offload, GradientsAndWeightsMoveToTheHost) {
  Scenario scenario = Small();
  scenario.training->mapping.zero = 0;
  const TrainingReport plain = Evaluated(scenario);
  scenario.training->offload.gradients = 1;
  scenario.training->offload.parameters = 1;
  const TrainingReport report = Evaluated(scenario);
  const double parameters = 8030261248.0, layer = 4096.0 * (2 * 4096 + 2 * 1024) + 3.0 * 4096 * 14336 + 2 * 4096;
  EXPECT_EQ(report.memory.weights, Bytes{});
  EXPECT_EQ(report.memory.gradients, Bytes{});
  EXPECT_NEAR(report.memory.host.base(), 6 * parameters, 1);
  EXPECT_NEAR((report.memory.workspace - plain.memory.workspace).base(), 2 * 6 * layer, 1);
  // For each of 8 micro-batches the 16-bit gradients go out once and the weights come in twice, at 64 GB/s.
  EXPECT_NEAR(report.communication.offload.base(), 8 * 3 * 2 * parameters / 64e9, 1e-9);
  EXPECT_LT(report.time.offload, report.communication.offload);
  EXPECT_EQ(report.step_time, report.time.Total());
  scenario.cluster.device.host.bandwidth = 1 * kGBps;
  EXPECT_GT(Evaluated(scenario).time.offload, report.time.offload);
}

// Both devices of a DualPipe pair hold both stages: each device streams one stage in for half of the micro-batches and
// the other for the rest.
TEST(Offload, UnderDualPipeStreamsBothStagesIn) {
  const Scenario scenario = TrainingScenario(
      R"({"layers": 4, "hidden": 1024, "heads": 16, "ffn": 4096, "vocab": 32000,
                           "moe": {"experts": 16, "top_k": 2, "expert_ffn": 4096, "dense_layers": 2}})",
      R"({"preset": "dgx-h100", "devices": 2, "device": {"preset": "h100-sxm5-80gb", "host": {"bandwidth": "1 GB/s"}}})",
      R"({"sequence": 2048, "global_batch": 8, "framework": {"preset": "ideal"}, "offload": {"parameters": 1},
                           "mapping": {"pp": 2, "schedule": "dualpipe"}})");
  const std::vector<Stage> stages = StagesOf(scenario);
  ASSERT_GT(stages[1].weights.Base(), 2 * stages[0].weights.Base());
  const double both = stages[0].weights.Base() + stages[1].weights.Base();
  EXPECT_NEAR(Evaluated(scenario).communication.offload.base() / (8 * 2 * 2 * both / 2 / 1e9), 1, 1e-9);
}

// Two stages of two layers each. The second has the experts, whose weights take longer on the link than its passes, so
// it sets the pace. A wider MLP on the first stage, which computes at the same time, hides none of that.
TEST(Offload, OfOneStageIsNotHiddenByThePassesOfAnother) {
  const auto with_ffn = [](const char* ffn) {
    return Evaluated(TrainingScenario(
        R"({"layers": 4, "hidden": 1024, "heads": 16, "vocab": 32000, "ffn": )" + std::string(ffn) +
            R"(, "moe": {"experts": 16, "top_k": 2, "expert_ffn": 4096, "dense_layers": 2}})",
        R"({"preset": "dgx-h100", "devices": 2, "device": {"preset": "h100-sxm5-80gb", "host": {"bandwidth": "20 GB/s"}}})",
        R"({"sequence": 2048, "global_batch": 64, "framework": {"preset": "ideal"}, "offload": {"parameters": 1},
                           "mapping": {"pp": 2}})"));
  };
  const TrainingReport narrow = with_ffn("4096"), wide = with_ffn("8192");
  ASSERT_GT(narrow.time.offload, 0.5 * narrow.step_time);
  EXPECT_GE(wide.time.offload, (1 - 1e-12) * narrow.time.offload);
  EXPECT_GT(wide.step_time, narrow.step_time);
}

// ZeRO-Offload (Ren et al. 2021): 13 billion parameters train on one V100 of 32 GB. The 16-bit weights stay on the
// device; gradients and optimizer state go to the host, which does the update.
TEST(Offload, OfGradientsAndOptimizerTrains13BillionParametersOnOneV100) {
  const auto run = [](const std::string& offload) {
    return TrainingScenario(
        R"({"preset": "opt-13b"})", R"({"preset": "single-v100-sxm2-32gb"})",
        R"({"sequence": 1024, "global_batch": 16, "recompute": "full", "precision": "fp16", "flash_attention": false,
                                "framework": {"preset": "megatron-deepspeed"}, "offload": )" +
            offload + R"(, "mapping": {"zero": 2}})");
  };
  const TrainingReport report = Evaluated(run(R"({"optimizer": 1})"));
  EXPECT_TRUE(report.infeasible.empty());
  EXPECT_GT(report.memory.Total(), 2 * 12.85 * kGB);
  EXPECT_NEAR(report.memory.host.base(), 14 * 12853473280.0,
              0.01 * 14 * 12853473280.0);  // 2 bytes of gradients and 12 of optimizer state
  EXPECT_FALSE(Evaluated(run(R"({"optimizer": 1, "gradients": 0})")).infeasible.empty());
  EXPECT_FALSE(Evaluated(run("{}")).infeasible.empty());
}

// The host's memory moves state, gradient and weight, 34 bytes per parameter, and 16-bit weights return over the link.
TEST(Offload, OfAnUpdateByTheHostTakesItsMemorysTime) {
  Scenario scenario = Small();
  scenario.training->offload.optimizer = 1;
  scenario.training->framework.offload.host_update = 100 * kGBps;
  const double shard = 8030261248.0 / 8;
  const TrainingReport report = Evaluated(scenario);
  EXPECT_EQ(report.time.offload, Seconds{});  // the return of the weights is hidden
  EXPECT_NEAR(report.communication.offload.base(), 2 * shard / 64e9, 1e-9);
  scenario.training->framework.offload.host_update = 50 * kGBps;
  EXPECT_NEAR((Evaluated(scenario).time.optimizer - report.time.optimizer).base(),
              34 * shard / 50e9 - 34 * shard / 100e9, 1e-9);
  EXPECT_EQ(report.memory.optimizer, Bytes{});
}

}  // namespace
}  // namespace slipstick
