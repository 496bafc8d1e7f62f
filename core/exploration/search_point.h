// The mappings of one scenario of a search, and their figures.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/json.h"
#include "core/economics/cost.h"
#include "core/exploration/search_criteria.h"
#include "core/scenario/scenario.h"
#include "core/search/mapping_space.h"
#include "core/search/search.h"
#include "core/search/serving_space.h"

namespace slipstick {

// The members that a serving search chooses, as path -> value of a scenario.
Json OverridesOf(const ServingChoice& choice);

class SearchPoint {
 public:
  using Evaluate = Search::Evaluate;
  // `part`: "training" or "serving", which the scenario must have.
  SearchPoint(Scenario scenario, const std::string& part, const SpaceLimits& limits);
  SearchPoint(const SearchPoint&) = delete;
  SearchPoint& operator=(const SearchPoint&) = delete;

  [[nodiscard]] Count Size() const;
  // Whether the device can be manufactured: no die is larger than the reticle.
  [[nodiscard]] bool CanBeMade() const { return !cost_ || cost_->infeasible.empty(); }
  // Evaluates its mappings, which share sub-results during the evaluator's lifetime; the point must outlive it.
  [[nodiscard]] Evaluate Begin(const SearchCriteria& criteria, bool prune) const;
  // The members that the search chooses, as path -> value of a scenario.
  [[nodiscard]] Json OverridesAt(Count index) const;

 private:
  Scenario scenario_;
  std::optional<CostReport> cost_;
  std::shared_ptr<const TrainingSpace> training_;  // exactly one of the two is set
  std::shared_ptr<const ServingSpace> serving_;
};

}  // namespace slipstick
