// The parts of a report as JSON, and the title of every figure in them. No arithmetic.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/explanation.h"
#include "core/base/json.h"
#include "core/diffusion/diffusion.h"
#include "core/evaluation/cost_efficiency.h"
#include "core/evaluation/intervals.h"
#include "core/post_training/post_training.h"
#include "core/search/chosen.h"
#include "core/simulation/simulate.h"
#include "core/technology/chip.h"

namespace slipstick {

// The parts of a report: the answer to a question, and what other evaluations add to it.
struct TrainingPart : TrainingReport {
  TrainingCostEfficiency cost_efficiency;
  std::optional<TrainingIntervals> intervals{};  // none: off
  std::vector<Chosen> chosen{};                  // of an `auto` mapping
};
struct ServingPart : ServingReport {
  ServingCostEfficiency cost_efficiency;
  std::optional<SimulatedServing> simulated{};  // none: off
  std::optional<ServingIntervals> intervals{};  // none: off
  std::vector<Chosen> chosen{};                 // as in training
};
struct CostPart : CostReport {
  std::vector<std::string> assumed;  // paths of cost inputs that rest on an estimate
  DeviceCostEfficiency cost_efficiency;
  std::optional<Interval<Dollars>> device_interval{};  // none: off
};
struct DiffusionPart : DiffusionReport {
  DiffusionCostEfficiency cost_efficiency;
  std::optional<DiffusionIntervals> intervals{};  // none: off
};
Json WriteTraining(const TrainingPart& part);
Json WriteServing(const ServingPart& part);
Json WriteCost(const CostPart& part);
Json WritePostTraining(const PostTrainingReport& report);
Json WriteDiffusion(const DiffusionPart& part);
Json WriteTechnology(const DerivedChip& chip);
// What the budgets of a chip design cut from the memory that it chose.
std::vector<std::string> DesignWarnings(const DerivedChip& chip);
// Appends the numbers of a part that explanations are about.
void AddShown(const TrainingPart& part, std::vector<ShownNumber>& shown);
void AddShown(const ServingPart& part, std::vector<ShownNumber>& shown);
void AddShown(const CostPart& part, std::vector<ShownNumber>& shown);
void AddShown(const PostTrainingReport& report, std::vector<ShownNumber>& shown);
void AddShown(const DiffusionPart& part, std::vector<ShownNumber>& shown);
Json WriteTimeline(const TrainingReport& report);  // the passes alone, and what they leave out

// Appends an entry for each output of a part: path (* stands for a list index), kind, title, short name, unit and
// whether larger or smaller is better.
void DescribeTraining(Json& out);
void DescribeServing(Json& out);
void DescribeCost(Json& out);
void DescribePostTraining(Json& out);
void DescribeDiffusion(Json& out);
void DescribeTechnology(Json& out);
// Every output of a report, built once.
const Json& DescribedOutputs();
// The numbers that a search can optimize or limit (output.h).
template <class T>
struct SearchableOutput;
std::vector<SearchableOutput<TrainingPart>> SearchableTrainingOutputs();
std::vector<SearchableOutput<ServingPart>> SearchableServingOutputs();
// Whether a report can hold a path, and the outputs with the nearest paths to an unknown one.
bool IsReportPath(std::string_view path);
// The figures that a path of the report stands for in a table: those of an object, and itself otherwise.
std::vector<std::string> ColumnsOf(const std::string& path);
std::vector<std::string> NearestOutputs(std::string_view path);
// The description of the output at a path of a report; null if none.
const Json* OutputAt(std::string_view path);
// Whether a larger figure at a path of the report is the better one.
bool IsLargerBetter(std::string_view path);
// The title of the figure at a path of the report; "" if none.
std::string_view OutputTitle(std::string_view path);

}  // namespace slipstick
