// How near a device's kernels come to its data sheet: the device's own measured figures, and rules where there are none.
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
// The precision itself, or the narrowest wider one that the device has units for: what a kernel computes in.
Precision NativePrecision(const Device& device, Precision precision);
// The dense rate at which a precision is computed: its own, or the next wider format's.
FlopsPerSecond PeakRate(const Device& device, Precision precision);
// The same for a formula that calls it peak_rate.
FlopsPerSecond PeakRate(const Device& device, Precision precision, Trace& trace);
// Rate streamed out of the last cache into the units (R).
BytesPerSecond L2Rate(const Device& device);
// Capacity of the last cache shared by all units; 0 where there is none.
Bytes L2Capacity(const Device& device);
// What a program can allocate.
Bytes UsableMemory(const Device& device);
// Fall of the matrix rate in a long run (d_s) at the device's power limit: (1 + d_s) grows with the root of the power that
// the measured part had over what this one has.
double SustainedClockDerating(const Device& device);

// Fills every absent member of device.efficiency and device.memory.usable by the rules for a device known by its data
// sheet only, and marks it in device.assumed; what was so marked before is filled anew. The operator models need a device
// so completed.
void CompleteEfficiency(Device& device);

using AssumedFlag = bool AssumedEfficiency::*;
// Paths of those of the members `used` that a rule filled, with the device at `path` ("cluster.device").
std::vector<std::string> AssumedPaths(const Device& device, std::string_view path, const std::vector<AssumedFlag>& used);
// Tells the trace the rules that filled members of the cluster's device.
void AssumeRules(const Device& device, Trace& trace);
// Stands in notes for the source that the device's family states; Trace::Citing puts that one in its place.
inline constexpr std::string_view kFamilySource = "the device's family of kernels";
// What kernels of a device cite: the source that its family states, or that the device was not measured.
std::string_view SourceOf(const Device& device, std::string_view source);
// The same for figures whose own source stands where the device was measured.
std::string_view SourceInPlace(const Device& device);
// Of a share that is `share` of the device's own figure, an efficiency at a path: explains it under its symbol.
void ExplainShare(std::string_view symbol, double share, double own, std::string_view own_path, Trace& trace);
// The fall of the rate in a long run, under the symbol that it has in the formula.
void ExplainSustainedClockDerating(std::string_view symbol, const Device& device, Trace& trace);

}  // namespace slipstick
