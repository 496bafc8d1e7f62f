// Hierarchical roofline: the traffic of a kernel through the caches, its time at their stated bandwidths, and the level
// that bounds the kernel. Caches without a stated bandwidth are ignored.
#pragma once

#include <vector>

#include "core/hardware/device.h"
#include "core/operators/kernel.h"

namespace slipstick {

// L1 or shared memory belongs to one SM: it is the innermost of two or more caches. All other caches carry the traffic
// of the L2, so the slowest of them bounds it. Null: not stated.
const Cache* StatedL1(const Device& device);
const Cache* StatedL2(const Device& device);

struct LevelTraffic {
  Bytes l2, l1;
};
struct LevelTimes {
  Seconds l2, l1;    // zero if not stated
  Seconds intake{};  // time to load each SM's operands, a part of the kernel's own time; zero if arithmetic takes
                     // longer
  [[nodiscard]] Seconds Slowest() const { return max(l2, l1); }
};
// Times at the stated bandwidths.
LevelTimes TimesThroughCaches(const LevelTraffic& traffic, const Device& device);
// The maximum of a kernel's own time, `work`, and the times of the caches.
Seconds SlowestLevel(Seconds work, const LevelTimes& levels);
// Sets the result's cache times and traffic, and its bound: a cache if the cache takes as long as `work`; otherwise
// compute (L1 if the SMs wait for their operands) or data movement, whose bound is `data`.
void SetLevels(const LevelTraffic& traffic, const LevelTimes& levels, Seconds work, Bound data, KernelTime& result);

// The bound of data movement; `hits` is the part of its time in which reads hit the L2.
inline Bound BoundOfData(Seconds moving, Seconds hits) { return 2 * hits > moving ? Bound::kL2 : Bound::kMemory; }

// For reports: a kernel's bytes at each level, first the caches from the innermost out, then memory; and the times at
// the stated bandwidths, 0 if none is stated. L1 takes at least as long as the SMs' intake.
std::vector<Bytes> BytesByLevel(const KernelTime& kernel, const Device& device);
std::vector<Seconds> TimesByLevel(const KernelTime& kernel, const std::vector<Bytes>& bytes, const Device& device);

// The bandwidth of the slowest level that streaming data pass through, and the bound that it sets.
struct Stream {
  BytesPerSecond bandwidth;
  Bound bound = Bound::kMemory;
};
Stream SlowestStream(const Device& device);

}  // namespace slipstick
