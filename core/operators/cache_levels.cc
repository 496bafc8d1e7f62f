#include "core/operators/cache_levels.h"

#include <string>

#include "core/base/units.h"

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

void BindBandwidth(std::string_view symbol, const Cache& cache, const Device& device, Trace& trace) {
  if (!trace.on()) return;
  trace.Input(symbol, *cache.bandwidth,
              "cluster.device.caches." + std::to_string(&cache - device.caches.data()) + ".bandwidth");
}

LevelTimes TimesThroughCaches(const LevelTraffic& traffic, const Device& device, Trace& trace) {
  LevelTimes times;
  if (const Cache* cache = StatedL2(device)) {
    const Bytes l2_traffic = traffic.l2;
    const BytesPerSecond l2_bandwidth = *cache->bandwidth;
    BindBandwidth("l2_bandwidth", *cache, device, trace);
    FIGURE(trace, l2_time, l2_traffic / l2_bandwidth, (Note{"Time of the L2 cache", "its traffic at its bandwidth"}),
           l2_traffic, l2_bandwidth);
    times.l2 = l2_time;
  }
  if (const Cache* cache = StatedL1(device)) {
    const Bytes l1_traffic = traffic.l1;
    const BytesPerSecond l1_bandwidth = *cache->bandwidth;
    BindBandwidth("l1_bandwidth", *cache, device, trace);
    FIGURE(trace, l1_time, l1_traffic / l1_bandwidth,
           (Note{"Time of L1 and shared memory", "its traffic at its bandwidth"}), l1_traffic, l1_bandwidth);
    times.l1 = l1_time;
  }
  return times;
}

Seconds SlowestLevel(Seconds work, std::string_view work_is, const LevelTimes& levels, const Device& device,
                     Trace& trace) {
  const Seconds bounded_time = max(work, levels.Slowest());
  if (!trace.on()) return bounded_time;
  const bool has_l2 = StatedL2(device) != nullptr, has_l1 = StatedL1(device) != nullptr;
  const Seconds l2_time = levels.l2, l1_time = levels.l1;
  constexpr Note kNote{"Slowest level", "computing and memory together, or a cache"};
  trace.Alias("work_time", work, work_is);
  if (has_l2 && has_l1) {
    trace.Record("bounded_time", "max(work_time, l2_time, l1_time)", bounded_time, kNote, "work_time, l2_time, l1_time",
                 work, l2_time, l1_time);
  } else if (has_l2) {
    trace.Record("bounded_time", "max(work_time, l2_time)", bounded_time, kNote, "work_time, l2_time", work, l2_time);
  } else if (has_l1) {
    trace.Record("bounded_time", "max(work_time, l1_time)", bounded_time, kNote, "work_time, l1_time", work, l1_time);
  } else {
    trace.Alias("bounded_time", work, work_is);
  }
  return bounded_time;
}

void SetLevels(const LevelTraffic& traffic, const LevelTimes& levels, Seconds work, Bound data, KernelTime& result) {
  result.l2_bytes = max(traffic.l2, result.bytes);  // data from memory pass every level
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
  const Bytes l2 = max(kernel.l2_bytes, kernel.bytes);  // kernels that only stream state no traffic of the caches
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

Stream SlowestStream(const Device& device, Trace& trace) {
  const BytesPerSecond memory_bandwidth = device.memory.bandwidth;
  const Cache *l1 = StatedL1(device), *l2 = StatedL2(device);
  const Cache* cache = l1 != nullptr && (l2 == nullptr || *l1->bandwidth < *l2->bandwidth) ? l1 : l2;
  if (cache == nullptr || *cache->bandwidth >= memory_bandwidth) {
    trace.Input("bandwidth", memory_bandwidth, "cluster.device.memory.bandwidth");
    return {memory_bandwidth, Bound::kMemory};
  }
  const BytesPerSecond cache_bandwidth = *cache->bandwidth;
  trace.Input("memory_bandwidth", memory_bandwidth, "cluster.device.memory.bandwidth");
  BindBandwidth("cache_bandwidth", *cache, device, trace);
  FIGURE(trace, bandwidth, min(memory_bandwidth, cache_bandwidth),
         (Note{"Bandwidth of the slowest level", "memory, or a cache"}), memory_bandwidth, cache_bandwidth);
  return {bandwidth, cache == l1 ? Bound::kL1 : Bound::kL2};
}

}  // namespace slipstick
