// A scenario's report.
#pragma once

#include <string_view>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/scenario/scenario.h"

namespace slipstick {

// What a report holds besides its figures.
struct ReportDetail {
  std::string_view explain;  // the path of a figure ("training.step_time_s"), "*" for all, "" for none
  bool scenario = true;      // the resolved scenario
  bool operators = true;     // a layer's operators, in training and serving
  bool timeline = true;      // every pass of the pipeline

  // The figures only: for sweeps and searches.
  static ReportDetail Figures() { return {"", false, false, false}; }
};

// The report of contract section 3. Total: every Scenario has one; the only issue is an `explain` that names no figure.
Result<Json> Evaluate(const Scenario& scenario, const ReportDetail& detail = {});

}  // namespace slipstick
