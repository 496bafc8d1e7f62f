// How serving reports the GEMMs of a layer.
#pragma once

#include <string_view>

#include "core/workload/layer.h"
#include "core/workload/model.h"

namespace slipstick {

struct ServedProduct {
  std::string_view name, scope, symbol;  // the operator, the scope of its figures, the figure of its time
  std::string_view title, note = "";     // of that figure
};
const ServedProduct& ServedAs(ProductId id);

}  // namespace slipstick
