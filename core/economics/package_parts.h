// What stands in a package, and the geometry of the carrier and the substrate under it.
#pragma once

#include <vector>

#include "core/base/trace.h"
#include "core/economics/package.h"

namespace slipstick {

// Numbers and areas; prices are added as the parts are priced.
PackageParts PartsOf(const std::vector<DieInput>& dies, const MemoryInput& memory);

// Records both, so that the formulas of the package find them.
struct PackageInputs {
  const std::vector<DieInput>& dies;
  const MemoryInput& memory;
  const Package& package;
  const Wafer& wafer;
};
void ExplainParts(const PackageInputs& inputs, const PackageParts& parts, const PackageGeometry& geometry,
                  Trace& trace);

}  // namespace slipstick
