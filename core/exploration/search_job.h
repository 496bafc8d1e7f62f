// An exhaustive search over all valid mappings of a training run or serving load, in steps.
//
// Axes of other inputs (nodes, memories, chiplets, topologies, or any other input) multiply the space: each combination
// is a technology, and all its mappings are consecutive. The page runs a search in a worker, the command line on
// several threads, a cluster in shards. The order of the space is fixed, so all give the same answer.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/exploration/search_criteria.h"
#include "core/exploration/search_point.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"
#include "core/search/search.h"

namespace slipstick {

class SearchJob {
 public:
  // Issues if the request or the spec is wrong or the space is empty.
  static Result<std::shared_ptr<SearchJob>> Make(const Json& request, const SearchSpec& spec);
  static Result<std::shared_ptr<SearchJob>> Make(Scenario scenario, const SearchSpec& spec);

  // Evaluates or excludes up to `count` further mappings; false when none is left.
  bool Step(Count count) { return search_->Step(count); }
  [[nodiscard]] const SearchProgress& progress() const { return search_->progress(); }
  [[nodiscard]] Count SpaceSize() const { return size_; }
  [[nodiscard]] const SearchOptions& options() const { return options_; }

  // {"space","done","evaluated","feasible","rejected","objective","best":[{"index","overrides",…figures}],"pareto":[…]}
  // of this job, or of the merged progress of several.
  [[nodiscard]] Json Report() const { return Report(progress()); }
  [[nodiscard]] Json Report(const SearchProgress& progress) const;

 private:
  struct Technology {
    std::vector<Assignment> changes;
    std::optional<Scenario> scenario;  // absent: the changes contradict each other or other inputs
  };
  // One combination of the axes in the space: its mappings from `offset` on, or a single index if it is rejected.
  struct Place {
    std::vector<Assignment> changes;
    std::unique_ptr<SearchPoint> point;
    Count offset;
    std::string_view rejected;  // the reason; "" if it is not rejected
  };

  SearchJob() = default;
  static Result<std::shared_ptr<SearchJob>> Make(std::vector<Technology> technologies, const SearchSpec& spec);
  [[nodiscard]] const Place& PlaceOf(Count index) const;
  Outcome Evaluate(Count index, const Search::IsDominated& is_dominated);
  [[nodiscard]] Json Entry(const Found& found) const;
  [[nodiscard]] Json OverridesAt(Count index) const;

  SearchCriteria criteria_;
  bool prune_ = true;
  std::vector<Place> places_;
  Count size_ = 0;
  SearchOptions options_;
  const Place* current_ = nullptr;  // the technology for which evaluate_ was made
  Search::Evaluate evaluate_;
  std::unique_ptr<Search> search_;
};

}  // namespace slipstick
