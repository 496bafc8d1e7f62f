// Memory of fine-tuning adapters next to frozen weights.
#include "core/training/memory.h"
#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

// 6.74 B frozen parameters in 16 bits are 13.48 GB, whatever state the framework keeps for trained weights. torchtune
// fine-tunes so on 24 GB (Llama-3-8B with 16.1 GB of weights peaks at 17.4 GB). Adapters of rank 16 on q, k, v and the
// output have 12.6 M parameters.
TEST(LoraMemory, KeepsFrozenWeightsInTheComputePrecision) {
  const double adapters = 16.0 * 32 * (4096 + 12288 + 8192), frozen = 2.0 * 6738415616;
  struct Row {
    const char* framework;
    double adapter_bytes;  // with master copies, or as masters themselves
  };
  for (const Row& row : {Row{"fsdp", 4}, Row{"fsdp-eager", 4}, Row{"xla", 4}, Row{"composer", 4}, Row{"megatron", 2}}) {
    const TrainingReport report = Evaluated(
        TrainingScenario(R"({"preset": "llama-2-7b"})", R"({"preset": "single-rtx-4090"})",
                         R"({"sequence": 512, "global_batch": 1, "trainable": "lora", "framework": {"preset": ")" +
                             std::string(row.framework) + R"(", "lora_rank": 16}})"));
    EXPECT_DOUBLE_EQ(report.memory.weights.base(), frozen + row.adapter_bytes * adapters) << row.framework;
  }
  for (const char* framework : {"fsdp", "megatron"}) {
    const TrainingReport report = Evaluated(TrainingScenario(
        R"({"preset": "llama-2-7b"})", R"({"preset": "single-rtx-4090"})",
        R"({"sequence": 512, "global_batch": 1, "trainable": "lora", "recompute": "full", "framework": {"preset": ")" +
            std::string(framework) + R"("}})"));
    EXPECT_TRUE(report.infeasible.empty()) << framework;
    EXPECT_GT(report.memory.Total(), 14 * kGB) << framework;
    EXPECT_LT(report.memory.Total(), 17.5 * kGB) << framework;
  }
}

// With adapters on all projections each of the 32 layers has 16 · (4096 + 22016) more weights at gate and up and 16 ·
// (11008 + 4096) at down, and keeps the inputs of both, 2 · (4096 + 11008) bytes per token.
TEST(LoraMemory, OfAdaptersOnAllProjections) {
  const auto report = [](const char* targets) {
    return Evaluated(TrainingScenario(R"({"preset": "llama-2-7b"})", R"({"preset": "single-a100-sxm4-80gb"})",
                                      std::string(R"({"sequence": 512, "global_batch": 1, "trainable": "lora",
                                          "framework": {"preset": "fsdp-eager", "lora_rank": 16, "lora_targets": ")") +
                                          targets + R"("}})"));
  };
  const TrainingReport attention = report("attention"), all = report("all");
  const double adapters = 16.0 * 32 * (4096 + 22016 + 11008 + 4096);
  EXPECT_NEAR((all.memory.weights - attention.memory.weights).base(), 4 * adapters, 1);
  EXPECT_NEAR((all.memory.optimizer - attention.memory.optimizer).base(), 8 * adapters, 1);
  EXPECT_NEAR((all.memory.activations - attention.memory.activations).base(), 512.0 * 32 * 2 * (4096 + 11008), 1);
  EXPECT_NEAR((all.model_flops_per_step - attention.model_flops_per_step).base(), 512 * 6 * adapters, 1e6);
  EXPECT_GT(all.step_time, attention.step_time);
}

// The activation keeps two inputs of 2 bytes in a gated MLP and one in a plain MLP, plus its output if an adapter reads
// it.
TEST(LoraMemory, KeepsLessOfAPlainMlp) {
  const auto kept = [](const char* gated, const char* targets) {
    return Evaluated(
               TrainingScenario(
                   std::string(R"({"layers": 8, "hidden": 1024, "heads": 16, "ffn": 4096, "vocab": 32000, "gated": )") +
                       gated + "}",
                   R"({"preset": "single-a100-sxm4-80gb"})",
                   std::string(R"({"sequence": 512, "global_batch": 1, "trainable": "lora",
                             "framework": {"preset": "fsdp-eager", "lora_targets": ")") +
                       targets + R"("}})"))
        .memory.activations.base();
  };
  const double inner = 512.0 * 8 * 4096;
  for (const char* targets : {"attention", "all"})
    EXPECT_NEAR(kept("true", targets) - kept("false", targets), 2 * inner, 1) << targets;
  EXPECT_NEAR(kept("false", "all") - kept("false", "attention"), 2 * inner + 2 * 512.0 * 8 * 1024, 1);
}

