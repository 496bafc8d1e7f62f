// Data-sheet values and fitted efficiencies of the devices used to validate the operator models.
#pragma once

#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {

struct DeviceFigures {
  Architecture architecture;
  double units, ghz, bf16, fp8, fp4, gbps, cache_mib, matrix, sustained_fall, stream, launch_us;
};

inline Device MakeDevice(const DeviceFigures& f) {
  Device device;
  device.architecture = f.architecture;
  device.units = static_cast<Count>(f.units);
  device.clock = f.ghz * kGHz;
  device.peak.fp32 = f.bf16 / 16 * kTFlops;
  device.peak.bf16 = device.peak.fp16 = f.bf16 * kTFlops;
  if (f.fp8 > 0) device.peak.fp8 = device.peak.int8 = f.fp8 * kTFlops;
  if (f.fp4 > 0) device.peak.fp4 = f.fp4 * kTFlops;
  device.memory.bandwidth = f.gbps * kGBps;
  device.caches = {{"L2", f.cache_mib * kMiB, {}}};
  device.efficiency.gemm_efficiency = f.matrix;
  device.efficiency.sustained_clock_derating = f.sustained_fall;
  device.efficiency.bandwidth_efficiency = f.stream;
  device.efficiency.launch_latency = f.launch_us * kUs;
  CompleteEfficiency(device);
  return device;
}

inline Device A100() {
  return MakeDevice({Architecture("ampere"), 108, 1.41, 312, 0, 0, 2039, 40, 0.90, 0.1, 0.79, 3.9});
}
inline Device H100() {
  Device device = MakeDevice({Architecture("hopper"), 132, 1.83, 989, 1979, 0, 3350, 50, 0.865, 0.225, 0.84, 2.85});
  device.efficiency.gemm_efficiency_fp8 = 0.865 * 0.90;
  return device;
}
inline Device H200() {
  return MakeDevice({Architecture("hopper"), 132, 1.83, 989, 1979, 0, 4800, 50, 0.87, 0.225, 0.83, 2.7});
}
inline Device B200() {
  return MakeDevice({Architecture("blackwell"), 148, 1.85, 2250, 4500, 9000, 8000, 126, 0.785, 0.36, 0.72, 2.15});
}
inline Device L40S() {
  return MakeDevice({Architecture("ada"), 142, 2.52, 362, 733, 0, 864, 96, 0.745, 0.1, 0.80, 2.3});
}

// Adds the values for attention: decimal capacities, decode bandwidth efficiency, L2 bandwidth.
inline Device ForAttention(Device device, double gbps, double cache_mb, double decode_stream, double cache_tbps,
                           double cache_share) {
  device.memory.bandwidth = gbps * kGBps;
  device.caches = {{"L2", cache_mb * kMB, {}}};
  device.efficiency.decode_bandwidth_efficiency = decode_stream;
  device.efficiency.l2_bandwidth = cache_tbps * kTBps;
  device.efficiency.usable_l2_fraction = cache_share;
  return device;
}
inline Device AttentionA100() { return ForAttention(A100(), 2039, 40, 0.90, 4.5, 0.6); }
inline Device AttentionH100() { return ForAttention(H100(), 3352, 50, 0.91, 5.5, 0.6); }
inline Device AttentionL40S() { return ForAttention(L40S(), 864, 100.66, 0.80, 3.5, 0.75); }
inline Device AttentionB200() { return ForAttention(B200(), 8000, 126, 0.91, 14, 0.6); }

}  // namespace slipstick
