// Low-rank adapters and draft models: memory and work by hand. Llama-3.1-8B has 32 layers, hidden size 4,096, 8 KV
// heads of 128 and an MLP of 14,336.
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

const std::vector<std::string> kOne{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.engine=vllm",
                                    "serving.batch=16"};
const std::vector<std::string> kAdapters =
    kOne + std::vector<std::string>{"serving.adapters.resident=8", "serving.adapters.active=4"};

// An adapter of rank 16 beside q, k, v, o, gate, up and down has 41,943,040 parameters (PEFT prints this number).
TEST(Adapters, StayInDeviceMemory) {
  EXPECT_EQ((Serve(kAdapters).memory.weights - Serve(kOne).memory.weights).base(), 8 * 41943040 * 2.0);
}

TEST(Adapters, AddTheirProductsToEveryStep) {
  const ServingReport report = Serve(kAdapters, true);
  double flops = 0, bytes = 0;
  for (const ServedOperator& one : report.operators.decode) {
    if (one.name == "low-rank adapters") flops += one.count * one.flops.base(), bytes += one.count * one.bytes.base();
  }
  EXPECT_NEAR(flops, 2 * 16 * 41943040.0, 1);  // 16 tokens
  // Memory of four adapters, plus activations per token: the inputs of 7 projections, their outputs twice, and the
  // inner activations of 4 products in fp32.
  const double inputs = 3 * 4096 + 4096 + 2 * 4096 + 14336, outputs = 6144 + 4096 + 28672 + 4096;
  EXPECT_NEAR(bytes, 2 * (4 * 41943040.0 + 32 * 16 * (inputs + 2 * outputs + 4 * 4 * 16)), 1);
  EXPECT_GT(report.tpot, Serve(kOne).tpot);
}

TEST(Adapters, MoreOfThemAreNeverFaster) {
  Seconds before;
  for (const std::string active : {"1", "4", "16", "64"}) {
    const ServingReport report = Serve(kOne + std::vector<std::string>{"serving.adapters.active=" + active});
    EXPECT_GE(report.tpot, before) << active;
    before = report.tpot;
  }
}

// An EAGLE-3 head has 424.7 million parameters in 16 bit and one layer of KV cache, in addition to the model's 32.
TEST(Drafts, AnEagleHeadTakesMemory) {
  const ServingReport plain = Serve(kOne),
                      eagle = Serve(kOne + std::vector<std::string>{"serving.speculative=eagle-3-llama-3.1-8b"});
  EXPECT_NEAR((eagle.memory.weights - plain.memory.weights).base(), 2 * 424.7e6, 1);
  EXPECT_NEAR(eagle.kv_cache / plain.kv_cache, 33.0 / 32, 1e-12);
  EXPECT_LT(eagle.max_batch, plain.max_batch);
  EXPECT_LT(eagle.tpot, plain.tpot);
}

// DeepSeek-V3's MTP module has 11,610,068,224 parameters, all on the one device of a replica.
TEST(Drafts, AnMtpModuleIsALayerAndAProjection) {
  const std::vector<std::string> deepseek{"cluster=single-h200-sxm", "model=deepseek-v3", "serving.engine=ideal",
                                          "serving.batch=1"};
  const ServingReport plain = Serve(deepseek),
                      mtp = Serve(deepseek + std::vector<std::string>{"serving.speculative=mtp-deepseek-v3"});
  EXPECT_NEAR((mtp.memory.weights - plain.memory.weights).base() / (2 * 11610068224), 1, 1e-5);
  EXPECT_NEAR(mtp.kv_cache / plain.kv_cache, 62.0 / 61, 1e-12);
}

// Published: Llama-3.1-8B on one H100 with batch 1 takes 7.07 ms per token without drafts and 4.09 ms with three (vLLM
// issue 20780), 1.73 times as fast.
TEST(Drafts, EagleIsAsMuchFasterAsPublished) {
  const std::vector<std::string> one{"cluster=single-h100-sxm5-80gb",
                                     "model=llama-3.1-8b",
                                     "serving.engine=vllm",
                                     "serving.batch=1",
                                     "serving.prompt=128",
                                     "serving.output=256"};
  const double gain =
      Serve(one).tpot / Serve(one + std::vector<std::string>{"serving.speculative=eagle-3-llama-3.1-8b"}).tpot;
  EXPECT_NEAR(gain, 7.07 / 4.09, 0.25);
}

}  // namespace
}  // namespace slipstick
