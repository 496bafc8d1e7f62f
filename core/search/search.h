// Exhaustive search over an indexed space, in steps and shards: fixed order, same answer.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantity.h"

namespace slipstick {

inline constexpr std::size_t kMaxFigures = 3;
using Figures = std::array<double, kMaxFigures>;

// The result of one index. `figures[0]` is the objective; with the others it forms the Pareto frontier. All are
// minimized: the caller negates figures for which larger is better.
struct Outcome {
  bool feasible = false;
  bool pruned = false;      // feasible, but cannot enter the best results or the frontier; has no figures
  std::string_view reason;  // if infeasible; must have static lifetime
  Figures figures{};
};

// An index that is kept, with its figures.
struct Found {
  Count index = 0;
  Figures figures{};
};

struct SearchOptions {
  Count from = 0, to = 0;         // indices [from, to): a shard
  std::size_t top = 10;           // number of best results kept; equal figures count once, as the lowest index
  std::size_t figures = 1;        // figures in use; 2 or 3 keep a Pareto frontier
  std::size_t max_front = 65536;  // upper bound of the frontier; beyond it the worst objectives are dropped
  bool prune = true;
};

struct SearchProgress {
  Count done = 0;       // indices decided
  Count evaluated = 0;  // of these, evaluated with figures; the others were excluded by bounds
  Count feasible = 0;
  std::map<std::string, Count, std::less<>> rejected;  // by reason
  std::vector<Found> best;                             // by objective, then index
  std::vector<Found> front;  // no other index is at least as good in every figure; by objective
};

// Merges the results of shards, in any order.
void Merge(SearchProgress& into, const SearchProgress& other, const SearchOptions& options);

class Search {
 public:
  // Whether an index whose figures are all at least `bounds` can change neither the best results nor the frontier. True
  // only if kept results dominate every such index, so pruning never changes the answer.
  using IsDominated = std::function<bool(const Figures& bounds)>;
  // Evaluates an index. It may call IsDominated and, if true, return `pruned` without figures.
  using Evaluate = std::function<Outcome(Count index, const IsDominated& is_dominated)>;

  Search(const SearchOptions& options, Evaluate evaluate);
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  // Decides up to `count` further indices; false when none is left.
  bool Step(Count count);
  [[nodiscard]] const SearchProgress& progress() const { return progress_; }

 private:
  SearchOptions options_;
  Evaluate evaluate_;
  IsDominated is_dominated_;
  SearchProgress progress_;
  Count next_;
};

}  // namespace slipstick
