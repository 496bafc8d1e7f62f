// Achievable fractions of a device's data-sheet rates: measured values, or rules if there are none.
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
// Rate of a kernel that keeps a fraction `busy` of the matrix units busy, and this rate over the peak. GeForce cards
// idle half of their units when they accumulate in fp32, so such a kernel comes nearer to the peak than on other chips.
FlopsPerSecond ReachedRate(const Device& device, Precision precision, Ratio busy);
Ratio ReachedShare(const Device& device, Precision precision, Ratio busy);
// Bandwidth from L2 into all SMs (R).
BytesPerSecond L2Rate(const Device& device);
// Capacity of the last cache shared by all SMs; 0 if there is none.
Bytes L2Capacity(const Device& device);
// Name of a table of the device's family, as it cites its constants: "kernels.hopper.gemm".
std::string KernelTable(const Device& device, std::string_view table);
// Memory that a program can allocate.
Bytes UsableMemory(const Device& device);
// Clock derating in a long run (d_s) at the device's TDP: (1 + d_s) scales with the square root of the rated power over
// the TDP, as the clock does under a power limit. Links between dies take part of that power. A kernel at a fraction
// `reached` of the 16-bit GEMM rate uses that much less switching power, as does one that idles units by fp32 sums.
// Power is proportional to activity and to the square of the clock, so 1 + d is proportional to the activity's root.
Ratio SustainedClockDerating(const Device& device, Precision precision, Ratio reached = 1);

// Fills absent members of device.efficiency and device.memory.usable by the rules for a device of which only the data
// sheet is known, and lists them in device.assumed; refills members already listed there. The operator models require a
// completed device.
void CompleteEfficiency(Device& device);

using AssumedFlag = bool AssumedEfficiency::*;
// Paths of the members in `used` that a rule filled; the device is at `path` ("cluster.device").
std::vector<std::string> AssumedPaths(const Device& device, std::string_view path,
                                      const std::vector<AssumedFlag>& used);
// Members of the cluster's device that rules filled in, and the text of each rule.
struct FilledMember {
  std::string_view path, rule;
};
std::vector<FilledMember> FilledByRules(const Device& device);
// Placeholder in callers' notes for the source that the device's family states.
inline constexpr std::string_view kFamilySource = "the device's family of kernels";
// Source of a device's kernels: the family's given source, or a remark that the device was not measured.
std::string_view SourceOf(const Device& device, std::string_view source);

// The substitute for a format that the device does not support; nothing if it supports the format.
std::optional<Precision> SubstituteFor(const Device& device, Precision requested);

// "A100 SXM4 80 GB has no fp8 arithmetic: matrix products are computed in bf16" without a period; "" if it supports the
// format.
std::string SubstitutionText(const Device& device, Precision requested);

}  // namespace slipstick
