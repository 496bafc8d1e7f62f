// Hierarchical roofline: the traffic of a kernel through the caches, the time it takes at their stated bandwidths, and
// the level that bounds the kernel. A cache without a stated bandwidth takes no part.
#pragma once

#include <vector>

#include "core/hardware/device.h"
#include "core/operators/kernel.h"

namespace slipstick {

// L1 or shared memory belongs to one SM: the innermost of two or more caches. All others carry the traffic of the L2,
// so the slowest of them bounds it. Null: not stated.
const Cache* StatedL1(const Device& device);
const Cache* StatedL2(const Device& device);

struct LevelTraffic {
  Bytes l2, l1;
};
struct LevelTimes {
  Seconds l2, l1;    // zero where not stated
  Seconds intake{};  // of what every SM takes in per clock, part of the kernel's own time; zero where its arithmetic
                     // takes longer
  [[nodiscard]] Seconds Slowest() const { return max(l2, l1); }
};
// At the stated bandwidths.
LevelTimes TimesThroughCaches(const LevelTraffic& traffic, const Device& device);
// The longest of a kernel's own time, `work`, and those of the caches.
Seconds SlowestLevel(Seconds work, const LevelTimes& levels);
// Cache times and traffic of the result, and what bounds it: a cache if it takes as long as `work`; else computing,
// which is bound by L1 if the SMs wait for their intake; or moving the data, which is bound by `data`.
void SetLevels(const LevelTraffic& traffic, const LevelTimes& levels, Seconds work, Bound data, KernelTime& result);

// What bounds the moving of data of which `hits` is the time of reads that hit the L2.
inline Bound BoundOfData(Seconds moving, Seconds hits) { return 2 * hits > moving ? Bound::kL2 : Bound::kMemory; }

// For reports: a kernel's bytes at each level, caches from the innermost, then memory; and their times at the stated
// bandwidths, 0 where there is none. L1 takes at least as long as the SMs' intake.
std::vector<Bytes> BytesByLevel(const KernelTime& kernel, const Device& device);
std::vector<Seconds> TimesByLevel(const KernelTime& kernel, const std::vector<Bytes>& bytes, const Device& device);

// Data that stream through every level: the bandwidth of the slowest, and what it bounds them by.
struct Stream {
  BytesPerSecond bandwidth;
  Bound bound = Bound::kMemory;
};
Stream SlowestStream(const Device& device);

}  // namespace slipstick
