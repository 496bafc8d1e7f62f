// The report of a scenario.
#pragma once

#include <string_view>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// Optional parts of a report.
struct ReportDetail {
  std::string_view explain;  // the path of a figure ("training.step_time_s"), "*" for all, "" for none
  bool scenario = true;      // the resolved scenario
  bool operators = true;     // the operators of a layer, in training and serving
  bool timeline = true;      // every pass of the pipeline
  bool estimates = true;     // cost.assumed: the cost inputs that rest on an estimate
  bool intervals = true;     // where measurements of such a system would lie, and typical runs

  // Figures only, for sweeps and searches.
  static ReportDetail Figures() { return {"", false, false, false, false, false}; }
};

// Every Scenario has a report; the only possible issue is an `explain` that names no figure.
Result<Json> Evaluate(const Scenario& scenario, const ReportDetail& detail = {});

}  // namespace slipstick
