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

// The parts of a report: the answer to a question, and additions from other evaluations.
struct TrainingPart : TrainingReport {
  TrainingCostEfficiency cost_efficiency;
  std::optional<TrainingIntervals> intervals{};  // absent: off
  std::vector<Chosen> chosen{};                  // for an `auto` mapping
};
struct ServingPart : ServingReport {
  ServingCostEfficiency cost_efficiency;
  std::optional<SimulatedServing> simulated{};  // absent: off
  std::optional<ServingIntervals> intervals{};  // absent: off
  std::vector<Chosen> chosen{};                 // as in training
};
struct CostPart : CostReport {
  std::vector<std::string> assumed;  // paths of cost inputs that are estimates
  DeviceCostEfficiency cost_efficiency;
  std::optional<Interval<Dollars>> device_interval{};  // absent: off
};
struct DiffusionPart : DiffusionReport {
  DiffusionCostEfficiency cost_efficiency;
  std::optional<DiffusionIntervals> intervals{};  // absent: off
};
Json WriteTraining(const TrainingPart& part);
Json WriteServing(const ServingPart& part);
Json WriteCost(const CostPart& part);
Json WritePostTraining(const PostTrainingReport& report);
Json WriteDiffusion(const DiffusionPart& part);
Json WriteTechnology(const DerivedChip& chip);
// Warnings if the budgets of a chip design reduce the memory that it chose.
std::vector<std::string> DesignWarnings(const DerivedChip& chip);
// Appends the numbers of a part that explanations cover.
void AddShown(const TrainingPart& part, std::vector<ShownNumber>& shown);
void AddShown(const ServingPart& part, std::vector<ShownNumber>& shown);
void AddShown(const CostPart& part, std::vector<ShownNumber>& shown);
void AddShown(const PostTrainingReport& report, std::vector<ShownNumber>& shown);
void AddShown(const DiffusionPart& part, std::vector<ShownNumber>& shown);
Json WriteTimeline(const TrainingReport& report);  // only the passes, and the number of omitted ones

// The members of a report that are parts with a member "infeasible".
inline constexpr const char* kParts[] = {"training", "serving", "cost", "post_training", "diffusion"};

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
// The figures that a report path stands for in a table: all of an object, otherwise the figure itself.
std::vector<std::string> ColumnsOf(const std::string& path);
std::vector<std::string> NearestOutputs(std::string_view path);
// Says that no output has this path. `member` is the member or option that names it; its fixes are the nearest paths.
Issue UnknownOutput(const std::string& member, std::string_view path);
// The description of the output at a path of a report; null if there is none.
const Json* OutputAt(std::string_view path);
// Whether a larger figure at a path of the report is better.
bool IsLargerBetter(std::string_view path);
// The title of the figure at a path of the report; "" if there is none.
std::string_view OutputTitle(std::string_view path);
// Its unit; "" if it has none.
std::string_view UnitOf(std::string_view path);
// The part of the report that has the figure: "serving.ttft_s" -> "serving".
inline std::string_view PartOf(std::string_view path) { return path.substr(0, path.find('.')); }

}  // namespace slipstick
