// Solves for one input: the value at which a condition on a figure starts or ceases to hold. Stateless.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exploration/search_spec.h"
#include "core/scenario/answer.h"

namespace slipstick {

// Number of values tried, their expected total, and the bracket of the answer.
struct SolveProgress {
  Count tried = 0, of = 0;
  double low = 0, high = 0;
};

struct SolveOptions {
  std::vector<std::string> against;  // assignments of the reference scenario, which conditions may compare with
  std::optional<SearchSpec> search;  // the best mapping is searched at every value
  std::function<void(const SolveProgress&)> on_progress = {};  // called after every tried value
};
// Bisects for the largest value that meets the conditions if the low end does, for the smallest if the high end does.
// `range` is "PATH=lo:hi", or "PATH=lo:hi:step" for a count in steps; `until` separates conditions by commas, and the
// answer names the one that fails beyond the value ("binding"). Invalid counts are skipped. An infeasible scenario
// meets only conditions on feasibility and memory. If the conditions hold at both ends or at neither, values in between
// are tried. From both ends: the answer is "everywhere" if they hold at all of these, else "ends", the largest value
// before the first failure, and "again", the smallest after the last. From neither: "smallest" and, as a member,
// "largest", or "none" and why. Between neighboring values, figures are assumed monotonic in the input, except in
// numbers of devices and what else moves a mapping: these divide unevenly, so a few values are tried beyond the one at
// which the conditions cease to hold, and "fails_at" is a failing value among those that hold. Only the input and its
// followers change; "held" (path -> value) lists further inputs to write for a request with the answer's figures,
// "warnings" what its report warns of.
Answer SolveAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view range,
                   std::string_view until, const SolveOptions& options = {});
// As SolveAnswer, for {"request","range","until": text or [text],"against":[text]?,"search":{…}?}.
Answer SolveSpecAnswer(std::string_view spec, const std::function<void(const SolveProgress&)>& on_progress = {});

}  // namespace slipstick
