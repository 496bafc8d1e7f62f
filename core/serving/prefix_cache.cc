#include "core/serving/prefix_cache.h"

#include "core/base/figure.h"
#include "core/engine_step/exchange.h"
#include "core/serving/kv_cache.h"

namespace slipstick {

Seconds TimeOfLoad(const Deployment& deployment, Bytes host, Bytes ssd) {
  const PrefixCache& tiers = *deployment.load.prefix_cache;
  return max((host + ssd) / RateOfCopies(tiers.host_link, deployment.engine.communication), ssd / tiers.ssd_bandwidth);
}

Seconds ExposedLoad(const Deployment& deployment, Seconds load, Seconds pass_time) {
  if (!deployment.load.prefix_cache->by_layer) return load;
  const Ratio layers = deployment.layers.per_stage;
  return Figure("Exposed load", max(load / layers, load - pass_time * (1 - 1 / layers)),
                "each layer's load overlaps the computation of the layers before; the first layer's is never hidden");
}

PrefixLoad LoadPrefixes(const Deployment& deployment, Ratio sequences, Ratio cached, Seconds pass_time) {
  if (!deployment.load.prefix_cache || cached <= 0) return {};
  const PrefixCache& tiers = *deployment.load.prefix_cache;
  const Bytes loaded = sequences * KvCacheOfSequence(deployment, cached);
  const Seconds load = Figure("Cached prefix from host memory and SSD",
                              TimeOfLoad(deployment, loaded * tiers.host_share, loaded * tiers.ssd_share),
                              "over the host link, or as fast as the SSD reads",
                              "LMCache, arXiv 2510.09665; Mooncake, arXiv 2407.00079");
  if (deployment.engine.scheduler.loads_apart) return {load, load, Seconds{}};
  const Seconds exposed = ExposedLoad(deployment, load, pass_time);
  return {load, exposed, exposed};
}

}  // namespace slipstick
