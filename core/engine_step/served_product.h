// How serving reports the GEMMs of a layer.
#pragma once

#include <string_view>

#include "core/workload/layer.h"
#include "core/workload/model.h"

namespace slipstick {

struct ServedProduct {
  std::string_view name;              // of the operator
  std::string_view title, note = "";  // of the figure of its time
};
const ServedProduct& ServedAs(ProductId id);

}  // namespace slipstick