// Routed experts get no adapters, so without shared experts nothing more is kept.
TEST(LoraMemory, OfLayersWithoutAnMlpIsThatOfAttention) {
  const auto kept = [](const char* model, const char* targets) {
    return Evaluated(
               TrainingScenario(
                   std::string(R"({"preset": ")") + model + R"("})", R"({"preset": "dgx-h100", "devices": 8})",
                   std::string(R"({"sequence": 512, "global_batch": 8, "trainable": "lora", "mapping": {"zero": 3},
                                          "framework": {"preset": "fsdp-eager", "lora_targets": ")") +
                       targets + R"("}})"))
        .memory.activations;
  };
  EXPECT_EQ(kept("mixtral-8x7b", "all"), kept("mixtral-8x7b", "attention"));
  EXPECT_GT(kept("qwen2-57b-a14b", "all"), kept("qwen2-57b-a14b", "attention"));
}

// QLoRA (Dettmers et al. 2023): NF4 with double quantization takes 4.127 bits per parameter of the layers; embedding,
// head and adapters stay in 16 bits. A 65-billion model of Llama's shape is fine-tuned on one GPU of 48 GB that cannot
// hold its 130 GB in 16 bits.
TEST(LoraMemory, OfQuantizedWeightsFitsA65BillionModelOn48GB) {
  const std::string llama_65b = R"({"layers": 80, "hidden": 8192, "heads": 64, "ffn": 22016, "vocab": 32000})";
  const std::string training =
      R"({"sequence": 512, "global_batch": 16, "trainable": "lora", "recompute": "full", "optimizer": "adam8bit",
                                   "framework": {"preset": "fsdp-eager", "lora_rank": 64})";
  const TrainingReport plain = Evaluated(TrainingScenario(llama_65b, R"({"preset": "single-a6000"})", training + "}"));
  EXPECT_FALSE(plain.infeasible.empty());
  const TrainingReport report = Evaluated(
      TrainingScenario(llama_65b, R"({"preset": "single-a6000"})", training + R"(, "frozen_precision": "nf4"})"));
  EXPECT_TRUE(report.infeasible.empty());
  const double layer = 4.0 * 8192 * 8192 + 3.0 * 8192 * 22016 + 2 * 8192, tables = 2.0 * 32000 * 8192,
               bits = 4 + (8 + 32 / 256.) / 64;
  const double adapters = 64.0 * 80 * (8192 + 3 * 8192 + 8192 + 8192);
  EXPECT_NEAR(bits, 4.127, 5e-4);
  EXPECT_NEAR(report.memory.weights.base(), (80 * layer + 8192) * bits / 8 + 2 * tables + 4 * adapters, 1e5);
  // Every pass of a layer (forward, recomputation, backward of 16 sequences) unpacks its weights: 0.516 bytes are read
  // and 2 written, at most at the memory's 768 GB/s.
  const double least = 16 * 3 * 80 * layer * (bits / 8 + 2) / 768e9;
  EXPECT_GT((report.step_time - plain.step_time).base(), least);
  EXPECT_LT((report.step_time - plain.step_time).base(), 1.3 * least);
}

// Under ZeRO 3 frozen weights cross the links as they are stored: 4.127 bits per weight of a layer in nf4, not 16. The
// table stays in 16 bits, and only adapters are reduced. (Two 24 GB cards on PCIe train a 34-billion model so:
// AnswerDotAI/fsdp_qlora, benchmarks of March 2024.)
TEST(LoraLinks, CarryQuantizedWeightsAsTheyAreStored) {
  const std::string cluster = R"({"preset": "pcie-server", "devices": 2, "device": {"preset": "rtx-4090"}})";
  const std::string training = R"({"sequence": 2048, "global_batch": 4, "trainable": "lora", "recompute": "full",
                                   "framework": {"preset": "fsdp-eager", "lora_rank": 64}, "mapping": {"zero": 3, "micro_batch": 2})";
  const TrainingReport plain = Evaluated(TrainingScenario(R"({"preset": "yi-34b"})", cluster, training + "}"));
  const TrainingReport packed =
      Evaluated(TrainingScenario(R"({"preset": "yi-34b"})", cluster, training + R"(, "frozen_precision": "nf4"})"));
  const double layers = 60 * (7168. * 7168 * 2 + 7168. * 1024 * 2 + 3. * 7168 * 20480), table = 64000. * 7168,
               share = 4.127 / 16;
  // gathered forward and backward; the table once
  const double expected = (2 * layers * share + table) / (2 * layers + table);
  EXPECT_NEAR(packed.communication.dp / plain.communication.dp, expected, 0.02);
}

