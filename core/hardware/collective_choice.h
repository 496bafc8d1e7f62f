// Which model of collectives a cluster uses, and which algorithm for each pattern.
#pragma once

#include <optional>
#include <string>

#include "core/base/field.h"

namespace slipstick {

// kMeasured: a communication library or an engine's kernels, with fitted protocol constants, on the wiring. kAnalytic:
// the best algorithm known for the wiring, at line rate. kAlphaBeta: the textbook's equations on one latency (alpha)
// and one bandwidth (beta), whatever the wiring.
enum class CollectiveLibrary { kMeasured, kAnalytic, kAlphaBeta };
ENUM_NAMES(CollectiveLibrary, {kMeasured, "measured"}, {kAnalytic, "analytic"}, {kAlphaBeta, "alpha_beta"});

// Algorithms by name; "auto": the fastest.
struct CollectiveChoice {
  std::optional<CollectiveLibrary> library;  // absent: measured, or what the framework or the engine takes
  std::string all_reduce = "auto", all_gather = "auto", reduce_scatter = "auto", all_to_all = "auto",
              send_recv = "auto";

  [[nodiscard]] CollectiveLibrary Library() const { return library.value_or(CollectiveLibrary::kMeasured); }
};
FIELDS_OF(CollectiveChoice);

}  // namespace slipstick
