// Exhaustive search over a countable space, in steps, on any number of shards: same order, same answer.
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

// What one place of the space comes to. `figures[0]` is the objective; the others span the Pareto front with it. All are
// made to be minimised: what is better when larger is negated by the caller.
struct Outcome {
  bool feasible = false;
  std::string_view reason;  // of an infeasible one, a word with static lifetime
  std::array<double, kMaxFigures> figures{};
};

// A kept place of the space.
struct Found {
  Count index = 0;
  std::array<double, kMaxFigures> figures{};
};

// Cheap facts that can rule a place out. Sound: `objective` is never above the true one, and a reason is given only to
// what the full evaluation would reject for that reason.
struct PlaceBound {
  double objective = 0;
  std::string_view reason;
};

struct SearchOptions {
  Count from = 0, to = 0;        // places [from, to): a shard
  std::size_t top = 10;          // best ones kept
  std::size_t figures = 1;       // of Outcome::figures in use; 2 or 3 keep a Pareto front
  std::size_t max_front = 4096;  // of the front, at most
};

struct SearchProgress {
  Count done = 0;       // places decided, pruned ones included
  Count evaluated = 0;  // places evaluated in full
  Count feasible = 0;
  std::map<std::string, Count, std::less<>> rejected;  // by reason
  std::vector<Found> best;                             // by objective, then index
  std::vector<Found> front;                            // no other place is at least as good in every figure and better in one
};

// Lays one shard's finds over another's; the order of merging does not matter.
void Merge(SearchProgress& into, const SearchProgress& other, const SearchOptions& options);

class Search {
 public:
  using Evaluate = std::function<Outcome(Count index)>;
  // A lower bound of a place's objective, or a certain rejection; null: no pruning.
  using LowerBound = std::function<PlaceBound(Count index)>;

  Search(const SearchOptions& options, Evaluate evaluate, LowerBound bound = nullptr);
  // Decides up to `count` further places; false when none is left.
  bool Step(Count count);
  [[nodiscard]] const SearchProgress& progress() const { return progress_; }

 private:
  SearchOptions options_;
  Evaluate evaluate_;
  LowerBound bound_;
  SearchProgress progress_;
  Count next_;
};

}  // namespace slipstick
