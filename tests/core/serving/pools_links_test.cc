// The links inside a prefill pool, and from it to the decode pool.
#include <string>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

using Assignments = std::vector<std::string>;

// Cards without NVLink reduce over their own server's PCIe, whatever joins the devices that decode.
TEST(PoolsOfTwoKinds, PrefillAsInTheirOwnServer) {
  const Assignments load{"model=llama-3.3-70b", "serving.prompt=8000", "serving.output=500", "serving.mapping.tp=4"};
  const ServingReport alone =
      Serve(load + Assignments{"cluster=pcie5-server", "serving.devices=4", "serving.concurrency=1"});
  const ServingReport pools =
      Serve(load + Assignments{"cluster=dgx-h200", "cluster.devices=16", "serving.requests_per_s=0.1",
                               "serving.disaggregated.prefill_devices=4", "serving.disaggregated.decode_devices=8",
                               "serving.disaggregated.prefill_device=rtx-pro-6000"});
  EXPECT_NEAR(pools.prefill / alone.prefill, 1, 1e-9);
}

const Assignments kTwoServers{"model=llama-3.3-70b",
                              "cluster=dgx-h100",
                              "cluster.devices=16",
                              "serving.disaggregated.prefill_devices=8",
                              "serving.disaggregated.decode_devices=8",
                              "serving.mapping.tp=8",
                              "serving.prompt=100000",
                              "serving.output=500"};

// 80 layers of 8 KV heads of 128 in 16 bit: 327,680 bytes per token, of which each of eight devices sends an eighth.
constexpr double kSent = 327'680.0 * 100'000 / 8;

// Each pool is a server of its own, so the KV cache crosses InfiniBand at 0.8 of its bandwidth.
TEST(Pools, SendTheKvCacheBetweenServers) {
  const auto transfer = [](const char* bandwidth) {
    const ServingReport report = Serve(kTwoServers + Assignments{"serving.requests_per_s=0.001", bandwidth});
    return report.latency_parts.ttft.transfer / (1 * kS);
  };
  EXPECT_NEAR(transfer("cluster.networks.1.bandwidth=50 GB/s") / (kSent / (0.8 * 50e9)), 1, 1e-3);
  EXPECT_NEAR(transfer("cluster.networks.1.bandwidth=10 GB/s") / (kSent / (0.8 * 10e9)), 1, 1e-3);
}

// In one server they share its NVLink.
TEST(Pools, SendTheKvCacheInsideAServer) {
  const ServingReport report =
      Serve({"model=llama-3.1-8b", "cluster=dgx-h100", "serving.devices=8", "serving.mapping.tp=4",
             "serving.disaggregated.prefill_devices=4", "serving.disaggregated.decode_devices=4",
             "serving.prompt=100000", "serving.output=500", "serving.requests_per_s=0.001"});
  EXPECT_NEAR(report.latency_parts.ttft.transfer / (1 * kS) / (131'072.0 * 100'000 / 4 / (0.8 * 450e9)), 1, 1e-2);
}

// One KV cache after the other: at 0.1 GB/s each takes 51.2 s.
TEST(Pools, ServeNoMoreThanTheLinkCarries) {
  const ServingReport report =
      Serve(kTwoServers + Assignments{"serving.requests_per_s=1", "cluster.networks.1.bandwidth=0.1 GB/s"});
  EXPECT_NEAR(report.requests_per_s * (kSent / (0.8 * 0.1e9)), 1, 1e-3);
}

// Direct wires: seven prefilling MI300X send to the one that decodes on a wire each, here of 1 GB/s.
TEST(Pools, ReceiveOnEveryWire) {
  const Assignments load{"model=llama-3.1-8b",
                         "cluster=hgx-mi300x",
                         "serving.mapping.tp=1",
                         "serving.prompt=100000",
                         "serving.output=1",
                         "serving.requests_per_s=100",
                         "serving.disaggregated.decode_devices=1",
                         "cluster.networks.0.bandwidth=7 GB/s"};
  const double one = 131'072.0 * 100'000 / (0.8 * 1e9);
  for (const int prefillers : {1, 7}) {
    const ServingReport report =
        Serve(load + Assignments{"serving.disaggregated.prefill_devices=" + std::to_string(prefillers)});
    EXPECT_NEAR(report.requests_per_s * one / prefillers, 1, 1e-2) << prefillers;
  }
}

// Two pools of eight devices for prompts of 100,000 tokens.
const Assignments kLongPrompts{"model=llama-3.1-8b",
                               "cluster=dgx-h100",
                               "cluster.devices=16",
                               "serving.prompt=100000",
                               "serving.output=100",
                               "serving.disaggregated.prefill_devices=8",
                               "serving.disaggregated.decode_devices=8"};

// 131,072 bytes per token of 100,000 tokens leave the device that prefilled them through its own adapter of 50 GB/s, of
// which 0.8 are reached, however many devices receive them: 328 ms, as the other way round.
TEST(Pools, SendNoFasterThanTheSlowerSide) {
  const auto transfer = [](const char* prefill, const char* decode) {
    const ServingReport report =
        Serve(kLongPrompts + Assignments{"serving.requests_per_s=0.05", "serving.mapping.tp=" + std::string(decode),
                                         "serving.disaggregated.prefill_mapping.tp=" + std::string(prefill)});
    return report.latency_parts.ttft.transfer / (1 * kS);
  };
  const double one = 131'072.0 * 100'000 / (0.8 * 50e9);
  EXPECT_NEAR(transfer("1", "8") / one, 1, 1e-2);
  EXPECT_NEAR(transfer("8", "1") / one, 1, 1e-2);
  EXPECT_NEAR(transfer("8", "8") / (one / 8), 1, 1e-2);
}

// L40S are in a server with a network of 12.5 GB/s per device: a quarter of 13.1 GB takes 328 ms.
TEST(PoolsOfTwoKinds, SendOverTheLinksOfTheSender) {
  const ServingReport report =
      Serve(kLongPrompts + Assignments{"serving.requests_per_s=0.05", "serving.disaggregated.prefill_device=l40s",
                                       "serving.mapping.tp=4", "serving.disaggregated.prefill_mapping.tp=4"});
  EXPECT_NEAR(report.latency_parts.ttft.transfer / (1 * kS) / (131'072.0 * 100'000 / 4 / (0.8 * 12.5e9)), 1, 2e-2);
}

// Eight groups of one device receive at once what one group of eight sends: 13.1 GB over eight adapters, of 0.1 GB/s each.
TEST(Pools, UseAllLinksThatTakePart) {
  const ServingReport report = Serve(kLongPrompts + Assignments{"serving.requests_per_s=100", "serving.mapping.tp=1",
                                                                "serving.disaggregated.prefill_mapping.tp=8",
                                                                "cluster.networks.1.bandwidth=0.1 GB/s"});
  EXPECT_NEAR(report.requests_per_s * (131'072.0 * 100'000 / (8 * 0.8 * 0.1e9)), 1, 1e-2);
}

}  // namespace
}  // namespace slipstick
