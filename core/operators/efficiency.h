// Achieved fractions of a device's data-sheet rates: its measured values, or rules where there are none.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
// Bandwidth from L2 into all SMs (R).
BytesPerSecond L2Rate(const Device& device);
// Capacity of the last cache shared by all SMs; 0 if there is none.
Bytes L2Capacity(const Device& device);
// Name of a table of the device's family, as it cites its constants: "kernels.hopper.gemm".
std::string KernelTable(const Device& device, std::string_view table);
// Memory that a program can allocate.
Bytes UsableMemory(const Device& device);
// Clock derating in a long run (d_s) at the device's TDP: (1 + d_s) scales with the square root of the rated power over
// the TDP, as the clock does under a power limit, of which the links between dies take their part. A kernel that reaches
// the share `reached` of what the device's 16-bit products do keeps its circuits that much less busy: power goes with it
// and the square of the clock, so that 1 + d goes with its root.
Ratio SustainedClockDerating(const Device& device, Ratio reached = 1);

// Fills absent members of device.efficiency and device.memory.usable by the rules for a device known by its data sheet
// alone, and marks them in device.assumed; members marked before are filled again. The operator models require a
// completed device.
void CompleteEfficiency(Device& device);

using AssumedFlag = bool AssumedEfficiency::*;
// Paths of the members in `used` that a rule filled; the device is at `path` ("cluster.device").
std::vector<std::string> AssumedPaths(const Device& device, std::string_view path,
                                      const std::vector<AssumedFlag>& used);
// Members of the cluster's device that rules filled, and the rules' texts.
struct FilledMember {
  std::string_view path, rule;
};
std::vector<FilledMember> FilledByRules(const Device& device);
// Placeholder in the notes of callers, for the source that the device's family states.
inline constexpr std::string_view kFamilySource = "the device's family of kernels";
// Source of a device's kernels: the given one of its family, or a remark that the device was not measured.
std::string_view SourceOf(const Device& device, std::string_view source);

// Number formats computed in place of those that a device does not support.

// The substitute for a format that the device does not support; none if it supports it.
std::optional<Precision> SubstituteFor(const Device& device, Precision requested);

// "A100 SXM4 80 GB has no fp8 arithmetic: matrix products are computed in bf16" without a period; "" if it supports the
// format.
std::string SubstitutionText(const Device& device, Precision requested);

}  // namespace slipstick
