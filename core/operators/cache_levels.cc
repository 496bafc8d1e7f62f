#include "core/operators/cache_levels.h"

#include "core/base/figure.h"

namespace slipstick {

const Cache* StatedL1(const Device& device) {
  return device.caches.size() > 1 && device.caches.front().bandwidth ? &device.caches.front() : nullptr;
}

const Cache* StatedL2(const Device& device) {
  const Cache* slowest = nullptr;
  for (std::size_t i = device.caches.size() > 1 ? 1 : 0; i < device.caches.size(); ++i) {
    const Cache& cache = device.caches[i];
    if (cache.bandwidth && (slowest == nullptr || *cache.bandwidth < *slowest->bandwidth)) slowest = &cache;
  }
  return slowest;
}

LevelTimes TimesThroughCaches(const LevelTraffic& traffic, const Device& device) {
  LevelTimes times;
  if (const Cache* cache = StatedL2(device))
    times.l2 = Figure("Time of the L2 cache", traffic.l2 / *cache->bandwidth, "its traffic at its bandwidth");
  if (const Cache* cache = StatedL1(device))
    times.l1 = Figure("Time of L1 and shared memory", traffic.l1 / *cache->bandwidth, "its traffic at its bandwidth");
  return times;
}

Seconds SlowestLevel(Seconds work, const LevelTimes& levels) {
  if (!(levels.Slowest() > Seconds{})) return work;
  const Seconds of_l2 = levels.l2 > Seconds{} ? max(work, levels.l2) : work;
  return Figure("Slowest level", levels.l1 > Seconds{} ? max(of_l2, levels.l1) : of_l2,
                "computing and memory together, or a cache");
}

void SetLevels(const LevelTraffic& traffic, const LevelTimes& levels, Seconds work, Bound data, KernelTime& result) {
  result.l2_bytes = max(traffic.l2, result.bytes);  // data from memory pass through every level
  result.l1_bytes = max(traffic.l1, result.l2_bytes);
  result.l2 = levels.l2;
  result.l1 = max(levels.l1, levels.intake);
  const Seconds slowest = levels.Slowest();
  const bool is_cache = slowest > Seconds{} && slowest >= work;
  const Bound on_the_sms = levels.intake > Seconds{} ? Bound::kL1 : Bound::kCompute;
  result.bound = is_cache                          ? (levels.l1 > levels.l2 ? Bound::kL1 : Bound::kL2)
                 : result.compute >= result.memory ? on_the_sms
                                                   : data;
}

std::vector<Bytes> BytesByLevel(const KernelTime& kernel, const Device& device) {
  const Bytes l2 = max(kernel.l2_bytes, kernel.bytes);  // kernels that only stream do not set their cache traffic
  std::vector<Bytes> bytes(device.caches.size(), l2);
  if (device.caches.size() > 1) bytes.front() = max(kernel.l1_bytes, l2);
  bytes.push_back(kernel.bytes);
  return bytes;
}

std::vector<Seconds> TimesByLevel(const KernelTime& kernel, const std::vector<Bytes>& bytes, const Device& device) {
  std::vector<Seconds> times;
  for (std::size_t i = 0; i < device.caches.size(); ++i) {
    const std::optional<BytesPerSecond>& bandwidth = device.caches[i].bandwidth;
    times.push_back(bandwidth ? bytes[i] / *bandwidth : Seconds{});
  }
  if (device.caches.size() > 1) times.front() = max(times.front(), kernel.l1);
  times.push_back(bytes.back() / device.memory.bandwidth);
  return times;
}

Stream SlowestStream(const Device& device) {
  const BytesPerSecond memory = device.memory.bandwidth;
  const Cache *l1 = StatedL1(device), *l2 = StatedL2(device);
  const Cache* cache = l1 != nullptr && (l2 == nullptr || *l1->bandwidth < *l2->bandwidth) ? l1 : l2;
  if (cache == nullptr || *cache->bandwidth >= memory) return {memory, Bound::kMemory};
  return {Figure("Bandwidth of the slowest level", min(memory, *cache->bandwidth), "memory, or a cache"),
          cache == l1 ? Bound::kL1 : Bound::kL2};
}

}  // namespace slipstick
