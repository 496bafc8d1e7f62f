// Devices whose numbers have nodes, for explanations.
#pragma once

#include <string>
#include <string_view>

#include "core/base/explanation.h"
#include "core/hardware/cluster.h"
#include "core/operators/time_by_bound.h"

namespace slipstick {

// The device with the nodes of its inputs, whose path in the scenario is given, and of its family's constants. The tape
// keeps the family.
Device WithNodes(Device device, Tape& tape, const std::string& path = "cluster.device");

// The rules that filled in members of the cluster's device.
InputRules RulesOf(const Device& device);

// Splits `total` in proportion to its operators, and adds the times beside it. The split is shown at paths below
// `report`. If `tape` is null, numbers have no nodes.
TimeByBound SplitByBound(Seconds total, const TimeByBound& operators, const ByBound<Seconds>& beside,
                         std::string_view report, Tape* tape);

}  // namespace slipstick
