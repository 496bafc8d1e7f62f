// Experts in host memory, by hand. gpt-oss-120b has 36 layers with 128 experts of 3 x 2,880 x 2,880 in MXFP4 (4.25
// bits), 4 per token.
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

const double kExpert = 3 * 2880.0 * 2880 * 4.25 / 8;
const std::vector<std::string> kModel{"cluster=single-rtx-pro-6000",           "model=gpt-oss-120b",
                                      "serving.engine=llamacpp-2025",          "serving.precision.weights=mxfp4",
                                      "serving.precision.activations=fp16",    "serving.batch=1",
                                      "serving.engine.host_products.layer=0us"};
std::vector<std::string> OnHost(const std::vector<std::string>& more) { return kModel + more; }

double TimeOf(const std::vector<ServedOperator>& operators, std::string_view name) {
  for (const ServedOperator& one : operators) {
    if (one.name == name) return one.count * one.time.base();
  }
  return 0;
}

TEST(HostExperts, LeaveDeviceMemory) {
  const ServingReport all = Serve(OnHost({})), some = Serve(OnHost({"serving.host_experts.layers=10"}));
  const double with_biases = kExpert + 2 * 3 * 2880;
  EXPECT_NEAR((all.memory.weights - some.memory.weights).base() / (10 * 128 * with_biases), 1, 1e-9);
  EXPECT_NEAR(some.host_weights.base() / (10 * 128 * with_biases), 1, 1e-9);
  EXPECT_EQ(all.host_weights, Bytes());
}

// A token's four experts are read at 0.65 of 100 GB/s; the token itself crosses PCIe at 0.85 of its rate, 2 x 4 bytes x
// 2,880.
TEST(HostExperts, AreReadByTheProcessorInADecodeStep) {
  const ServingReport report =
      Serve(OnHost({"serving.host_experts.layers=36", "serving.host_experts.memory_bandwidth=100GB/s",
                    "cluster.device.host.bandwidth=64GB/s"}),
            true);
  EXPECT_NEAR(
      TimeOf(report.operators.decode, "experts on the processor") / (36 * (4 * kExpert / 65e9 + 8 * 2880 / 54.4e9)), 1,
      1e-6);
  EXPECT_EQ(TimeOf(report.operators.decode, "routed experts"), 0);
}

// 2,048 tokens reach nearly all experts: 4 + 124 (1 - (1 + 1.44 * 8,188 / 128)^(-1 / 1.44)) = 122.68 of 128 in each
// layer cross PCIe, and the device computes them.
TEST(HostExperts, AreCopiedForAPrompt) {
  const std::vector<std::string> prompt{"serving.prompt=2048", "cluster.device.host.bandwidth=64GB/s"};
  const ServingReport own = Serve(OnHost(prompt), true),
                      host = Serve(OnHost(prompt + std::vector<std::string>{"serving.host_experts.layers=36"}), true);
  const double copies = TimeOf(host.operators.prefill, "experts' weights from host");
  EXPECT_NEAR(copies / (36 * 122.68 * kExpert / 54.4e9), 1, 1e-4);
  EXPECT_NEAR((host.prefill - own.prefill).base() / copies, 1, 1e-2);
  ASSERT_EQ(host.network_by_level.prefill.back().level, "host");
  EXPECT_NEAR(host.network_by_level.prefill.back().time.base() / copies, 1, 1e-2);
  for (const NetworkLevelTime& level : host.network_by_level.prefill)
    EXPECT_TRUE(level.level == "host" || level.time == Seconds{});
}

// The device waits for the host, whatever its own memory bandwidth.
TEST(HostExperts, BoundADecodeStepByTheHost) {
  const std::vector<std::string> all{"serving.host_experts.layers=36"};
  const ServingReport report = Serve(OnHost(all), true);
  EXPECT_EQ(report.bound.decode, Bound::kNetwork);
  ASSERT_EQ(report.network_by_level.decode.back().level, "host");
  EXPECT_NEAR(
      report.network_by_level.decode.back().time / (TimeOf(report.operators.decode, "experts on the processor") * kS),
      1, 1e-2);
}

// Eight tokens with four experts are 2 x 8 x 4 x 24.9 MFLOP: at 10 GFLOP/s 159 ms per layer, longer than reading the
// weights.
TEST(HostExperts, AreBoundByTheProcessorsCompute) {
  const std::vector<std::string> slow{"serving.host_experts.layers=36", "serving.host_experts.processor=0.01TFLOP/s",
                                      "cluster.device.host.bandwidth=64GB/s", "serving.batch=8"};
  const double layer = 2 * 8 * 4 * (3 * 2880.0 * 2880) / 1e10 + 8 * 8 * 2880 / 54.4e9;
  EXPECT_NEAR(TimeOf(Serve(OnHost(slow), true).operators.decode, "experts on the processor") / (36 * layer), 1, 1e-6);
}

TEST(HostExperts, OfSeveralTokensAreReadOnceEach) {
  const auto read = [](const std::string& batch) {
    return TimeOf(
        Serve(OnHost({"serving.host_experts.layers=36", "serving.host_experts.processor=1000TFLOP/s", batch}), true)
            .operators.decode,
        "experts on the processor");
  };
  const double one = read("serving.batch=1"), eight = read("serving.batch=8");
  EXPECT_GT(eight, 4 * one);
  EXPECT_LT(eight, 8 * one);
}

TEST(HostExperts, LeaveNoGraphOfAStep) {
  const auto step = [](const std::vector<std::string>& more, const std::string& graphs) {
    return Serve(OnHost(more + std::vector<std::string>{"serving.cuda_graphs=" + graphs})).decode_step;
  };
  EXPECT_LT(step({}, "true"), step({}, "false"));
  EXPECT_EQ(step({"serving.host_experts.layers=1"}, "true"), step({"serving.host_experts.layers=1"}, "false"));
}

