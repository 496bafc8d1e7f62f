// The parts of a report as JSON, and what every figure in them is called: readers of one result, no arithmetic.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/trace.h"
#include "core/evaluation/cost_efficiency.h"

namespace slipstick {

// What a part of a report is written from.
struct TrainingPart {
  const TrainingReport& report;
  const TrainingCostEfficiency& cost_efficiency;
};
struct ServingPart {
  const ServingReport& report;
  const ServingCostEfficiency& cost_efficiency;
};
struct CostPart {
  const CostReport& report;
  const std::vector<std::string>& assumed;  // paths of inputs that rest on an estimate
  const DeviceCostEfficiency& cost_efficiency;
};
Json WriteTraining(const TrainingPart& part);
Json WriteServing(const ServingPart& part);
Json WriteCost(const CostPart& part);
Json WriteTimeline(const std::vector<ScheduledPass>& timeline);

// Appends an entry for each output of a part: path (a * is any place of a list), kind, title, short name, unit and whether
// larger or smaller is better.
void DescribeTraining(Json& out);
void DescribeServing(Json& out);
void DescribeCost(Json& out);
// Every output of a report, made once.
const Json& DescribedOutputs();
// The numbers that a search can look for (output.h).
template <class T>
struct SearchableOutput;
std::vector<SearchableOutput<TrainingPart>> SearchableTrainingOutputs();
std::vector<SearchableOutput<ServingPart>> SearchableServingOutputs();
// Whether some report holds something at a path, and the outputs whose paths are nearest to one that none does.
bool IsReportPath(std::string_view path);
std::vector<std::string> NearestOutputs(std::string_view path);
// The title of the figure at a path of the report; "" where it has none.
std::string_view OutputTitle(std::string_view path);

// The figure shown at a path of the report and everything it rests on, inputs last; every figure for "*". Empty if no
// figure has that path.
Json WriteExplanations(const std::vector<Figure>& figures, std::string_view path);

}  // namespace slipstick
