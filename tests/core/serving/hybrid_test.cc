// Recurrent layers: state, KV cache and weights of published hybrid models, and the growth of the step. Also context
// parallelism, KV-cache offload, and a prefill pool of other devices.
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

struct Hybrid {
  const char* model;
  double
      state_bytes;  // per sequence, fp32: layers x (heads x head width x key width + channels x (convolution - 1)) x 4
  double bytes_per_token;  // 16 bit, attention layers only
};
// From the models' published configurations.
constexpr Hybrid kHybrids[] = {
    {"nemotron-h-8b", 24.0 * (128 * 64 * 128 + 10240 * 3) * 4, 4.0 * 2 * 8 * 128 * 2},
    {"qwen3-next-80b-a3b", 36.0 * (32 * 128 * 128 + 8192 * 3) * 4, 12.0 * 2 * 2 * 256 * 2},
    {"kimi-linear-48b-a3b", 20.0 * (32 * 128 * 128 + 12288 * 3) * 4, 7.0 * 576 * 2},
    {"jamba-v0.1", 28.0 * (8192 * 16 + 8192 * 3) * 4, 4.0 * 2 * 8 * 128 * 2},
    {"minimax-text-01", 70.0 * (64 * 128 * 128) * 4, 10.0 * 2 * 8 * 128 * 2},
};
const std::vector<std::string> kLarge{"cluster=single-b300-sxm", "cluster.device.memory.capacity=4 TB",
                                      "serving.engine=ideal", "serving.batch=4"};

TEST(Hybrid, KeepsTheStateThatItsShapesSay) {
  for (const Hybrid& one : kHybrids) {
    const ServingReport report = Serve(kLarge + std::vector<std::string>{std::string("model=") + one.model});
    EXPECT_DOUBLE_EQ(report.state_per_sequence.base(), one.state_bytes) << one.model;
    EXPECT_DOUBLE_EQ(report.kv_cache_per_token.base(), one.bytes_per_token) << one.model;
    // Four sequences at 2048 + 256 tokens.
    EXPECT_NEAR(report.kv_cache.base() / (4 * (one.state_bytes + 2304 * one.bytes_per_token)), 1, 1e-9) << one.model;
    EXPECT_NEAR(
        In(Serve(kLarge + std::vector<std::string>{std::string("model=") + one.model, "serving.precision.state=bf16"})
               .state_per_sequence,
           kB) /
            (one.state_bytes / 2),
        1, 1e-12);
  }
}

TEST(Hybrid, HoldsTheWeightsOfItsCheckpoint) {
  // Published parameter counts, two bytes each; small tensors such as router biases are left out.
  const std::pair<const char*, double> published[] = {{"nemotron-h-8b", 8.10e9},
                                                      {"qwen3-next-80b-a3b", 79.67e9},
                                                      {"kimi-linear-48b-a3b", 49.12e9},
                                                      {"jamba-v0.1", 51.57e9},
                                                      {"minimax-text-01", 456.09e9}};
  for (const auto& [model, parameters] : published) {
    const ServingReport report = Serve(kLarge + std::vector<std::string>{std::string("model=") + model});
    EXPECT_NEAR(report.memory.weights.base() / (2 * parameters), 1, 0.005) << model;
  }
}

