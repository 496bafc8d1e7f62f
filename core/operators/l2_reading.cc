#include "core/operators/l2_reading.h"

#include <cassert>

#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Rate of reads that hit the L2: what attention kernels reach, at most the cache's own bandwidth. Recorded as l2_rate.
BytesPerSecond HitRate(const Device& device, Trace& trace) {
  const BytesPerSecond attention_l2_rate = *device.efficiency.l2_bandwidth;
  trace.Input("attention_l2_rate", attention_l2_rate, "cluster.device.efficiency.cache_stream");
  const Cache* cache = StatedL2(device);
  if (cache == nullptr) {
    trace.Alias("l2_rate", attention_l2_rate, "attention_l2_rate");
    return attention_l2_rate;
  }
  const BytesPerSecond l2_bandwidth = *cache->bandwidth;
  BindBandwidth("l2_bandwidth", *cache, device, trace);
  const double cache_efficiency = device.architecture->traits.l2_efficiency;
  CONSTANTS(trace, KernelTable(device, "traits"), SourceOf(device, device.architecture->gemm.source), cache_efficiency);
  FIGURE(trace, l2_rate, min(l2_bandwidth, max(attention_l2_rate, cache_efficiency * l2_bandwidth)),
         (Note{"L2 bandwidth of attention", "that kernels reach; at most the cache's own", kFamilySource}),
         l2_bandwidth, attention_l2_rate, cache_efficiency);
  return l2_rate;
}

}  // namespace

Reading ReadThroughL2(Bytes bytes, Bytes working_set, double memory_share, const Device& device, Trace& trace) {
  assert(device.efficiency.usable_l2_fraction && device.efficiency.l2_bandwidth);
  const double usable_l2_fraction = *device.efficiency.usable_l2_fraction;
  const BytesPerSecond bandwidth = SlowestStream(device, trace).bandwidth;
  const Bytes l2_capacity = L2Capacity(device, trace);
  trace.Input("usable_l2_fraction", usable_l2_fraction, "cluster.device.efficiency.cache_share");
  if (!(usable_l2_fraction * l2_capacity > Bytes{})) {
    FIGURE(trace, read_time, bytes / (memory_share * bandwidth),
           (Note{"Time to move the data", "from memory", kFamilySource}), bytes, memory_share, bandwidth);
    return {read_time};
  }
  const BytesPerSecond l2_rate = HitRate(device, trace);
  FIGURE(trace, missed_share, min(1.0, max(0.0, 2 * (working_set / (usable_l2_fraction * l2_capacity)) - 2)),
         (Note{"Fraction read from memory", "the rest is in L2", kFamilySource}), working_set, usable_l2_fraction,
         l2_capacity);
  FIGURE(trace, read_time, bytes * missed_share / (memory_share * bandwidth) + bytes * (1 - missed_share) / l2_rate,
         (Note{"Time to move the data", "from memory and from L2", kFamilySource}), bytes, missed_share, memory_share,
         bandwidth, l2_rate);
  return {read_time, BoundOfData(read_time, bytes * (1 - missed_share) / l2_rate)};
}

}  // namespace slipstick
