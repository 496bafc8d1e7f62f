// A request whose traffic another cluster is to serve.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"

namespace slipstick {

// What to override in `request` for the cluster of a preset; empty for "" and for the request's own cluster. A rent
// becomes that of the new device, by the same provider on the same terms; no value if none is known.
std::optional<Json> OverridesOnCluster(const Json& request, std::string_view cluster);
// Inputs of the request's own cluster that these overrides drop, as a remark; "" if there are none.
std::string DroppedInputs(const Json& request, const Json& overrides);
// The preset of the request's cluster, or "custom".
Json NameOfCluster(const Json& request);

}  // namespace slipstick