TEST(Hybrid, StepGrowsWithTheLayersThatAttendOnly) {
  const auto step = [](const char* linear, const char* prompt) {
    return Serve(kLarge + std::vector<std::string>{"model=llama-3.1-8b", std::string("model.linear.layers=") + linear,
                                                   "model.linear.heads=32", "model.linear.head_dim=128",
                                                   std::string("serving.prompt=") + prompt})
        .decode_step;
  };
  EXPECT_EQ(step("32", "1000"), step("32", "500000")) << "no layer attends";
  const Seconds half = step("16", "500000") - step("16", "250000"),
                quarter = step("24", "500000") - step("24", "250000");
  EXPECT_NEAR(half / quarter, 2, 1e-6);
  const ServingReport all = Serve(kLarge + std::vector<std::string>{"model=llama-3.1-8b", "model.linear.layers=32"});
  EXPECT_EQ(all.kv_cache_per_token.base(), 0);
  EXPECT_GE(all.max_context, 1'000'000'000) << "nothing grows";
}

// SGLang gives recurrent states 0.9 / 1.9 of what is left beside the weights, and 5 of them to a running request
// (kv_cache_configurator.py); the KV cache has the rest.
TEST(Hybrid, HasAPoolOfStatesUnderSglang) {
  const auto at = [](const std::vector<std::string>& more) {
    return Serve(std::vector<std::string>{"cluster=dgx-h200", "model=qwen3-next-80b-a3b", "serving.devices=2",
                                          "serving.mapping.tp=2", "serving.engine=sglang",
                                          "serving.engine.memory.share=0.85", "serving.concurrency=4000",
                                          "serving.precision.weights=bf16", "serving.precision.kv_cache=bf16"} +
                 more);
  };
  const ServingReport report = at({"serving.prompt=1000", "serving.output=1000"});
  const Bytes left = 0.85 * (report.memory.capacity - report.memory.workspace) - report.memory.weights;
  const double state = kHybrids[1].state_bytes / 2, states = std::floor(left.base() * 0.9 / 1.9 / state);
  EXPECT_EQ(report.max_batch, static_cast<Count>(states / 5));
  EXPECT_EQ(at({"serving.prompt=100", "serving.output=100"}).max_batch, report.max_batch);
  EXPECT_EQ(at({"serving.prompt=100", "serving.output=100", "serving.engine.memory.sequence_states=3"}).max_batch,
            static_cast<Count>(states / 3));
  // Drafts keep a state per token that a step verifies: 3 drafts and the token before them.
  EXPECT_EQ(at({"serving.prompt=100", "serving.output=100", "serving.speculative.draft_tokens=3",
                "serving.speculative.acceptance=0.7"})
                .max_batch,
            static_cast<Count>(states / 9));
  // Long prompts fill the KV pool first: one KV head of 256 per device in 12 layers, 16 bit.
  EXPECT_EQ(at({"serving.prompt=100000", "serving.output=2"}).max_batch,
            static_cast<Count>(left.base() / 1.9 / (12. * 2 * 256 * 2 * 100001)));
  EXPECT_EQ(report.max_context, static_cast<Count>(left.base() / 1.9 / (12. * 2 * 256 * 2)));
}

// Log of SGLang 0.5.19, Qwen3.5-27B in fp8 on one RTX 6000 Ada: "max_running_requests is capped to 9 by the mamba state
// cache (max_mamba_cache_size=47, 5 state slots per request)" (https://github.com/sgl-project/sglang/issues/38846).
TEST(Hybrid, RunsAsManyRequestsAsSglangLogs) {
  const ServingReport report =
      Serve({"cluster=single-rtx-6000-ada", "model=qwen3.6-27b", "serving.devices=1", "serving.engine=sglang",
             "serving.concurrency=32", "serving.prompt=2000", "serving.output=500", "serving.precision.weights=fp8",
             "serving.precision.activations=fp8"});
  EXPECT_NEAR(static_cast<double>(report.max_batch), 9, 1);
  EXPECT_GT(report.requests_waiting.base(), 20);
}

TEST(Hybrid, NamesTheFaultsOfItsShape) {
  const Result<Scenario> scenario = ScenarioOf(
      {"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "model.linear.layers=33", "model.linear.key_heads=5"});
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.issues.size(), 2U);
}

TEST(ContextParallel, SplitsWhatRanksWouldHoldTwice) {
  const auto at = [](const char* model, const char* tp, const char* cp, const char* prompt) {
    return Serve({"cluster=gb200-nvl72", std::string("model=") + model, "serving.engine=ideal", "serving.batch=1",
                  std::string("serving.devices=") + tp, std::string("serving.mapping.tp=") + tp,
                  std::string("serving.mapping.cp=") + cp, std::string("serving.prompt=") + prompt,
                  "serving.output=24"});
  };
  EXPECT_NEAR(at("llama-3.1-70b", "16", "1", "1000").kv_cache / at("llama-3.1-70b", "16", "2", "1000").kv_cache, 2,
              1e-9);
  EXPECT_NEAR(at("llama-3.1-70b", "8", "1", "1000").kv_cache / at("llama-3.1-70b", "8", "2", "1000").kv_cache, 1, 1e-9)
      << "one head a rank";
  EXPECT_NEAR(at("deepseek-v3", "8", "1", "1000").kv_cache / at("deepseek-v3", "8", "8", "1000").kv_cache, 8, 1e-9);
  EXPECT_LT(at("llama-3.1-70b", "16", "2", "2000000").decode_step,
            at("llama-3.1-70b", "16", "1", "2000000").decode_step);
  EXPECT_GT(at("llama-3.1-70b", "16", "2", "100").decode_step, at("llama-3.1-70b", "16", "1", "100").decode_step)
      << "its exchange costs";
  const Result<Scenario> wrong =
      ScenarioOf({"model=llama-3.1-70b", "cluster=dgx-h100", "serving.mapping.tp=8", "serving.mapping.cp=3"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.issues[0].path, "serving.mapping.cp");
}

TEST(Offload, HidesAsMuchAsTheStepLasts) {
  const std::vector<std::string> load{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.engine=vllm",
                                      "serving.prompt=8000", "serving.output=1000"};
  const ServingReport plain = Serve(load + std::vector<std::string>{"serving.batch=max"});
  const ServingReport fits =
      Serve(load + std::vector<std::string>{"serving.batch=8", "serving.kv_offload.bandwidth=63 GB/s"});
  EXPECT_EQ(fits.decode_step, Serve(load + std::vector<std::string>{"serving.batch=8"}).decode_step);
  EXPECT_EQ(fits.kv_offload.bytes, Bytes{});
  const ServingReport more =
      Serve(load + std::vector<std::string>{"serving.batch=max", "serving.kv_offload.capacity=200 GB"});
  EXPECT_GT(more.max_batch, 3 * plain.max_batch);
  EXPECT_GT(more.max_context, 3 * plain.max_context);
  EXPECT_TRUE(more.infeasible.empty());
  EXPECT_LE(more.memory.Total(), more.memory.capacity);
  const std::vector<std::string> most{"serving.batch=max", "serving.kv_offload.capacity=200 GB",
                                      "cluster.device.host.memory=100 GB"};
  const ServingReport small = Serve(load + most);
  EXPECT_TRUE(small.infeasible.empty());
  EXPECT_EQ(
      small.max_batch,
      Serve(load + std::vector<std::string>{"serving.batch=max", "serving.kv_offload.capacity=100 GB"}).max_batch);
  EXPECT_LT(small.max_batch, more.max_batch);
  // KV cache beyond the device memory crosses the link once per step, at 0.85 of 63 GB/s.
  const ServingReport full = Serve(load + std::vector<std::string>{"serving.batch=" + std::to_string(more.max_batch),
                                                                   "serving.kv_offload.capacity=200 GB"});
  EXPECT_NEAR(full.kv_offload.bytes / (0.85 * 63 * kGBps) / full.kv_offload.transfer, 1, 1e-9);
  EXPECT_GT(full.kv_offload.exposed, 0 * kS);
  EXPECT_LT(full.kv_offload.exposed, full.kv_offload.transfer);
  Seconds before = 1e9 * kS;
  for (const char* link : {"16 GB/s", "63 GB/s", "450 GB/s", "4000 GB/s"}) {
    const ServingReport report =
        Serve(load + std::vector<std::string>{"serving.batch=60", std::string("serving.kv_offload.bandwidth=") + link});
    EXPECT_LE(report.decode_step, before) << link;
    before = report.decode_step;
  }
}

TEST(TwoPools, MayBeOfDifferentDevices) {
  const std::vector<std::string> load{"cluster=dgx-h200",
                                      "model=llama-3.1-70b",
                                      "serving.engine=vllm",
                                      "serving.mapping.tp=4",
                                      "serving.prompt=4000",
                                      "serving.output=300",
                                      "serving.concurrency=8",
                                      "serving.disaggregated.prefill_devices=4",
                                      "serving.disaggregated.decode_devices=4"};
  const ServingReport same = Serve(load);
  const ServingReport named = Serve(load + std::vector<std::string>{"serving.disaggregated.prefill_device=h200-sxm"});
  const ServingReport slower = Serve(load + std::vector<std::string>{"serving.disaggregated.prefill_device=l40s"});
  EXPECT_EQ(same.prefill, named.prefill);
  EXPECT_LE(slower.tpot, same.tpot) << "more of the requests are in the prefill pool, fewer decode together";
  EXPECT_NEAR(same.tpot / same.decode_step, 1, 1e-9);
  EXPECT_NEAR(slower.tpot / slower.decode_step, 1, 1e-9);
  EXPECT_GT(slower.prefill, 2 * same.prefill);
  const ServingReport split = Serve(load + std::vector<std::string>{"serving.disaggregated.prefill_mapping.tp=2"});
  EXPECT_GT(split.prefill, 1.5 * same.prefill);
  EXPECT_LE(split.requests_per_s, same.requests_per_s);
  const ServingReport small = Serve(load + std::vector<std::string>{"serving.disaggregated.prefill_device=l4"});
  ASSERT_FALSE(small.infeasible.empty());
  EXPECT_NE(small.infeasible[0].message.find("prefill pool"), std::string::npos);
}

}  // namespace
}  // namespace slipstick
