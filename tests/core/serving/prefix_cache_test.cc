// Tiers of the prefix cache, by hand. Llama-3.1-8B caches 131,072 bytes per token in 16 bit; the cached half of a
// prompt of 8,192 tokens takes 0.54 GB.
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

constexpr double kPrefix = 4096 * 131072.0;
const std::vector<std::string> kHit{
    "cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.engine=vllm",   "serving.batch=4",
    "serving.prompt=8192",           "serving.output=256", "serving.prefix_hit=0.5"};
const std::vector<std::string> kTiers =
    kHit + std::vector<std::string>{"serving.prefix_cache.host_share=0.5", "serving.prefix_cache.ssd_share=0.25"};

TEST(PrefixCache, LoadsOncePerRequestOverItsLinks) {
  const ServingReport here = Serve(kHit),
                      whole = Serve(kTiers + std::vector<std::string>{"serving.prefix_cache.by_layer=false"});
  // Three quarters over 0.85 of 63 GB/s take 7.5 ms; one quarter from SSD at 6 GB/s takes longer.
  EXPECT_NEAR(whole.prefix_cache.load.base(), 0.25 * kPrefix / 6e9, 1e-9);
  EXPECT_EQ(whole.prefix_cache.exposed, whole.prefix_cache.load);
  EXPECT_NEAR((whole.prefill - here.prefill).base(), whole.prefix_cache.load.base(), 1e-9);
  const ServingReport fast = Serve(kTiers + std::vector<std::string>{"serving.prefix_cache.by_layer=false",
                                                                     "serving.prefix_cache.ssd_bandwidth=1000 GB/s"});
  EXPECT_NEAR(fast.prefix_cache.load.base(), 0.75 * kPrefix / (0.85 * 63e9), 1e-9);
}

// The load comes from the host and uses no network level.
TEST(PrefixCache, TheExposedLoadIsNoNetworkTime) {
  const ServingReport report =
      Serve(kTiers + std::vector<std::string>{"cluster=dgx-h100", "serving.mapping.tp=2", "serving.devices=2",
                                              "serving.prefix_cache.by_layer=false"});
  ASSERT_FALSE(report.network_by_level.prefill.empty());
  EXPECT_EQ(report.network_by_level.prefill.back().level, "host");
  EXPECT_NEAR(report.network_by_level.prefill.back().time.base(), report.prefix_cache.exposed.base(), 1e-9);
}

// Under vLLM only the request waits for its prefix while others decode. In engines where all wait, each of the 255
// tokens after the first takes its share of three loads.
TEST(PrefixCache, OthersDecodeWhileAPrefixIsLoaded) {
  const std::vector<std::string> slow{"serving.prefix_cache.host_share=1", "serving.prefix_cache.host_link=10 GB/s",
                                      "serving.prefix_cache.by_layer=false"};
  const ServingReport here = Serve(kHit), apart = Serve(kHit + slow),
                      together = Serve(kHit + slow + std::vector<std::string>{"serving.engine.loads_apart=false"});
  const double load = kPrefix / (0.85 * 10e9);
  EXPECT_NEAR((apart.tpot - here.tpot).base(), 0, 1e-9);
  EXPECT_NEAR((apart.ttft - here.ttft).base(), load, 0.02 * load);
  EXPECT_NEAR((together.tpot - here.tpot).base(), 3 * load / 255, 0.1 * 3 * load / 255);
}

// The rate is limited by the prefixes that the host link can load.
TEST(PrefixCache, TheHostLinkBoundsTheRate) {
  for (const std::string batch : {"4", "32", "128"}) {
    const ServingReport report = Serve(kHit + std::vector<std::string>{"serving.batch=" + batch, "serving.output=32",
                                                                       "serving.prefix_cache.host_share=1",
                                                                       "serving.prefix_cache.host_link=1 GB/s"});
    EXPECT_LE(report.requests_per_s * kPrefix / 0.85e9, 1) << batch;
  }
}

// 4,096 tokens take longer to compute than to load, so all loads but that of the first of 32 layers are hidden.
TEST(PrefixCache, LayersHideTheLoadOfTheNext) {
  const std::vector<std::string> sglang{"serving.engine=sglang"};
  const ServingReport here = Serve(kHit + sglang), by_layer = Serve(kTiers + sglang);
  EXPECT_NEAR((by_layer.prefill - here.prefill).base(), 0.25 * kPrefix / 6e9 / 32, 1e-9);
  // Over a slow link the computation of 31 layers is hidden instead.
  const ServingReport slow =
      Serve(kTiers + sglang + std::vector<std::string>{"serving.prefix_cache.ssd_bandwidth=0.1 GB/s"});
  EXPECT_GT(slow.prefix_cache.load, here.prefill);
  EXPECT_LT(slow.prefill, slow.prefix_cache.load + here.prefill);
  EXPECT_GT(slow.prefill, slow.prefix_cache.load);
}

TEST(PrefixCache, KeepsPrefixesInEachTier) {
  const std::vector<std::string> kept = kTiers + std::vector<std::string>{"serving.prefix_cache.prefixes=100"};
  const ServingReport none = Serve(kTiers), hundred = Serve(kept);
  EXPECT_NEAR(hundred.prefix_cache.host.base(), 50 * kPrefix, 1);
  EXPECT_NEAR(hundred.prefix_cache.ssd.base(), 25 * kPrefix, 1);
  EXPECT_NEAR((hundred.memory.kv_cache - none.memory.kv_cache).base(), 25 * kPrefix, 1);
  EXPECT_LT(hundred.max_batch, none.max_batch);
  EXPECT_TRUE(hundred.infeasible.empty());
  for (const std::string full : {"serving.prefix_cache.host_capacity=20 GB", "serving.prefix_cache.ssd_capacity=10 GB",
                                 "serving.prefix_cache.prefixes=1000000"}) {
    const ServingReport report = Serve(kept + std::vector<std::string>{full});
    ASSERT_FALSE(report.infeasible.empty()) << full;
  }
}

TEST(PrefixCache, FartherTiersAreNeverFaster) {
  Seconds before;
  for (const std::string share : {"0", "0.2", "0.5", "1"}) {
    const ServingReport report = Serve(kHit + std::vector<std::string>{"serving.prefix_cache.host_share=" + share,
                                                                       "serving.prefix_cache.host_link=2 GB/s"});
    EXPECT_GE(report.ttft, before) << share;
    before = report.ttft;
  }
}

TEST(PrefixCache, SharesAddUpToOneAtMost) {
  EXPECT_FALSE(ScenarioOf(kTiers + std::vector<std::string>{"serving.prefix_cache.host_share=0.8"}));
}

}  // namespace
}  // namespace slipstick
