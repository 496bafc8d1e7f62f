// A number as the unknown: the input at which a condition on a figure turns.
//
// Stateless, and its work is counted, so that a worker can show progress and stop.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exploration/search_spec.h"
#include "core/scenario/answer.h"

namespace slipstick {

// How far a solution is: values tried, about how many there will be, and between which the answer lies.
struct SolveProgress {
  Count tried = 0, of = 0;
  double low = 0, high = 0;
};

struct SolveOptions {
  std::vector<std::string> against;                            // assignments that make the scenario whose figure a condition compares with
  std::optional<SearchSpec> search;                            // the best mapping is found anew at every value
  std::function<void(const SolveProgress&)> on_progress = {};  // called after every value tried
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

}  // namespace slipstick
