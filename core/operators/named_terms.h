// Where callers that know a trace meet the numbers of this folder that remember: devices and families get the nodes of
// what it knows them by, and what a report shows gets its paths.
#pragma once

#include <string>
#include <string_view>

#include "core/base/trace.h"
#include "core/hardware/cluster.h"
#include "core/operators/time_by_bound.h"
#include "core/software/utilizations.h"

namespace slipstick {

// The device with the nodes of its inputs and of its family's constants; of a trace that is off the device itself.
const Device& Named(const Device& device, Trace& trace);

// Registers the rules that filled members of the cluster's device.
void AssumeRules(const Device& device, Trace& trace);
// In place of the inputs that utilizations scale or set, those that they make of them (AtUtilizations). `path` is that
// of the utilizations.
void ReplaceByUtilizations(const Cluster& stated, const Utilizations& utilizations, const std::string& path,
                           Trace& trace);
// `total`, split as the operators that it consists of, and what stands beside it. Each part is the figure at
// "`report`.compute" and so on.
TimeByBound SplitByBound(Seconds total, const TimeByBound& operators, const ByBound<Seconds>& beside,
                         std::string_view report, Trace& trace);

}  // namespace slipstick
