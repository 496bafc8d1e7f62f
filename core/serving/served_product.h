// How serving reports the GEMMs of a layer.
#pragma once

#include <string_view>

#include "core/base/trace.h"
#include "core/workload/layer.h"
#include "core/workload/model.h"

namespace slipstick {

struct ServedProduct {
  std::string_view name, scope, symbol;  // the operator, the scope of its figures, the figure of its time
  Note note;                             // of that figure
};
const ServedProduct& ServedAs(ProductId id);

// Weights of one GEMM, with figures in the current scope; of several, each in a scope of its own, with the sum as a figure.
double ElementsOf(const Model& model, const LayerWidths& widths, const MatrixProduct& product, Trace& trace);
double ElementsOf(const Model& model, const LayerWidths& widths, const MatrixProducts& products, std::string_view symbol, const Note& note,
                  Trace& trace);

}  // namespace slipstick
