// Offload to host memory: bytes by hand, overlap with compute, exposed time at most link time.
#include "core/training/memory.h"
#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

Scenario Small() {
  return TrainingScenario(R"({"preset": "llama-3.1-8b"})", R"({"preset": "dgx-h100", "devices": 8})",
                          R"({"sequence": 4096, "global_batch": 64, "framework": {"preset": "ideal"}, "mapping": {"zero": 1}})");
}

// Adam's state is 12 bytes per parameter, an eighth of 8,030,261,248 on each rank; PCIe 5.0 carries 64 GB/s each way.
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

TEST(Offload, ActivationsTravelBehindThePasses) {
  Scenario scenario = Small();
  const TrainingReport plain = Evaluated(scenario);
  scenario.training->offload.activations = 0.5;
  const TrainingReport report = Evaluated(scenario);
  // Flash attention, gated: 8h + 2·2d(a + n_kv) + 4a + 6f bytes per token; half of 32 layers, out and back, for 8 micro-batches.
  const double layer = 4096.0 * (8 * 4096 + 4 * 128 * (32 + 8) + 4 * 32 + 6 * 14336);
  EXPECT_NEAR(report.communication.offload.base(), 8 * 32 * 2 * 0.5 * layer / 64e9, 1e-9);
  EXPECT_NEAR(report.memory.host.base(), 0.5 * 32 * layer, 1);
  EXPECT_NEAR((plain.memory.activations - report.memory.activations).base(), (0.5 * 32 - 1) * layer, 1);
  EXPECT_LT(report.time.offload, report.communication.offload);
}

TEST(Offload, ShowsNothingBehindAFastLinkAndAllButThePassesBehindASlowOne) {
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
      Scenario scenario = TrainingScenario(Gpt(4 * layers_a_stage, 4096, 32), R"({"preset": "dgx-a100", "devices": 8})",
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

}  // namespace
}  // namespace slipstick
