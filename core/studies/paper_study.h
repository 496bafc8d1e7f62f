// Studies: named sets of scenarios with what a paper says of them and what must come out. Data: core/presets/studies/.
//
//   {"title", "paper", "question", "request": a request as any other (request.h),
//    "points": [{"label", "overrides": {path: value}}] or "axes": ["PATH=a,b,c", …] (labels are then the values joined by " / "),
//    "verb": "kernel" or "cost_study" (a request of that verb; otherwise a scenario is evaluated),
//    "optimise": figure (a designed device is split anew at every point), "report": [path, …],
//    "chart": {"figure": path, "log": true, "over": label, "paper": {label: value}} (how it is drawn; over: as a ratio to that
//    point's; paper: what it prints),
//    "ratios": {"figure": path, "of": [labels], "over": [labels]} (a table of the figure at each of the first over each of the second),
//    "paper_says": nothing but the paper's own words, "our_reading": what we take its method to be, and from where,
//    "differs", "expect": [expectation, …]}
//
// Expectations: {"falls": path, "along": [labels], "by": least ratio of neighbors; without it any, but equal does not count},
// {"rises": …}, {"flat": path, "along": [labels], "within": share (default: equal to six digits)}, {"ratio": path,
// "of": [label, label], "low", "high"}, {"between": path, "at": [labels], "low", "high"}, {"equals": path, "at": [labels], "value"}.
// Bounds come from a calculation by hand, a measurement or the paper, not from what came out. "missed": why one is known not to hold.
#pragma once

#include <string>
#include <string_view>

#include "core/base/quantity.h"
#include "core/scenario/answer.h"

namespace slipstick {

// {"id","title",…,"points":[{"label","figures":{path: value},"issues"}],"expectations":[{"text","holds","found"}]} of one study.
Answer StudyAnswer(std::string_view id);

// How many points a study has, one of them, and the whole from a JSON list of these in order (answers or their points): for those who run a
// study in pieces, side by side, with progress.
Result<Count> StudySize(std::string_view id);
Answer StudyPointAnswer(std::string_view id, Count point);
Answer StudyOfPointsAnswer(std::string_view id, std::string_view points);

}  // namespace slipstick
