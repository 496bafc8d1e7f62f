// Paper studies: sets of scenarios with a paper's statements and checks of the results. Data: core/presets/studies/.
//
//   {"title", "paper", "question", "request": a request (request.h),
//    "points": [{"label", "overrides": {path: value}, "measured": {path: published value}}]
//      or "axes": ["PATH=a,b,c", …] (labels: the values joined by " / "),
//    "verb": "kernel" or "cost_study" (a request of that verb; otherwise a scenario is evaluated),
//    "optimise": figure (the split of a chip design is optimized at every point),
//    "report": [path, …], "chart": see below,
//    "ratios": {"figure": path, "of": [labels], "over": [labels]} (a table of ratios of the figure),
//    "operators": {"at": path of operators, "peak": path, "bandwidth": path} (a table of intensity, ridge and bound),
//    "paper_says": verbatim quotes, "our_reading": our interpretation of its method and its basis,
//    "differs", "expect": [expectation, …]}
//
// Chart: {"title": words, "across": words under the points, "figure": path, "log": true, "series": 1 (labels are
// "place, series"), "level": value, "level_text": words} draws dots, and bars where the places are no numbers; measured
// values stand beside them. "over": label: as a ratio to that point. "heat": true: a map of two axes. "against": path:
// the figure over another. "against": "measured": over the measured value. "stack": path of an object (memory, times,
// times by bound) draws bars of its parts; "groups": {name: [members]} joins parts, "per": path divides by another
// figure, "share": true makes every bar 100 %.
//
// Expectations:
//   {"falls": path, "along": [labels], "by": smallest ratio of neighbors; default: any increase}, {"rises": …},
//   {"flat": path, "along": [labels], "within": share (default: equal to six digits)},
//   {"ratio": path, "of": [label, label], "low", "high"},
//   {"between": path, "at": [labels], "low", "high"},
//   {"equals": path, "at": [labels], "value"},
//   {"matches": path, "at": [labels], "within": greatest mean of |predicted / measured - 1|}.
// Bounds come from a hand calculation, a measurement or a paper, never from our results: "source" says from which.
// "missed": why a check is known to fail.
#pragma once

#include <string_view>

#include "core/base/json.h"
#include "core/base/quantity.h"
#include "core/scenario/answer.h"

namespace slipstick {

// {"id","title",…,"points":[{"label","figures":{path:
// value},"issues","reason"?}],"expectations":[{"text","holds","found"}]} of one study; reason: why a point is
// infeasible.
Answer StudyAnswer(std::string_view id);

// For a study that is not in the catalogue, or that differs from the catalogue's.
Json AnswerOfStudy(std::string_view id, const Json& study);

// For running a study point by point, in parallel or with progress: the number of points, one point, and the study from
// a JSON list of the points in order.
Result<Count> StudySize(std::string_view id);
Answer StudyPointAnswer(std::string_view id, Count point);
Answer StudyOfPointsAnswer(std::string_view id, std::string_view points);

}  // namespace slipstick
