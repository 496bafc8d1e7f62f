// Sweeps: many scenarios that differ in a few inputs.
//
// Stateless, with numbered points, so that a worker can run a sweep in pieces, show progress, and stop.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/quantity.h"
#include "core/exploration/search_job.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/answer.h"

namespace slipstick {

struct Sweep {
  Json request;
  std::vector<Axis> axes;            // the last one varies fastest
  std::vector<std::string> reports;  // paths of the report
  std::string optimise;              // figure for which a chip design's split is optimized at every point; "": none
  std::optional<SearchSpec> search = std::nullopt;  // the best mapping is searched at every point
  [[nodiscard]] Count Size() const;
};
// Figures in the order of sweep.reports, null if the report has none; issues if the point is not a valid scenario.
struct SweepPoint {
  std::vector<Json> inputs;
  std::vector<Json> figures;
  Issues issues;
  Json mapping;  // overrides of the best mapping, if searched; null if none is feasible
};
SweepPoint SweepAt(const Sweep& sweep, Count index);

// The sweep as CSV: one column per axis, one per report path (of an object, such as a time by bound, one per member),
// the mapping if searched, and "issue".
Answer SweepAnswer(std::string_view request, const std::vector<std::string>& assignments,
                   const std::vector<std::string>& axes, const std::vector<std::string>& reports,
                   const std::optional<SearchSpec>& search = std::nullopt, const std::string& optimise = "");

// The points [from, to) of
// {"request","axes":[text],"report":[path],"optimise":path?,"search":{"for","objective","limits"}?} as
// {"size","rows":[{"inputs","figures","issues","mapping"}]}.
Answer SweepRowsAnswer(std::string_view spec, Count from, Count to);

}  // namespace slipstick
