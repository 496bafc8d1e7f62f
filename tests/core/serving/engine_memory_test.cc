// KV-cache pools of engines against their start-up logs, in GiB or tokens as printed there.
#include "core/base/units.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

const std::vector<std::string> kLoad{"serving.batch=1", "serving.prompt=1024", "serving.output=16"};

// Memory of the KV cache for models without sliding windows or recurrent states.
double PoolGib(const ServingReport& report, double tp) {
  return In(static_cast<double>(report.max_context) * report.kv_cache_per_token * (1 * kToken), kGiB) / tp;
}

struct PoolCase {
  std::string model;
  int tp;
  std::string weights;
  double gib;
};

// vLLM 0.18 and 0.19 on H100 with 79.19 GiB, gpu_memory_utilization 0.95, 8,192 tokens per step. Qwen2.5-72B leaves 3
// of 158 GiB, so the memory other than weights and pool is right to 0.1 GiB.
TEST(EngineMemory, PoolsOfVllmAreThoseOfItsLogs) {
  const PoolCase cases[] = {{"llama-3.1-8b", 1, "bf16", 58.11}, {"qwen3-8b", 1, "bf16", 57.51},
                            {"qwen3-14b", 1, "bf16", 45.23},    {"llama-3.1-8b", 2, "bf16", 63.76},
                            {"llama-3.3-70b", 2, "fp8", 37.28}, {"mixtral-8x7b", 2, "bf16", 28.45},
                            {"qwen2.5-72b", 2, "bf16", 3.05}};
  for (const PoolCase& one : cases) {
    const std::string tp = std::to_string(one.tp);
    const ServingReport report =
        Serve(kLoad + std::vector<std::string>{"model=" + one.model, "cluster=dgx-h100", "serving.engine=vllm",
                                               "serving.engine.memory.share=0.95", "serving.prefill_chunk=8192",
                                               "serving.devices=" + tp, "serving.mapping.tp=" + tp,
                                               "serving.precision.weights=" + one.weights});
    EXPECT_NEAR(PoolGib(report, one.tp), one.gib, 0.3) << one.model << " on " << tp;
    EXPECT_TRUE(report.infeasible.empty()) << one.model;
  }
}

// By default a vLLM step has 2,048 tokens of 256 sequences on devices below 70 GiB and on every A100. Logs: 19.92 GiB
// on an A100 of 40 GB (2026), 5.05 on an RTX 4090 (0.19), and 37.42 for Qwen3-0.6B on an L40S (0.12, whose sampler took
// 0.8 GiB more).
TEST(EngineMemory, SmallDevicesProfileASmallStep) {
  const auto pool = [](const char* model, const char* device) {
    return PoolGib(
        Serve(kLoad + std::vector<std::string>{std::string("model=") + model, std::string("cluster=single-") + device,
                                               "serving.engine=vllm"}),
        1);
  };
  EXPECT_NEAR(pool("llama-3.1-8b", "a100-sxm4-40gb"), 19.92, 0.4);
  EXPECT_NEAR(pool("llama-3.1-8b", "rtx-4090"), 5.05, 0.4);
  EXPECT_NEAR(pool("qwen3-0.6b", "l40s"), 37.42, 0.8);
  // 256 sequences, not 1,024, with 128,256 logits of 14 bytes; 2,048 tokens, not 8,192, of 4,096 elements.
  const auto report = [](const char* device) {
    return Serve(kLoad + std::vector<std::string>{"model=llama-3.1-8b", std::string("cluster=single-") + device,
                                                  "serving.engine=vllm"});
  };
  const auto activations = [&report](const char* device) { return report(device).memory.activations.base(); };
  EXPECT_EQ(report("rtx-4090").default_sequences, 256);
  EXPECT_EQ(report("a100-sxm4-80gb").default_sequences, 256);
  EXPECT_EQ(report("h100-sxm5-80gb").default_sequences, 1024);
  EXPECT_DOUBLE_EQ(activations("a100-sxm4-80gb"), 2048 * 4096 * 2.0 + 256 * 128256 * 14.0);
  EXPECT_DOUBLE_EQ(activations("h100-sxm5-80gb"), 8192 * 4096 * 2.0 + 1024 * 128256 * 14.0);
}

