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
using Figures = std::array<double, kMaxFigures>;

// What one place of the space comes to. `figures[0]` is the objective; the others span the Pareto front with it. All are
// made to be minimised: what is better when larger is negated by the caller.
struct Outcome {
  bool feasible = false;
  bool pruned = false;      // feasible, and left without figures: it can enter neither the best nor the front
  std::string_view reason;  // of an infeasible one, a word with static lifetime
  Figures figures{};
};

// A kept place of the space.
struct Found {
  Count index = 0;
  Figures figures{};
};

struct SearchOptions {
  Count from = 0, to = 0;         // places [from, to): a shard
  std::size_t top = 10;           // best ones kept; places with the same figures count once, as the first of them
  std::size_t figures = 1;        // of Outcome::figures in use; 2 or 3 keep a Pareto front
  std::size_t max_front = 65536;  // of the front, at most: beyond it the worst in the objective are left out
  bool prune = true;
};

struct SearchProgress {
  Count done = 0;       // places decided
  Count evaluated = 0;  // of them with figures, feasible or not; the others were ruled out by their bounds
  Count feasible = 0;
  std::map<std::string, Count, std::less<>> rejected;  // by reason
  std::vector<Found> best;                             // by objective, then index
  std::vector<Found> front;                            // no other place is at least as good in every figure; by objective
};

// Lays one shard's finds over another's; the order of merging does not matter.
void Merge(SearchProgress& into, const SearchProgress& other, const SearchOptions& options);

class Search {
 public:
  // Whether a place none of whose figures is below `least` could change neither the best nor the front. Sound: it is true
  // only where what is kept covers every such place, so that asking never changes the answer.
  using IsDominated = std::function<bool(const Figures& least)>;
  // Decides a place. It may ask and, told true, answer `pruned` with figures unknown.
  using Evaluate = std::function<Outcome(Count index, const IsDominated& is_dominated)>;

  Search(const SearchOptions& options, Evaluate evaluate);
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  // Decides up to `count` further places; false when none is left.
  bool Step(Count count);
  [[nodiscard]] const SearchProgress& progress() const { return progress_; }
  // Goes on where another search over the same places stopped, after `done` of them.
  void Resume(SearchProgress progress);

 private:
  SearchOptions options_;
  Evaluate evaluate_;
  IsDominated is_dominated_;
  SearchProgress progress_;
  Count next_;
};

}  // namespace slipstick
