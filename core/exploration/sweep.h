// Many scenarios that differ in a few inputs: sweeps, a number as the unknown, and what matters most.
//
// All three are stateless and count their work, so that a worker can do it piece by piece, show progress, and stop.
#pragma once

#include <functional>
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

// One input and the values it takes: "training.mapping.tp=1,2,4", "cluster.devices=8:512:7:log".
struct Axis {
  std::string path;
  std::vector<Json> values;
};
Result<Axis> ParseAxis(std::string_view text);

struct Sweep {
  Json request;
  std::vector<Axis> axes;                           // the last one runs fastest
  std::vector<std::string> reports;                 // paths of the report
  std::string optimise;                             // a figure for which a designed device is split anew at every point; "" for none
  std::optional<SearchSpec> search = std::nullopt;  // the best mapping is found anew at every point
  [[nodiscard]] Count Size() const;
};
// A point's figures, in the order of sweep.reports; absent where the report has none. Issues where the point is no scenario.
struct SweepPoint {
  std::vector<Json> inputs;
  std::vector<Json> figures;
  Issues issues;
  Json mapping;  // overrides of the best mapping, where one was looked for; null where none will do
};
SweepPoint SweepAt(const Sweep& sweep, Count index);

// The whole sweep as CSV: a column an axis, a column a report path, the mapping where it is found anew, a last column "issue".
Answer SweepAnswer(std::string_view request, const std::vector<std::string>& assignments, const std::vector<std::string>& axes,
                   const std::vector<std::string>& reports, const std::optional<SearchSpec>& search = std::nullopt,
                   const std::string& optimise = "");

// The points [from, to) of {"request","axes":[text],"report":[path],"optimise":path?,"search":{"for","objective","limits"}?} as
// {"size","rows":[{"inputs","figures","issues","mapping"}]}.
Answer SweepRowsAnswer(std::string_view spec, Count from, Count to);

}  // namespace slipstick
