#include "core/operators/l2_reading.h"

#include <cassert>

#include "core/base/figure.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

// Rate of reads that hit the L2: what attention kernels reach, at most the cache's own bandwidth.
BytesPerSecond HitRate(const Device& device, std::string_view source) {
  const BytesPerSecond reached = *device.efficiency.l2_bandwidth;
  const Cache* cache = StatedL2(device);
  if (cache == nullptr) return reached;
  const BytesPerSecond own = *cache->bandwidth;
  return Figure("L2 bandwidth of attention", min(own, max(reached, device.architecture->traits.l2_efficiency * own)),
                "that kernels reach; at most the cache's own", source);
}

}  // namespace

Reading ReadThroughL2(Bytes bytes, Bytes working_set, Ratio memory_share, const Device& device,
                      std::string_view source) {
  assert(device.efficiency.usable_l2_fraction && device.efficiency.l2_bandwidth);
  const BytesPerSecond stream = memory_share * SlowestStream(device).bandwidth;
  const Bytes usable = *device.efficiency.usable_l2_fraction * L2Capacity(device);
  if (!(usable > Bytes{})) return {Figure("Time to move the data", bytes / stream, "from memory", source)};
  const Ratio missed = Figure("Fraction read from memory", min(1.0, max(0.0, 2 * (working_set / usable) - 2)),
                              "the rest is in L2", source);
  const Seconds hits = bytes * (1 - missed) / HitRate(device, source);
  const Seconds time =
      Figure("Time to move the data", bytes * missed / stream + hits, "from memory and from L2", source);
  return {time, BoundOfData(time, hits)};
}

}  // namespace slipstick
