// Memory of runs under nanotron and InternEvo: published readings, and the effect of each of their terms.
#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

// Megatron-LM gathers the inputs of its products again in the backward pass (Korthikanti et al. 2022, 4.2.2); nanotron
// keeps them unless tp_recompute_allgather is set. Two of its readings on H100 differ in nothing else on record: 14.56
// and 24.99 GiB reserved (28 layers of 3,072, TP 16, eight sequences of 4,096; the Ultra-Scale Playbook's sweeps).
TEST(TrainingMemory, OfGatheredInputsIsThatOfAllRanksTokens) {
  const auto total = [](const char* framework) {
    return Evaluated(TrainingScenario(
                         R"({"layers": 28, "hidden": 3072, "heads": 32, "kv_heads": 32, "ffn": 8192, "gated": true,
                                          "vocab": 131072, "tied_embeddings": true})",
                         R"({"preset": "dgx-h100", "devices": 128})",
                         R"({"sequence": 4096, "global_batch": 256, "precision": "bf16", "recompute": "none",
                                          "flash_attention": true, "mapping": {"tp": 16, "micro_batch": 8, "zero": 0,
                                          "sequence_parallel": true}, "framework": )" +
                             std::string(framework) + "}"))
               .memory.Total() /
           (1 * kGiB);
  };
  const double again = total(R"({"preset": "nanotron"})"),
               kept = total(R"({"preset": "nanotron", "memory": {"gathered": 4}})");
  EXPECT_NEAR(kept - again, 28 * 4 * 3072 * 8. * 4096 * 15 / 16 / (1 << 30), 1e-9);
  EXPECT_NEAR(again / 14.56, 1, 0.05);
  EXPECT_NEAR(kept / 24.99, 1, 0.05);
}

// PyTorch frees gradients after the update, so one micro-batch on one device allocates its logits while no gradients
// exist. Its reserved memory holds both: 28.6 and 35.2 GB of Llama-3.2-1B (tests/validation/hopper/h100.csv).
double InGb(int global_batch, const char* more) {
  const TrainingReport report = Evaluated(
      TrainingScenario(R"({"preset": "qwen3-8b"})", R"({"preset": "single-b300-sxm"})",
                       R"({"sequence": 16384, "global_batch": )" + std::to_string(global_batch) +
                           R"(, "recompute": "full", "mapping": {"micro_batch": 1},
              "framework": {"preset": "fsdp-eager", "memory": {"frees_gradients": true}}, )" +
                           more + R"("state": {"master_weights": "none", "moments": "bf16", "gradients": "bf16"}})"));
  return report.memory.Total().base() / 1e9;
}

TEST(TrainingMemory, AllocatedByOneMicroBatchHoldsNoGradientsBesideTheLogits) {
  // b300 of tests/validation/training_runs.csv. In units of the measured 84.4 GB, gradients would add 0.19. The
  // tolerance covers 0.02 that PyTorch reserves beyond its allocations, and 0.06 for the 16-bit copy of the logits,
  // which this run seems not to hold.
  EXPECT_NEAR(InGb(1, "") / 84.4, 1, 0.08);
  // With several micro-batches the gradients accumulate: 2 bytes for each of 8.19 billion weights.
  EXPECT_GT(InGb(2, "") - InGb(1, ""), 16.38);
}

// With few logits the peak is at the end of the backward pass: all gradients, and the working set of one layer.
TEST(TrainingMemory, OfAChunkedLossHoldsTheLogitsOfOneChunk) {
  const double logits = 14 * 16384. * 151936 / 1e9;
  EXPECT_NEAR(InGb(2, "") - InGb(2, R"("loss_chunks": 8, )"), logits * 7 / 8, 0.01);
  EXPECT_GT(InGb(1, R"("loss_chunks": 8, )"), 4 * 16.38);
  EXPECT_LT(InGb(1, ""), InGb(1, R"("loss_chunks": 8, )") + logits * 7 / 8);
}

// Transformer Engine's loss writes the 16-bit gradient over the logits: 2 bytes in place of Megatron-Core's 8. The models
// of transformers hand the loss an fp32 copy, over which Liger's kernel writes the gradient: with the logits and the
// gradient in 16 bits 8 bytes, in place of 14.
TEST(TrainingMemory, OfALossInPlaceHoldsTheLogitsOnceAndAnFp32CopyWhereTheModelMakesOne) {
  const double logits = 16384. * 151936 / 1e9;
  EXPECT_NEAR(InGb(2, "") - InGb(2, R"("loss_in_place": true, )"), 6 * logits, 0.01);
  const auto megatron = [](const char* in_place) {
    return Evaluated(TrainingScenario(R"({"preset": "qwen3-8b"})", R"({"preset": "single-b300-sxm"})",
                                      R"({"sequence": 16384, "global_batch": 2, "recompute": "full",
                                          "mapping": {"micro_batch": 1}, "framework": {"preset": "megatron"},
                                          "loss_in_place": )" +
                                          std::string(in_place) + "}"))
               .memory.Total()
               .base() /
           1e9;
  };
  EXPECT_NEAR(megatron("false") - megatron("true"), 6 * logits, 0.01);
}

// Readings of the Ultra-Scale Playbook's sweep: GiB reserved by PyTorch.
struct NanotronReading {
  const char *model, *mapping;
  int devices;
  double gib;
};
constexpr const char* kSmallModel =
    R"({"layers": 28, "hidden": 3072, "heads": 32, "kv_heads": 32, "ffn": 8192, "gated": true, "vocab": 131072, "tied_embeddings": true})";
