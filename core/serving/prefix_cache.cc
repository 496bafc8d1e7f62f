#include "core/serving/prefix_cache.h"

#include "core/serving/phase_time.h"
#include "core/serving/serving_memory.h"

namespace slipstick {
namespace {

// Bytes of a prefix of `cached` tokens on one device, and the shares of it that are elsewhere.
struct Prefix {
  Bytes bytes;
  double host_share, ssd_share;
};
Prefix PrefixOf(const Deployment& deployment, double cached, Trace& trace) {
  const PrefixCache& tiers = *deployment.load.prefix_cache;
  trace.Alias("held_tokens", cached, "cached");
  const Bytes prefix = KvCacheOfSequence(deployment, cached, trace);
  trace.Alias("prefix", prefix, "kv_cache_of_sequence");
  trace.Input("host_share", tiers.host_share, "serving.prefix_cache.host_share");
  trace.Input("ssd_share", tiers.ssd_share, "serving.prefix_cache.ssd_share");
  return {prefix, tiers.host_share, tiers.ssd_share};
}

}  // namespace

PrefixLoad LoadPrefixes(const Deployment& deployment, double sequences, double cached, Seconds pass_time, std::string_view pass_time_is,
                        Trace& trace) {
  if (!deployment.load.prefix_cache || cached <= 0) return {};
  const Trace::Scope scope(trace, "prefix_cache");
  const PrefixCache& tiers = *deployment.load.prefix_cache;
  const auto [prefix, host_share, ssd_share] = PrefixOf(deployment, cached, trace);
  const BytesPerSecond host_link = tiers.host_link, ssd_bandwidth = tiers.ssd_bandwidth;
  trace.Input("host_link", host_link, "serving.prefix_cache.host_link");
  trace.Input("ssd_bandwidth", ssd_bandwidth, "serving.prefix_cache.ssd_bandwidth");
  FIGURE(trace, prefix_load, sequences * prefix * max((host_share + ssd_share) / (0.85 * host_link), ssd_share / ssd_bandwidth),
         (Note{"Cached prefix from host memory and SSD",
               "over the host link at 0.85 of its bandwidth, typical of large copies, or as fast as the SSD reads; estimate",
               "LMCache, arXiv 2510.09665; Mooncake, arXiv 2407.00079"}),
         sequences, prefix, host_share, ssd_share, host_link, ssd_bandwidth);
  if (!tiers.by_layer) {
    FIGURE(trace, exposed_load, 1 * prefix_load, (Note{"Exposed load", "the prefill waits for all of it"}), prefix_load);
    return {prefix_load, exposed_load};
  }
  const double stage_layers = deployment.layers.per_stage;
  trace.Alias("computing", pass_time, pass_time_is);
  const Seconds computing = pass_time;
  FIGURE(trace, exposed_load, max(prefix_load / stage_layers, prefix_load - computing * (1 - 1 / stage_layers)),
         (Note{"Exposed load", "each layer's load overlaps the computation of the layers before; the first layer's is never hidden"}),
         prefix_load, stage_layers, computing);
  return {prefix_load, exposed_load};
}

KeptPrefixes KeptPrefixesOf(const Deployment& deployment, Trace& trace) {
  if (!deployment.load.prefix_cache) return {};
  const Trace::Scope scope(trace, "kept_prefixes");
  const auto prefixes = static_cast<double>(deployment.load.prefix_cache->prefixes);
  const double cached = ComputedTokens(deployment.load, trace).cached;
  const auto [prefix, host_share, ssd_share] = PrefixOf(deployment, cached, trace);
  trace.Input("prefixes", prefixes, "serving.prefix_cache.prefixes");
  FIGURE(trace, kept_in_host, prefixes * prefix * host_share,
         (Note{"Prefixes kept in host memory", "per device", "", "serving.prefix_cache.host_bytes"}), prefixes, prefix, host_share);
  FIGURE(trace, kept_on_ssd, prefixes * prefix * ssd_share,
         (Note{"Prefixes kept on SSD", "per device", "", "serving.prefix_cache.ssd_bytes"}), prefixes, prefix, ssd_share);
  FIGURE(trace, kept_on_device, prefixes * prefix * (1 - host_share - ssd_share),
         (Note{"Prefixes kept in device memory", "beside those of running requests", "", "serving.prefix_cache.device_bytes"}), prefixes,
         prefix, host_share, ssd_share);
  return {kept_on_device, kept_in_host, kept_on_ssd};
}

}  // namespace slipstick
