#include "core/operators/moe.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "core/operators/bound_device.h"
#include "tests/core/operators/devices.h"
#include "tests/support/explained.h"

namespace slipstick {
namespace {

MoeLayer Layer(double tokens, double hidden, double ffn, double top_k, double experts, double ep) {
  MoeLayer layer;
  layer.tokens = tokens, layer.hidden = hidden, layer.ffn = ffn, layer.top_k = top_k, layer.experts = experts,
  layer.ep = ep;
  layer.routing = Routing::kEven;
  return layer;
}

double Us(const MoeLayer& layer, const Device& device) { return In(TimeOf(layer, device).time, kUs); }

// With 25 us and 0.55 of the bandwidth for permute and combine the worked cases take 448.951, 381.476 and 14,436.568
// us. With 27 us and 0.5 they take 2 us more, plus a tenth of the 0.647, 87.784 and 651.206 us of permute and combine.
TEST(Moe, TimesOfTheWorkedCases) {
  EXPECT_NEAR(Us(Layer(16, 2048, 768, 8, 128, 1), H100()), 448.951 + 2 + 0.0647, 0.001);
  EXPECT_NEAR(Us(Layer(4096, 4096, 1536, 8, 128, 8), H100()), 381.476 + 2 + 8.7784, 0.001);
  EXPECT_NEAR(Us(Layer(16384, 4096, 14336, 2, 8, 1), H100()), 14436.568 + 2 + 65.1206, 0.01);
}

// One token goes to eight different experts. Of the other 120 experts, 120 independent draws from 128 hit 120 (1 -
// (127/128)^120).
TEST(Moe, RandomRoutingHitsFewerExperts) {
  MoeLayer layer = Layer(16, 2048, 768, 8, 128, 1);
  EXPECT_EQ(ExpertsHit(layer, 128, 0), 128);
  layer.routing = Routing::kRandom;
  EXPECT_NEAR(ExpertsHit(layer, 128, 0), 81.18, 0.01);
  EXPECT_NEAR(ExpertsHit(layer, 1, 0), 1, 1e-9);
  layer.ep = 128;
  EXPECT_EQ(ExpertsHit(layer, 5, 0), 1);
}

// Preferences over the experts are exponentially distributed (coefficient of variation 1). If a token chooses one of E
// experts, 1 + (E - 1) (r - 1) / (E + r - 1) of them get one of r rows: half of the others where r - 1 = E. As the
// variation vanishes, draws become independent: a share of 1 - e^(-r/E) is hit.
TEST(Moe, TokensThatPreferSomeExpertsHitFewer) {
  MoeLayer layer = Layer(16, 2048, 768, 1, 128, 1);
  layer.routing = Routing::kRandom;
  EXPECT_NEAR(ExpertsHit(layer, 129, 1), 1 + 127.0 / 2, 1e-9);
  EXPECT_NEAR(ExpertsHit(layer, 385, 1), 1 + 127 * 0.75, 1e-9);
  EXPECT_NEAR(ExpertsHit(layer, 129, 1e-3), 1 + 127 * (1 - std::exp(-1.0)), 0.01);
  EXPECT_EQ(ExpertsHit(layer, 1, 1), 1);
}

// A single token's rows go to as many experts as its router chooses, on one device to at most as many as it holds.
TEST(Moe, RowsOfATokenGoToDifferentExperts) {
  for (const double preference : {0.0, 1.0}) {
    MoeLayer layer = Layer(1, 4096, 14336, 2, 8, 1);
    layer.routing = Routing::kRandom;
    EXPECT_EQ(ExpertsHit(layer, 2, preference), 2);
    EXPECT_GT(ExpertsHit(layer, 4, preference), 2);
    EXPECT_LT(ExpertsHit(layer, 4, preference), 4);
    layer.ep = 8;
    EXPECT_EQ(ExpertsHit(layer, 2, preference), 1);
  }
}

TEST(Moe, ImbalanceAndTokensCostTime) {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    MoeLayer layer = Layer(std::exp2(random() % 15), 1024 * (1 + random() % 8), 256 * (1 + random() % 16),
                           1 + random() % 8, std::exp2(3 + random() % 6), std::exp2(random() % 4));
    layer.routing = random() % 2 ? Routing::kEven : Routing::kRandom;
    if (random() % 2) layer.product.precision = layer.product.weights = Precision::kFp8;
    if (random() % 4 == 0) layer.product.precision = layer.product.weights = Precision::kNvfp4;
    const Device device = random() % 2 ? H100() : B200();
    const KernelTime time = TimeOf(layer, device);
    EXPECT_GE(time.time, time.flops / PeakRate(device, layer.product.precision));
    MoeLayer more = layer;
    if (i % 2) {
      more.tokens *= 2;
    } else {
      more.imbalance = 1.5;
    }
    EXPECT_GE(Us(more, device), Us(layer, device) * (1 - 1e-12));
  }
}

// Block-scaled fp8 kernels loop over every expert on the device. One token with eight experts on H200 (AIConfigurator's
// tables, DeepSeek-V3) took 40.1 us with 32 experts on the device and 114.7 us with all 256 split in eight. The weights
// read are about the same.
TEST(Moe, ExpertsOnTheDeviceCostTimeEvenIfNotHit) {
  MoeLayer layer = Layer(1, 7168, 2048, 8, 256, 1);
  layer.product.precision = layer.product.weights = Precision::kFp8;
  layer.product.scaling = Scaling::kBlock;
  layer.tp = 8;
  const double all = Us(layer, H200());
  EXPECT_NEAR(all, 114.7, 0.15 * 114.7);
  layer.experts = 32;
  EXPECT_NEAR(all - Us(layer, H200()), 224 * 0.28, 1e-6);
}

// Permuting reads the layer's input and writes its output, 2 + 2 bytes per element of the tokens on the device. Of
// 1,024 tokens on 8 devices that is 128 under an all-to-all and all after an all-gather.
TEST(Moe, PermutingTouchesTheTokensThatTheDeviceHolds) {
  MoeLayer layer = Layer(1024, 7168, 2048, 8, 256, 8);
  const KernelTime gathered = TimeOf(layer, H100());
  layer.held_tokens = 128;
  const KernelTime sent = TimeOf(layer, H100());
  EXPECT_NEAR((gathered.bytes - sent.bytes).base(), 4.0 * 7168 * (1024 - 128), 1);
  EXPECT_LT(sent.time, gathered.time);
  layer.held_tokens = 1024;
  EXPECT_EQ(TimeOf(layer, H100()).time, gathered.time);
}

// Each parameter comes from the preset table that sets it.
TEST(Moe, ParametersComeFromTheirTables) {
  const auto origins = [](const MoeLayer& layer, bool serving) {
    Tape tape;
    const Device device = WithNodes(B200(), tape);
    const auto parameters = serving ? ServingKernelParameters(layer, device) : IsolatedKernelParameters(layer, device);
    return Origins(FiguresOf(TimeOf(layer, device, parameters).time));
  };
  const std::string table = "kernels.blackwell.experts.";
  MoeLayer layer;
  auto found = origins(layer, false);
  for (const char* name : {"launch", "move", "step_latency", "stream"})
    EXPECT_TRUE(found.contains(table + name)) << name;
  EXPECT_TRUE(found.contains("cluster.device.efficiency.matrix"));
  layer.product.precision = layer.product.weights = Precision::kNvfp4;
  found = origins(layer, true);
  for (const char* name : {"preference", "move", "trtllm.four_bit_float.stream"})
    EXPECT_TRUE(found.contains(table + name)) << name;
  EXPECT_TRUE(found.contains("kernels.blackwell.gemm.four_bit_float.matrix"));
}

}  // namespace
}  // namespace slipstick
