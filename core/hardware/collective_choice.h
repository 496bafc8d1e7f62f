// Which model of collectives a cluster uses, and which algorithm for each collective type.
#pragma once

#include <optional>
#include <string>

#include "core/base/field.h"

namespace slipstick {

// kMeasured: a communication library or an engine's kernels, with fitted protocol constants, on the actual wiring.
// kAnalytic: the fastest closed form of the table of algorithms, at line rate. kAlphaBeta: textbook equations with one
// latency (alpha) and one bandwidth (beta), for any wiring.
enum class CollectiveLibrary { kMeasured, kAnalytic, kAlphaBeta };
ENUM_NAMES(CollectiveLibrary, {kMeasured, "measured"}, {kAnalytic, "analytic"}, {kAlphaBeta, "alpha_beta"});

// Algorithms by name; "auto": the fastest.
struct CollectiveChoice {
  std::optional<CollectiveLibrary> library;  // absent: measured, or the framework's or engine's choice
  std::string all_reduce = "auto", all_gather = "auto", reduce_scatter = "auto", all_to_all = "auto",
              send_recv = "auto";

  [[nodiscard]] CollectiveLibrary Library() const { return library.value_or(CollectiveLibrary::kMeasured); }
};
FIELDS_OF(CollectiveChoice);

}  // namespace slipstick
