// The report of a scenario.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  bool intervals = true;     // 90 % intervals from measurements of similar systems, and typical runs
  // The reported parts, "training", "serving", "cost" and so on; empty: all. Parts that they use are also evaluated.
  std::vector<std::string_view> parts{};

  // Figures only, for sweeps and searches.
  static ReportDetail Figures(std::vector<std::string_view> parts = {}) {
    return {"", false, false, false, false, false, std::move(parts)};
  }
  [[nodiscard]] bool Has(std::string_view part) const {
    return parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end();
  }
};

// Every Scenario has a report; the only possible issue is an `explain` path of no figure.
Result<Json> Evaluate(const Scenario& scenario, const ReportDetail& detail = {});

// The exact elasticities d ln(figure) / d ln(input) of a figure of the report ("training.step_time_s") by the inputs to
// which its explanation leads, by path, from one evaluation. Choices and counts on the way are held. Not a number
// where a result on the way was found by a search or a simulation whose derivative is unknown.
using Elasticities = std::map<std::string, double>;
Elasticities ElasticitiesOf(const Scenario& scenario, std::string_view figure);

}  // namespace slipstick
