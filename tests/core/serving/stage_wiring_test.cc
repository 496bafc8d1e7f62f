// Messages between pipeline stages and between pools, on wires that lead only to neighbors.
#include "core/base/fix.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

// Seconds per message from one stage to the next: Llama-3.1-70B in fp8 on 8 H100, TP 2, PP 4, 32 sequences in decode.
double StageHop(const std::string& topology) {
  const ServingReport report =
      Serve({"model=llama-3.1-70b", "cluster=dgx-h100", "cluster.devices=8", "serving.devices=8",
             "serving.mapping.tp=2", "serving.mapping.pp=4", "serving.batch=32", "cluster.networks.0.latency=1 us",
             "cluster.networks.0.bandwidth=450 GB/s", "cluster.networks.0.topology=" + topology},
            true);
  for (const ServedOperator& one : report.operators.decode) {
    if (one.name == "pipeline P2P") return In(one.time, kS);
  }
  ADD_FAILURE() << "no message between stages";
  return 0;
}

// The next stage is two devices away. On a ring both pairs of devices use the wires, each with half of the bandwidth,
// and a message crosses two of them: a quarter. Along the four of a 4 x 2 grid it is the same with wires of a third: a
// sixth. Hypercubes and direct wires lead straight there: a third and a seventh.
TEST(StageWiring, ASendUsesTheWiresOnItsPath) {
  const double switched = StageHop("switch");
  // The time of the bytes at full bandwidth, from direct wires with a seventh of it.
  const double whole = (StageHop("fully_connected") - switched) / 6;
  EXPECT_GT(whole, 0);
  EXPECT_NEAR(StageHop("ring"), switched + 3 * whole + 1e-6, 1e-12);
  EXPECT_NEAR(StageHop("torus"), switched + 5 * whole + 1e-6, 1e-12);
  EXPECT_NEAR(StageHop("mesh"), switched + 5 * whole + 1e-6, 1e-12);
  EXPECT_NEAR(StageHop("hypercube"), switched + 2 * whole, 1e-12);
  EXPECT_NEAR(StageHop("dragonfly"), switched + 2e-6, 1e-12);  // hops to a gateway, between groups and from a gateway
}

// Four GPUs prefill and four decode, four devices away. A ring's wires carry the messages of four GPUs, each over four
// wires; a hypercube has a direct wire with a third of the bandwidth. 8,192 tokens of 131,072 bytes take 2.98 ms at 0.8
// of 450 GB/s.
TEST(StageWiring, PoolsTransferOverTheWiresOnTheirPath) {
  const auto ttft = [](const std::string& topology) {
    return In(Serve({"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=8", "serving.devices=8",
                     "serving.mapping.tp=1", "serving.disaggregated.prefill_devices=4",
                     "serving.disaggregated.decode_devices=4", "serving.prompt=8192", "cluster.networks.0.latency=1 us",
                     "cluster.networks.0.topology=" + topology})
                  .ttft,
              kS);
  };
  const double switched = ttft("switch"), whole = 8192 * 131072. / (0.8 * 450e9);
  EXPECT_NEAR(ttft("ring"), switched + 7 * whole + 3e-6, 1e-12);
  EXPECT_NEAR(ttft("hypercube"), switched + 2 * whole, 1e-12);
  EXPECT_NEAR(ttft("fully_connected"), switched + 6 * whole, 1e-12);
}

}  // namespace
}  // namespace slipstick
