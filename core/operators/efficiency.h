// Achieved fractions of a device's data-sheet rates: its measured values, or rules where there are none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/trace.h"
#include "core/hardware/device.h"
#include "core/operators/kernel_family.h"
#include "core/workload/precision.h"

namespace slipstick {

// Whether the device has matrix units for a precision.
bool Supports(const Device& device, Precision precision);
// The precision a kernel computes in: the requested one, or the narrowest wider one that the device supports.
Precision NativePrecision(const Device& device, Precision precision);
// Dense peak rate of NativePrecision.
FlopsPerSecond PeakRate(const Device& device, Precision precision);
// Also binds the symbol peak_rate to its input.
FlopsPerSecond PeakRate(const Device& device, Precision precision, Trace& trace);
// Bandwidth from L2 into all SMs (R).
BytesPerSecond L2Rate(const Device& device);
// Also records it as the figure l2_rate.
BytesPerSecond L2Rate(const Device& device, Trace& trace);
// Capacity of the last cache shared by all SMs; 0 if there is none.
Bytes L2Capacity(const Device& device);
// Also binds the symbol l2_capacity to its input.
Bytes L2Capacity(const Device& device, Trace& trace);
// Name of a table of the device's family, as it cites its constants: "kernels.hopper.gemm".
std::string KernelTable(const Device& device, std::string_view table);
// Binds a constant of the family's table `step`.
template <class T>
void BindEstimate(std::string_view symbol, T value, const Device& device, Trace& trace) {
  if (trace.on()) trace.Constants(KernelTable(device, "step"), device.architecture->step.source, symbol, value);
}
// Memory that a program can allocate.
Bytes UsableMemory(const Device& device);
// Clock derating in a long run (d_s) at the device's TDP: (1 + d_s) scales with the square root of the rated power over
// the TDP, as the clock does under a power limit, of which the links between dies take their part. Recorded as
// sustained_clock_derating.
double SustainedClockDerating(const Device& device, Trace& trace);
double SustainedClockDerating(const Device& device);

// Fills absent members of device.efficiency and device.memory.usable by the rules for a device known by its data sheet
// alone, and marks them in device.assumed; members marked before are filled again. The operator models require a
// completed device.
void CompleteEfficiency(Device& device);

using AssumedFlag = bool AssumedEfficiency::*;
// Paths of the members in `used` that a rule filled; the device is at `path` ("cluster.device").
std::vector<std::string> AssumedPaths(const Device& device, std::string_view path,
                                      const std::vector<AssumedFlag>& used);
// Registers the rules that filled members of the cluster's device with the trace.
void AssumeRules(const Device& device, Trace& trace);
// Placeholder source in notes; Trace::Citing replaces it with the source stated by the device's family.
inline constexpr std::string_view kFamilySource = "the device's family of kernels";
// Source of a device's kernels: the given one of its family, or a remark that the device was not measured.
std::string_view SourceOf(const Device& device, std::string_view source);
// The same for figures with a source of their own: that one stays if the device was measured.
std::string_view SourceInPlace(const Device& device);
// Explains a kernel's efficiency `share` as the device's efficiency `own` (an input) times the kernel's relative
// efficiency.
void ExplainShare(std::string_view symbol, double share, double own, std::string_view own_path, Trace& trace);
// The same for a kernel whose relative efficiency is a figure, "kernel_share", even where it is 1.
void ExplainKernelShare(std::string_view symbol, double share, double own, std::string_view own_path, Trace& trace);

}  // namespace slipstick
