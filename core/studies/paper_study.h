// Paper studies: sets of scenarios with a paper's statements and checks of the results. Data: core/presets/studies/.
//
//   {"title", "paper", "question", "request": a request (request.h),
//    "points": [{"label", "overrides": {path: value}}] or "axes": ["PATH=a,b,c", …] (labels: the values joined by " / "),
//    "verb": "kernel" or "cost_study" (a request of that verb; otherwise a scenario is evaluated),
//    "optimise": figure (the split of a chip design is optimized at every point), "report": [path, …],
//    "chart": {"figure": path, "log": true, "over": label, "paper": {label: value}} (over: as a ratio to that
//    point; paper: the printed values; "stack": path of an object of memory or of times by bound, such as training.memory_bytes, drawn part by part),
//    "ratios": {"figure": path, "of": [labels], "over": [labels]} (a table of ratios of the figure),
//    "paper_says": verbatim quotes, "our_reading": our interpretation of its method and its basis,
//    "differs", "expect": [expectation, …]}
//
// Expectations: {"falls": path, "along": [labels], "by": smallest ratio of neighbors; default: any increase},
// {"rises": …}, {"flat": path, "along": [labels], "within": share (default: equal to six digits)}, {"ratio": path,
// "of": [label, label], "low", "high"}, {"between": path, "at": [labels], "low", "high"}, {"equals": path, "at": [labels], "value"}.
// Bounds come from a hand calculation, a measurement or the paper, never from our results. "missed": why a check is known to fail.
#pragma once

#include <string>
#include <string_view>

#include "core/base/quantity.h"
#include "core/scenario/answer.h"

namespace slipstick {

// {"id","title",…,"points":[{"label","figures":{path: value},"issues"}],"expectations":[{"text","holds","found"}]} of one study.
Answer StudyAnswer(std::string_view id);

// For running a study point by point, in parallel or with progress: the number of points, one point, and the study from a JSON list of
// the points in order.
Result<Count> StudySize(std::string_view id);
Answer StudyPointAnswer(std::string_view id, Count point);
Answer StudyOfPointsAnswer(std::string_view id, std::string_view points);

}  // namespace slipstick
