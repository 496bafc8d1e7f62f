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

}  // namespace
}  // namespace slipstick