// The profiled step follows the settings max_num_seqs and max_num_batched_tokens. With 20,000 tokens in a step a layer
// holds more than the sampler: the residual stream and its norm, gate, up and their product. Log of vLLM V0 on an RTX
// 3090: 1,952 blocks of 16 tokens.
TEST(EngineMemory, TheProfiledStepFollowsTheSettings) {
  const std::vector<std::string> vllm = kLoad + std::vector<std::string>{"model=llama-3.1-8b", "serving.engine=vllm"};
  const std::vector<std::string> h100 = vllm + std::vector<std::string>{"cluster=single-h100-sxm5-80gb"};
  EXPECT_DOUBLE_EQ(Serve(h100 + std::vector<std::string>{"serving.max_requests=512"}).memory.activations.base(),
                   8192 * 4096 * 2.0 + 512 * 128256 * 14.0);
  // Each sequence has at least one token in the step.
  EXPECT_DOUBLE_EQ(Serve(h100 + std::vector<std::string>{"serving.prefill_chunk=512"}).memory.activations.base(),
                   512 * 4096 * 2.0 + 512 * 128256 * 14.0);
  const ServingReport long_steps =
      Serve(vllm + std::vector<std::string>{"cluster=single-rtx-3090", "serving.prefill_chunk=20000"});
  EXPECT_DOUBLE_EQ(long_steps.memory.activations.base(), 20000 * (2 * 4096 + 3 * 14336) * 2.0);
  EXPECT_NEAR(static_cast<double>(long_steps.max_context), 1952 * 16, 0.05 * 1952 * 16);
}

// Experts hold a row for each expert of each token. Ranks of data-parallel attention gather their tokens: eight times
// 8,192, each with eight experts of 2,560 columns, whose results of 6,144 are wider than gate and up. Qwen3-Coder-480B
// on eight H20 of 141 GB, with as many GiB as an H200: 48.66 GiB (release 0.10).
TEST(EngineMemory, ExpertsHoldTheRowsOfAllRanksThatGather) {
  const ServingReport report =
      Serve(kLoad + std::vector<std::string>{"model=qwen3-coder-480b-a35b", "cluster=dgx-h200", "serving.engine=vllm",
                                             "serving.precision.weights=fp8", "serving.precision.activations=fp8",
                                             "serving.mapping.tp=1", "serving.mapping.ep=8",
                                             "serving.mapping.attention_dp=8"});
  EXPECT_DOUBLE_EQ(report.memory.activations.base(), 8192 * (2 * 6144 + 8 * 8 * (6144.0 + 2560)) * 2);
  EXPECT_NEAR(PoolGib(report, 1), 48.66, 0.1 * 48.66);
}

// SGLang's pool is its share of the memory that is free once the ranks are connected, less the weights; activations and
// sequences do not change it. Logs: 509,000 tokens of DeepSeek-R1 on eight H200 at 0.82, 367,404 of Qwen3-235B on four
// H100 at 0.93, 53,738 of Phi-4 on an RTX 6000 Ada at 0.78.
TEST(EngineMemory, PoolsOfSglangAreAShareOfTheStart) {
  const auto tokens = [](const char* model, const char* cluster, int tp, const char* share, const char* weights,
                         const std::vector<std::string>& more) {
    const std::string devices = std::to_string(tp);
    return static_cast<double>(
        Serve(kLoad + more +
              std::vector<std::string>{std::string("model=") + model, std::string("cluster=") + cluster,
                                       "serving.engine=sglang", std::string("serving.engine.memory.share=") + share,
                                       std::string("serving.precision.weights=") + weights,
                                       "serving.devices=" + devices, "serving.mapping.tp=" + devices})
            .max_context);
  };
  const double r1 = tokens("deepseek-r1", "dgx-h200", 8, "0.82", "fp8", {});
  EXPECT_NEAR(r1 / 509000, 1, 0.03);
  EXPECT_EQ(tokens("deepseek-r1", "dgx-h200", 8, "0.82", "fp8", {"serving.prefill_chunk=32768"}), r1);
  EXPECT_EQ(tokens("deepseek-r1", "dgx-h200", 8, "0.82", "fp8", {"serving.max_requests=16"}), r1);
  EXPECT_NEAR(tokens("qwen3-235b-a22b", "dgx-h100", 4, "0.93", "fp8", {}) / 367404, 1, 0.03);
  EXPECT_NEAR(tokens("phi-4", "single-rtx-6000-ada", 1, "0.78", "bf16", {}) / 53738, 1, 0.1);
}

