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
#include "core/study/answer.h"
#include "core/study/search_job.h"

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

// A condition on a figure: "training.step_time_s<=30", "serving.feasible>=1".
struct Condition {
  std::string path;
  bool at_most = true;
  double bound = 0;
  std::string other;  // a figure instead of a number, "cost.device_usd<=cost.device_usd": of the scenario compared with
};
Result<Condition> ParseCondition(std::string_view text);

// How far a solution is: values tried, about how many there will be, and between which the answer lies.
struct SolveProgress {
  Count tried = 0, of = 0;
  double low = 0, high = 0;
};

// What a solution may ask besides.
struct SolveOptions {
  std::vector<std::string> against;                            // assignments that make the scenario whose figure a condition compares with
  std::optional<SearchSpec> search;                            // the best mapping is found anew at every value
  std::function<void(const SolveProgress&)> on_progress = {};  // told after every value tried
};
// The value of an input at which a condition turns from true to false, by bisection: the largest that holds if it holds
// at the low end, the smallest if it holds at the high end. `range` is "PATH=lo:hi", or "PATH=lo:hi:step" for a count that
// goes in steps. Counts are searched among those that make a scenario. What does not fit holds no condition but those on
// memory. If the condition holds nowhere or everywhere on the range, the answer says so and why. Valid where the figure is
// monotone in the input.
Answer SolveAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view range, std::string_view until,
                   const SolveOptions& options = {});
// The same of {"request","range","until","against":[text]?,"search":{…}?}.
Answer SolveSpecAnswer(std::string_view spec, const std::function<void(const SolveProgress&)>& on_progress = {});

// How a figure answers to a change of `share` up and down of each numeric input of the resolved scenario, ranked; with
// the elasticity d ln(figure) / d ln(input) over the change.
Answer SensitivityAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view figure, double share);

// A figure of a report by its dotted path (array places by number); truth values count 0 and 1.
std::optional<double> FigureAt(const Json& report, std::string_view path);

// What stands at a dotted path, or null.
const Json* MemberAt(const Json& json, std::string_view path);

}  // namespace slipstick