constexpr const char* kLargeModel =
    R"({"layers": 80, "hidden": 8192, "heads": 64, "kv_heads": 64, "ffn": 28672, "gated": true, "vocab": 131072, "tied_embeddings": false})";
const NanotronReading kNanotronReadings[] = {
    {kSmallModel, R"("tp": 2, "pp": 1, "zero": 0, "sequence_parallel": true)", 32, 45.35},
    {kSmallModel, R"("tp": 1, "pp": 2, "zero": 0, "sequence_parallel": false)", 64, 59.62},
    {kLargeModel, R"("tp": 32, "pp": 1, "zero": 0, "sequence_parallel": true)", 128, 56.12},
    {kSmallModel, R"("tp": 1, "pp": 1, "zero": 1, "sequence_parallel": false)", 16, 49.15},
    {kSmallModel, R"("tp": 2, "pp": 1, "zero": 1, "sequence_parallel": true)", 32, 25.19},
    {kSmallModel, R"("tp": 2, "pp": 2, "zero": 1, "sequence_parallel": true)", 512, 17.05},
};

Scenario Nanotron(const NanotronReading& reading, const std::string& memory = "{}") {
  return TrainingScenario(reading.model,
                          R"({"preset": "dgx-h100", "devices": )" + std::to_string(reading.devices) + "}",
                          R"({"sequence": 4096, "global_batch": 256, "precision": "bf16", "recompute": "none",
                              "framework": {"preset": "nanotron", "memory": )" +
                              memory + R"(}, "mapping": {"micro_batch": 1, )" + reading.mapping + "}}");
}

TEST(TrainingMemory, OfNanotronIsWhatPyTorchReservedWithAndWithoutZero) {
  for (const NanotronReading& reading : kNanotronReadings) {
    EXPECT_NEAR(Evaluated(Nanotron(reading)).memory.Total().base() / kGiB.factor / reading.gib, 1, 0.055)
        << reading.mapping;
  }
}

TEST(TrainingMemory, LendsActivationsTheRoomOfAShardedOptimizersGradients) {
  const NanotronReading& reading = kNanotronReadings[4];
  const TrainingMemory lent = Evaluated(Nanotron(reading)).memory;
  const TrainingMemory none = Evaluated(Nanotron(reading, R"({"sharded_gradients": 0})")).memory;
  // 28 layers of 4h2 + 3hf + 2h, the table of 131,072 rows and the last norm; each of two TP ranks has half of each
  // product.
  const double h = 3072, parameters = (28 * (4 * h * h + 3 * h * 8192) + 131072 * h) / 2 + 57 * h;
  EXPECT_NEAR((lent.gradients - none.gradients).base(), 2 * parameters, 1);
  EXPECT_NEAR((none.activations - lent.activations).base(), 2 * parameters, 1);
  EXPECT_NEAR(lent.Total() / none.Total(), 1, 1e-12);
  // Activations smaller than the gradients leave the rest of their memory empty.
  const TrainingMemory all = Evaluated(Nanotron(reading, R"({"sharded_gradients": 16})")).memory;
  EXPECT_EQ(all.activations, Bytes{});
}

TEST(TrainingMemory, OfTheUpdateIsPerUpdatedParameter) {
  const NanotronReading& whole = kNanotronReadings[0];
  const TrainingMemory with = Evaluated(Nanotron(whole)).memory,
                       without = Evaluated(Nanotron(whole, R"({"update": 0})")).memory;
  EXPECT_NEAR((with.workspace - without.workspace) / with.weights, 1, 1e-9);  // 2 bytes, as for the weights
  // Under ZeRO 1 nanotron keeps those 2 bytes between steps. With 10 bytes in place of 2, 8 are added, divided by 16
  // replicas.
  const NanotronReading& sharded = kNanotronReadings[4];
  const TrainingMemory ten = Evaluated(Nanotron(sharded, R"({"update": 10})")).memory,
                       two = Evaluated(Nanotron(sharded)).memory;
  EXPECT_NEAR((ten.workspace - two.workspace) / two.weights, 4.0 / 16, 1e-9);
}

TEST(TrainingMemory, LeavesRoomForWhatTheAllocatorCannotReserve) {
  // The largest reservation of 1,272 runs on 80 GB devices is 76.93 GiB.
  const double most = Evaluated(Nanotron(kNanotronReadings[0])).memory.capacity.base() / kGiB.factor;
  EXPECT_GE(most, 76.9);
  EXPECT_LE(most, 77.5);
  const double plain =
      Evaluated(Nanotron(kNanotronReadings[0], R"({"outside": "0 GiB"})")).memory.capacity.base() / kGiB.factor;
  EXPECT_NEAR(plain - most, 2.3, 1e-9);
}

TEST(TrainingMemory, OfInternEvoIsWhatItsTableSays) {
  // InternLM/InternEvo, doc/en/train_performance.md: 7B on 3 to 6 A800, everything sharded, sequences of 2,048.
  const std::pair<int, double> readings[] = {{3, 72e9}, {4, 56e9}, {5, 49e9}, {6, 39e9}};
  for (const auto& [devices, bytes] : readings) {
    const TrainingReport report = Evaluated(TrainingScenario(
        R"({"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 32, "ffn": 11008, "gated": true, "vocab": 103168})",
        R"({"preset": "dgx-a100", "devices": )" + std::to_string(devices) + "}",
        R"({"sequence": 2048, "global_batch": )" + std::to_string(4 * devices) +
            R"(, "precision": "bf16", "recompute": "full", "framework": {"preset": "internevo"}, "mapping": {"micro_batch": 1, "zero": 3}})"));
    EXPECT_NEAR(report.memory.Total().base() / bytes, 1, 0.13) << devices;
  }
}

}  // namespace
}  // namespace slipstick