// Nemotron 3 Nano's experts have no gate: two matrices of 2,688 x 1,856 in 16 bit; 23 layers with 128 experts, six per
// token.
TEST(HostExperts, WithoutAGateAreTwoMatrices) {
  const std::vector<std::string> nano{"cluster=single-rtx-pro-6000",
                                      "model=nemotron-3-nano-30b-a3b",
                                      "serving.engine=llamacpp-2025",
                                      "serving.engine.host_products.layer=0us",
                                      "serving.precision.weights=bf16",
                                      "serving.precision.activations=bf16",
                                      "serving.batch=1",
                                      "cluster.device.host.bandwidth=64GB/s"};
  const std::vector<std::string> all{"serving.host_experts.layers=23", "serving.host_experts.memory_bandwidth=100GB/s"};
  const ServingReport own = Serve(nano), host = Serve(nano + all, true);
  const double expert = 2 * 2688.0 * 1856;
  EXPECT_NEAR(host.host_weights.base() / (23 * 128 * expert * 2), 1, 1e-9);
  EXPECT_NEAR((own.memory.weights - host.memory.weights) / host.host_weights, 1, 1e-9);
  EXPECT_NEAR(
      TimeOf(host.operators.decode, "experts on the processor") / (23 * (6 * expert * 2 / 65e9 + 8 * 2688 / 54.4e9)), 1,
      1e-6);
  const double slow = 23 * (2 * 6 * expert / 1e9 + 8 * 2688 / 54.4e9);
  EXPECT_NEAR(TimeOf(Serve(nano + all + std::vector<std::string>{"serving.host_experts.processor=0.001TFLOP/s"}, true)
                         .operators.decode,
                     "experts on the processor") /
                  slow,
              1, 1e-6);
}

TEST(HostExperts, MoreOfThemAreNeverFasterAndTakeHostMemory) {
  Seconds before;
  for (const std::string layers : {"1", "12", "35", "36", "1024"}) {
    const ServingReport report = Serve(OnHost({"serving.host_experts.layers=" + layers}));
    EXPECT_GE(report.tpot, before) << layers;
    before = report.tpot;
  }
  const ServingReport small = Serve(OnHost({"serving.host_experts.layers=36", "cluster.device.host.memory=32GB"}));
  ASSERT_EQ(small.infeasible.size(), 1u);
  EXPECT_EQ(small.infeasible[0].reason, "host_memory");
}

// The experts' 61 GB or the prefixes' 9.7 GB fit in 65 GB, but not both.
TEST(HostExperts, ShareTheHostMemoryWithPrefixes) {
  const std::vector<std::string> memory{"cluster.device.host.memory=65GB"}, experts{"serving.host_experts.layers=36"},
      prefixes{"serving.prompt=8192", "serving.prefix_hit=0.5", "serving.prefix_cache.host_share=1",
               "serving.prefix_cache.prefixes=64"};
  EXPECT_TRUE(Serve(OnHost(memory + experts)).infeasible.empty());
  const ServingReport cached = Serve(OnHost(memory + prefixes)), both = Serve(OnHost(memory + experts + prefixes));
  EXPECT_TRUE(cached.infeasible.empty());
  EXPECT_GT(cached.prefix_cache.host, 5 * kGB);
  ASSERT_EQ(both.infeasible.size(), 1u);
  EXPECT_EQ(both.infeasible[0].reason, "host_memory");
  // An offloaded KV cache gets the host memory that the experts leave.
  const auto most = [&](const std::vector<std::string>& more, Bytes capacity) {
    return Serve(OnHost(memory + more +
                        std::vector<std::string>{"serving.batch=max", "serving.output=131072",
                                                 "serving.kv_offload.capacity=" + std::to_string(capacity.base())}))
        .max_batch;
  };
  EXPECT_EQ(most(prefixes, 65 * kGB), most(prefixes, 65 * kGB - cached.prefix_cache.host));
  EXPECT_GT(most({}, 65 * kGB), most({}, 65 * kGB - cached.prefix_cache.host));
  EXPECT_EQ(most(experts, 65 * kGB), most(experts, 65 * kGB - Serve(OnHost(experts)).host_weights));
}

TEST(HostExperts, NeedAnEngineThatHasThemAndExperts) {
  const auto issue = [](const std::vector<std::string>& assignments) {
    const Result<Scenario> scenario = ScenarioOf(assignments);
    return scenario ? std::string() : scenario.issues.front().path;
  };
  EXPECT_EQ(issue({"cluster=single-rtx-pro-6000", "model=gpt-oss-120b", "serving.engine=vllm",
                   "serving.host_experts.layers=1"}),
            "serving.host_experts");
  for (const std::string degree : {"serving.mapping.pp=2", "serving.mapping.tp=2", "serving.mapping.replicas=2"}) {
    EXPECT_EQ(issue(OnHost({"serving.host_experts.layers=1", "cluster.devices=2", degree})), "serving.host_experts")
        << degree;
  }
  EXPECT_EQ(issue(OnHost({"model=nemotron-3-super-120b-a12b", "serving.precision.weights=bf16",
                          "serving.host_experts.layers=1", "serving.speculative.modules=1"})),
            "serving.speculative.modules");
  EXPECT_EQ(issue(OnHost({"model=llama-3.1-8b", "serving.host_experts.layers=1"})), "serving.host_experts");
}

}  // namespace
}  // namespace slipstick
