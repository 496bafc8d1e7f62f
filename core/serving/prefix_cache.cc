#include "core/serving/prefix_cache.h"

#include "core/engine_step/kernel_terms.h"
#include "core/serving/serving_memory.h"

namespace slipstick {

PrefixLoad LoadPrefixes(const Deployment& deployment, double sequences, double cached, Seconds pass_time,
                        std::string_view pass_time_is, Trace& trace) {
  if (!deployment.load.prefix_cache || cached <= 0) return {};
  const Trace::Scope scope(trace, "prefix_cache");
  const PrefixCache& tiers = *deployment.load.prefix_cache;
  const double host_share = tiers.host_share, ssd_share = tiers.ssd_share;
  const Bytes prefix = PrefixBytes(deployment, cached, trace);
  const BytesPerSecond host_link = tiers.host_link, ssd_bandwidth = tiers.ssd_bandwidth;
  trace.Input("host_link", host_link, "serving.prefix_cache.host_link");
  trace.Input("ssd_bandwidth", ssd_bandwidth, "serving.prefix_cache.ssd_bandwidth");
  const BytesPerSecond host_rate = RateOfCopies(host_link, deployment.engine, trace);
  FIGURE(trace, prefix_load, sequences * prefix * max((host_share + ssd_share) / host_rate, ssd_share / ssd_bandwidth),
         (Note{"Cached prefix from host memory and SSD", "over the host link, or as fast as the SSD reads",
               "LMCache, arXiv 2510.09665; Mooncake, arXiv 2407.00079"}),
         sequences, prefix, host_share, ssd_share, host_rate, ssd_bandwidth);
  if (!tiers.by_layer) {
    FIGURE(trace, exposed_load, 1 * prefix_load, (Note{"Exposed load", "the prefill waits for all of it"}),
           prefix_load);
    return {prefix_load, exposed_load};
  }
  const double stage_layers = deployment.layers.per_stage;
  trace.Alias("computing", pass_time, pass_time_is);
  const Seconds computing = pass_time;
  FIGURE(trace, exposed_load, max(prefix_load / stage_layers, prefix_load - computing * (1 - 1 / stage_layers)),
         (Note{"Exposed load",
               "each layer's load overlaps the computation of the layers before; the first layer's is never hidden"}),
         prefix_load, stage_layers, computing);
  return {prefix_load, exposed_load};
}

}  // namespace slipstick
