// A designed device in place of a data sheet's.
#pragma once

#include <string>

#include "core/base/issue.h"
#include "core/hardware/cluster.h"

namespace slipstick {

// The device that its design makes, and with it the bandwidth of its links, 0 where the design has none. `path` is the design's.
BytesPerSecond BuildDesign(Device& device, const std::string& path, Issues& issues);
// The same; the links take the place of the innermost network's.
void BuildDesign(Cluster& cluster, const std::string& path, Issues& issues);

}  // namespace slipstick
