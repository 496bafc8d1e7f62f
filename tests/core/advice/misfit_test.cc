// Advice on scenarios that do not fit into memory.
#include "tests/core/advice/advised.h"

namespace slipstick {
namespace {

TEST(Advice, AScenarioThatDoesNotFitIsRepairedFirst) {
  for (const Asked& asked : AskedScenarios()) {
    const Json advice = Advised(asked.scenario, asked.question);
    if (advice["feasible"] == true) continue;
    SCOPED_TRACE(asked.name);
    ASSERT_FALSE(advice["changes"].empty());
    EXPECT_EQ(ReportOf(asked.scenario, advice["changes"][0]["overrides"])[TextOf(advice["for"])]["feasible"], true);
  }
}

TEST(Advice, BuysNothingWhereASettingMakesItFit) {
  // LoRA of a 7B model fits 24 GB with full recomputation (published), so no purchase is proposed.
  const Assignments lora{"model=llama-2-7b", "cluster=single-rtx-4090", "training.trainable=lora"};
  const Json fitted = Advised(lora, {{"top", 100}});
  ASSERT_NE(Find(fitted["changes"], "recompute.full"), nullptr);
  for (const Json& change : fitted["changes"]) EXPECT_NE(change["needs"], "purchase") << TextOf(change["id"]);
  EXPECT_EQ((*Find(fitted["changes"], TextOf(fitted["without_purchase"])))["needs"], "settings");
  // DeepSeek-V3 has 671e9 parameters. At 16 or more bytes each, full training fits neither 8 nor 64 H100 (5.1 TB).
  const Json large = Advised({"model=deepseek-v3", "cluster=dgx-h100", "cluster.devices=8"}, {{"top", 100}});
  ASSERT_FALSE(large["changes"].empty());
  EXPECT_GT(large["changes"][0]["overrides"]["cluster.devices"].get<Count>(), 64);
  EXPECT_EQ(large["changes"][0]["needs"], "purchase");
  // Adapters are other work, so they are proposed only where nothing else helps.
  EXPECT_NE(Find(large["changes"], "trainable.qlora"), nullptr);
  EXPECT_EQ(
      Find(Advised({"model=llama-3.1-405b", "cluster.devices=16384"}, {{"top", 100}})["changes"], "trainable.lora"),
      nullptr);
}

TEST(Advice, FourBitWeightsServeAModelThatOtherwiseDoesNotFit) {
  // 32.8e9 parameters at 4.85 bits (Q4_K_M) are 19.9 GB; in fp8 they are 32.8 GB, and a GeForce RTX 4090 has 24.
  const Json advice = Advised({"version=3", "model=qwen3-32b", "cluster=single-rtx-4090", "training=null"},
                              {{"for", "serving"}, {"top", 100}});
  EXPECT_EQ(advice["feasible"], false);
  ASSERT_EQ(advice["without_purchase"], "weights.int4");
  const Json& change = *Find(advice["changes"], "weights.int4");
  EXPECT_EQ(Find(advice["changes"], "weights.int4_few"), nullptr);  // the request states no batch: as many as fit run
  EXPECT_GE(change["figures"]["serving.requests_in_flight"].get<double>(), 1);
  EXPECT_LT(change["figures"]["serving.memory_bytes.total"].get<double>(), 24 * 1.073741824e9);
  const std::string message = TextOf(ReportOf({"version=3", "model=qwen3-32b", "cluster=single-rtx-4090",
                                               "training=null"})["serving"]["infeasible"][0]["message"]);
  EXPECT_TRUE(message.starts_with("Out of memory: the weights alone need 31.96 GiB of 23.52 GiB per device"))
      << message;
  EXPECT_TRUE(message.ends_with("use 4-bit weights, a smaller model or more devices")) << message;
  // 671e9 parameters take 407 GB at 4.85 bits: no format fits them into the 24 GB of an RTX 3090.
  const std::string none = TextOf(ReportOf({"version=3", "model=deepseek-v3", "cluster=single-rtx-3090",
                                            "training=null"})["serving"]["infeasible"][0]["message"]);
  EXPECT_TRUE(none.ends_with("; use a smaller model or more devices")) << none;
  // The engine reserves memory for its largest step. Beside a long prompt its KV cache fits in fp8 only, beside a longer
  // one only llama.cpp leaves room.
  const auto without_purchase = [](const char* prompt) {
    return Advised({"version=3", "model=qwen3-32b", "cluster=single-rtx-4090", "training=null",
                    std::string("serving.prompt=") + prompt, "serving.concurrency=1"},
                   {{"for", "serving"}, {"top", 100}})["without_purchase"];
  };
  EXPECT_EQ(without_purchase("8k"), "weights.int4_kv_fp8");
  EXPECT_EQ(without_purchase("16k"), "weights.q4_k_m");
  // The other choice is a smaller model: the publisher's largest that is no older and, at 8 bits, leaves room for a KV
  // cache.
  EXPECT_EQ(advice["changes"].back()["id"], "model.qwen3-14b");
  EXPECT_EQ(advice["changes"].back()["needs"], "other_work");
  // No other engine is proposed where a setting is enough.
  EXPECT_EQ(
      Find(Advised({"version=3", "training=null"}, {{"for", "serving"}, {"top", 100}})["changes"], "weights.q4_k_m"),
      nullptr);
}

// Llama-3.3-70B in int4 has 70.55e9 x 4.25 bits = 37.5 GB of weights and more for its embedding and LM head in 16 bits:
// one RTX 5090 of 32 GB cannot hold them, two can. In fp8 it takes four.
TEST(Advice, TwoChangesThatOnlyFitTogetherAreProposed) {
  const Json changes =
      Advised({"version=3", "training=null", "model=llama-3.3-70b", "cluster=single-rtx-5090", "serving.concurrency=1"},
              {{"for", "serving"}})["changes"];
  EXPECT_EQ(Find(changes, "weights.int4"), nullptr);
  EXPECT_EQ(Find(changes, "devices.x2"), nullptr);
  EXPECT_EQ(changes[0]["id"], "devices_int4.x2");
  ASSERT_NE(Find(changes, "devices.x4"), nullptr);
}

TEST(Advice, FineTuningIsProposedWhereACardCannotHoldPreTraining) {
  // 8.03e9 parameters at 18 bytes of weights, gradients and optimizer state are 145 GB; frozen at 4 bits they are 4 GB.
  const Assignments scenario{"version=3", "model=llama-3.1-8b", "cluster=single-rtx-4090", "serving=null"};
  const Json advice = Advised(scenario, {{"top", 100}});
  EXPECT_EQ(advice["feasible"], false);
  EXPECT_EQ(advice["without_purchase"], "trainable.qlora");
  // 100 M tokens at 6 × 8e9 FLOP are 4.8e18 FLOP: eight hours at 165 TFLOP/s.
  EXPECT_LT(Number(*Find(advice["changes"], "trainable.qlora"), "figures.training.time_to_train_s"), 30 * 3600.0);
  const std::string message = TextOf(ReportOf(scenario)["training"]["infeasible"][0]["message"]);
  EXPECT_NE(message.find("fine-tune with QLoRA, choose a smaller model or add devices"), std::string::npos) << message;
}

}  // namespace
}  // namespace slipstick