// A layer of Yi 34B has 558 M weights. Two gathered layers hold 4.127 bits per weight in nf4, where they are computed
// in 16.
TEST(LoraMemory, GathersLayersAsTheyAreStored) {
  const auto workspace = [](const char* frozen) {
    return Evaluated(
               TrainingScenario(
                   R"({"preset": "yi-34b"})",
                   R"({"preset": "pcie-server", "devices": 2, "device": {"preset": "rtx-4090"}})",
                   std::string(
                       R"({"sequence": 2048, "global_batch": 4, "trainable": "lora", "recompute": "full", "frozen_precision": ")") +
                       frozen +
                       R"(", "framework": {"preset": "fsdp-eager", "memory": {"gathered_layers": 2}}, "mapping": {"zero": 3}})"))
        .memory.workspace.base();
  };
  const double layer = 7168. * 7168 * 2 + 7168. * 1024 * 2 + 3. * 7168 * 20480 + 2 * 7168,
               bits = 4 + (8 + 32 / 256.) / 64;
  EXPECT_NEAR((workspace("bf16") - workspace("nf4")) / (2 * layer * (2 - bits / 8)), 1, 1e-6);
}

// A kernel that unpacks with branches takes 120 operations per weight. At 19.5 TFLOP/s an A100 unpacks 163 billion
// weights per second, fewer than the 618 billion that its memory reads and writes at 2.52 bytes; an RTX 4090 688
// billion, more than its memory's 400 billion.
TEST(LoraTime, OfUnpackingIsBoundByArithmeticOrMemory) {
  const auto unpacked = [](const char* cluster, const char* operations) {
    const auto step = [&](const char* frozen) {
      return Evaluated(
                 TrainingScenario(
                     R"({"preset": "llama-2-7b"})", std::string(R"({"preset": ")") + cluster + R"("})",
                     std::string(R"({"sequence": 2048, "global_batch": 1, "trainable": "lora", "recompute": "full",
                                          "framework": {"preset": "fsdp", "compute": {"unpack_operations": )") +
                         operations + R"(, "layer_launch": 0}}, "frozen_precision": ")" + frozen + R"("})"))
          .step_time.base();
    };
    return step("nf4") - step("bf16");
  };
  const double weights = 3 * 32 * (4. * 4096 * 4096 + 3. * 4096 * 11008);  // forward, recomputation, backward
  EXPECT_NEAR(unpacked("single-a100-sxm4-40gb", "120") / (weights * 120 / 19.5e12), 1, 0.02);
  EXPECT_DOUBLE_EQ(unpacked("single-rtx-4090", "120"), unpacked("single-rtx-4090", "0"));
}

// Llama-3.1-8B with adapters on all projections (QKV is one product, gate with up another): rank 1,000 adds
// 1,000·(10240 + 8192 + 32768 + 18432) weights to each of 32 layers, 2.23 G in total. Under full recomputation each
// takes 8 FLOPs per token: 1.17e15 per device with 65,536 tokens, 1.2 s at the peak of 989 TFLOP/s and 2 s at 0.6 of
// it. The memory traffic of rank 1, about 0.5 s, does not grow.
TEST(LoraTime, GrowsWithTheRank) {
  const auto step = [](int rank) {
    return Evaluated(
               TrainingScenario(R"({"preset": "llama-3.1-8b"})", R"({"preset": "dgx-h100", "devices": 8})",
                                R"({"sequence": 8192, "global_batch": 64, "trainable": "lora", "recompute": "full",
                                          "framework": {"preset": "fsdp", "lora_targets": "all", "lora_rank": )" +
                                    std::to_string(rank) + R"(}, "mapping": {"zero": 3}})"))
        .step_time;
  };
  const Seconds one = step(1), thousand = step(1000);
  EXPECT_GT(thousand - one, 0.6 * kS);
  EXPECT_LT(thousand - one, 2 * kS);
  EXPECT_LT(step(16), 1.05 * one);
  Seconds before;
  for (const int rank : {1, 4, 8, 16, 32, 64, 128, 256, 512, 1000}) {
    const Seconds now = step(rank);
    EXPECT_GE(now, before) << rank;
    before = now;
  }
}

}  // namespace
}  // namespace slipstick
