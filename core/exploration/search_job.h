// An exhaustive search over all valid mappings of a training run or serving load, in steps.
//
// The page runs it in a worker, the command line on several threads, a cluster in shards. The order of the space is fixed,
// so all give the same answer.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/scenario.h"
#include "core/search/mapping_space.h"
#include "core/search/search.h"
#include "core/search/serving_space.h"

namespace slipstick {

// The members that a serving search chooses, as path -> value of a scenario.
Json OverridesOf(const ServingChoice& choice);

class SearchJob {
 public:
  // Issues if the request or the spec is wrong or the space is empty.
  static Result<std::shared_ptr<SearchJob>> Make(const Json& request, const SearchSpec& spec);
  static Result<std::shared_ptr<SearchJob>> Make(Scenario scenario, const SearchSpec& spec);

  // Evaluates or rules out up to `count` further mappings; false when none is left.
  bool Step(Count count) { return search_->Step(count); }
  [[nodiscard]] const SearchProgress& progress() const { return search_->progress(); }
  [[nodiscard]] Count SpaceSize() const;
  [[nodiscard]] Count ShardSize() const { return options_.to - options_.from; }
  [[nodiscard]] const SearchOptions& options() const { return options_; }

  // {"space","done","evaluated","feasible","rejected","objective","best":[{"index","overrides",…figures}],"pareto":[…]} of
  // this job, or of the merged progress of several.
  [[nodiscard]] Json Report() const { return Report(progress()); }
  [[nodiscard]] Json Report(const SearchProgress& progress) const;

 private:
  SearchJob() = default;
  [[nodiscard]] Json Entry(const Found& found) const;
  [[nodiscard]] Json OverridesAt(Count index) const;

  std::string part_;
  Scenario scenario_;
  std::shared_ptr<const TrainingSpace> training_;
  std::shared_ptr<const ServingSpace> serving_;
  std::vector<std::string> figures_;  // names, the objective first
  SearchOptions options_;
  std::unique_ptr<Search> search_;
};

}  // namespace slipstick
