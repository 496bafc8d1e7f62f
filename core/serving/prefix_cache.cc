#include "core/serving/prefix_cache.h"

#include "core/base/figure.h"
#include "core/engine_step/exchange.h"
#include "core/serving/kv_cache.h"

namespace slipstick {

PrefixLoad LoadPrefixes(const Deployment& deployment, Ratio sequences, Ratio cached, Seconds pass_time) {
  if (!deployment.load.prefix_cache || cached <= 0) return {};
  const PrefixCache& tiers = *deployment.load.prefix_cache;
  const BytesPerSecond host_rate = RateOfCopies(tiers.host_link, deployment.engine.communication);
  const Seconds load = Figure(
      "Cached prefix from host memory and SSD",
      sequences * KvCacheOfSequence(deployment, cached) *
          max((tiers.host_share + tiers.ssd_share) / host_rate, tiers.ssd_share / tiers.ssd_bandwidth),
      "over the host link, or as fast as the SSD reads", "LMCache, arXiv 2510.09665; Mooncake, arXiv 2407.00079");
  if (deployment.engine.scheduler.loads_apart) return {load, load, Seconds{}};
  if (!tiers.by_layer) return {load, load, load};
  const Ratio layers = deployment.layers.per_stage;
  const Seconds exposed =
      Figure("Exposed load", max(load / layers, load - pass_time * (1 - 1 / layers)),
             "each layer's load overlaps the computation of the layers before; the first layer's is never hidden");
  return {load, exposed, exposed};
}

}  // namespace slipstick
