// Devices derived from a chip design.
#pragma once

#include <string>

#include "core/base/issue.h"
#include "core/hardware/cluster.h"

namespace slipstick {

// Replaces the device by the one that its design yields; returns its link bandwidth, 0 without links. `path` is the design's.
BytesPerSecond BuildDesign(Device& device, const std::string& path, Issues& issues);
// The same for a cluster: the links replace the innermost network's bandwidth.
void BuildDesign(Cluster& cluster, const std::string& path, Issues& issues);

}  // namespace slipstick