// SGLang sets mem_fraction_static by the device's memory. In MiB it reserves 512, 1.5 per token of a chunk (larger
// memories have larger chunks), 128 per rank, and 2 per captured sequence; here the last two are left out. RTX 4090,
// 24,564 MiB, chunks of 2,048, 24 sequences: 0.847. H100, 81,559, chunks of 8,192, 256 sequences: 0.835; eight of them,
// 512 sequences: 0.818. Eight H200, 143,771: 0.897. Eight B200, 183,359, chunks of 16,384: 0.852.
TEST(EngineMemory, SglangSetsItsShareByTheDevice) {
  const auto context = [](const char* cluster, int tp, const std::vector<std::string>& more) {
    const std::string devices = std::to_string(tp);
    return static_cast<double>(
        Serve(kLoad + more +
              std::vector<std::string>{"model=llama-3.1-8b", std::string("cluster=") + cluster, "serving.engine=sglang",
                                       "serving.devices=" + devices, "serving.mapping.tp=" + devices})
            .max_context);
  };
  const struct {
    const char* cluster;
    int tp;
    const char* share;
  } cases[] = {{"single-rtx-4090", 1, "0.847"},
               {"dgx-h100", 1, "0.835"},
               {"dgx-h100", 8, "0.818"},
               {"dgx-h200", 8, "0.897"},
               {"dgx-b200", 8, "0.852"}};
  for (const auto& [cluster, tp, share] : cases) {
    const double stated = context(cluster, tp, {std::string("serving.engine.memory.share=") + share});
    EXPECT_NEAR(context(cluster, tp, {}) / stated, 1, 0.035) << tp << " on " << cluster;
  }
  EXPECT_LT(context("dgx-h100", 1, {"serving.prefill_chunk=16384"}), 0.85 * context("dgx-h100", 1, {}));
}

// With data-parallel attention SGLang divides the default chunk among the ranks (_handle_data_parallelism of
// server_args.py): 8,192 tokens on an H200 are 1,024 on each of eight ranks, so a prompt of 8,000 tokens takes eight
// passes. A stated chunk is per rank; vendors' benchmarks state one.
TEST(EngineMemory, SglangDividesItsChunkAmongAttentionRanks) {
  const auto prefill = [](const std::vector<std::string>& more) {
    return Serve(std::vector<std::string>{"model=deepseek-v3", "cluster=dgx-h200", "cluster.devices=8",
                                          "serving.engine=sglang", "serving.prompt=8000", "serving.output=100",
                                          "serving.devices=8", "serving.mapping.tp=1", "serving.mapping.attention_dp=8",
                                          "serving.mapping.ep=8"} +
                 more)
        .prefill;
  };
  const Seconds plain = prefill({"serving.tuning=stock"});
  EXPECT_EQ(plain, prefill({"serving.tuning=stock", "serving.prefill_chunk=1024"}));
  EXPECT_GT(plain, prefill({"serving.tuning=stock", "serving.prefill_chunk=8192"}));
  EXPECT_EQ(prefill({"serving.tuning=tuned"}), prefill({"serving.tuning=tuned", "serving.prefill_chunk=8192"}));
}

// Running scenarios fit at any share.
TEST(EngineMemory, ActivationsFitBesideAnyShare) {
  for (const std::string share : {"0.9", "0.98", "1"}) {
    for (const std::string engine : {"sglang", "vllm", "trtllm"}) {
      const ServingReport report =
          Serve({"model=llama-3.1-8b", "cluster=single-h100-sxm5-80gb", "serving.engine=" + engine, "serving.batch=max",
                 "serving.engine.memory.share=" + share});
      EXPECT_LE(report.memory.Total(), report.memory.capacity) << engine << " " << share;
    }
  }
}

}  // namespace
}  // namespace slipstick
