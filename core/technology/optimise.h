// The best point of a design space: shares of budgets, numbers in a range, choices from a list.
//
// Method: pattern search. A move shifts a step from one share of a budget to another (the remainder counts as a share),
// or from one part of the chip to another in all budgets at once (one more memory stack wants area, power and edge
// together), or changes a number or a choice; when no move helps, the step is halved. Every start and the best of many
// random points descend coarsely, and the best few to the last step; from the best of all, shifts by every amount. It
// returns the best ever seen, never worse than its start. The objective has floors (whole units, whole stacks), hence
// no gradients.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace slipstick {

// A value for each variable; of a choice its place in the list.
using DesignPoint = std::vector<double>;

struct DesignVariable {
  enum class Kind { kShare, kNumber, kChoice };
  Kind kind = Kind::kShare;
  double low = 0, high = 1;  // of a choice 0 and the last place; a variable that may not move has low = high
  bool is_whole = false;     // a number that counts something
};
// Shares that sum to one with their remainder, which keeps `least_left`.
struct DesignBudget {
  std::vector<std::size_t> shares;  // variables
  double least_left = 0;
};
struct DesignSpace {
  std::vector<DesignVariable> variables;
  std::vector<DesignBudget> budgets;
  std::vector<std::vector<std::size_t>> parts;  // shares of several budgets that feed one part of the chip
};
// The point with as few digits as make no difference to a design, so that links and commands stay short.
DesignPoint Rounded(const DesignSpace& space, DesignPoint point);
// Every share at its most at once, which no point of the space is: as fast as no split can be.
DesignPoint Relaxed(const DesignSpace& space, const DesignPoint& point);

// What a point comes to: less excess over limits first, then less of the objective.
struct Tried {
  double excess = 0;  // 0: all limits hold
  double objective = 0;
  bool operator<(const Tried& other) const {
    return excess != other.excess ? excess < other.excess : objective < other.objective;
  }
};
// Empty if the design yields no device.
using DesignObjective = std::function<std::optional<Tried>(const DesignPoint&)>;

struct OptimiseOptions {
  int drawn = 200;        // random points, of which
  int random_starts = 8;  // the best descend
  int refined = 4;        // of the starts, the best of which descend to the last step
  double first_step = 0.08;
  double coarse_step = 0.02;
  double last_step = 0.002;
  bool scans = true;  // the best point, by every amount from `scan_step` to `widest`
  double scan_step = 0.004, widest = 0.12;
  std::uint64_t seed = 1;
  int max_evaluations = 10000;
};

// Runs in steps, so that its owner can show progress and stop.
class Optimiser {
 public:
  Optimiser(DesignSpace space, std::vector<DesignPoint> starts, DesignObjective objective,
            const OptimiseOptions& options);
  // The random points first, then one pass over all moves each; false when nothing is left to do.
  bool Step();

  [[nodiscard]] const DesignPoint& best() const { return best_; }
  // Empty while no point yields a device.
  [[nodiscard]] const std::optional<Tried>& tried() const { return best_tried_; }
  [[nodiscard]] int evaluations() const { return evaluations_; }
  // Between 0 and 1: by the starts that have ended.
  [[nodiscard]] double done() const;
  // Whether the best start ended because no move helps at the last step, not because the evaluations ran out.
  [[nodiscard]] bool converged() const { return converged_; }
  // Of the starts refined to the last step: how many there were, and how many ended within `share` of the best.
  [[nodiscard]] int ended() const { return static_cast<int>(ends_.size()); }
  [[nodiscard]] int AgreeWithin(double share) const;

 private:
  struct Run {
    DesignPoint at;
    std::optional<Tried> tried;
    bool is_begun = false;  // `tried` is that of `at`
  };
  static bool IsBetter(const Run& a, const Run& b);
  std::optional<Tried> Evaluate(const DesignPoint& point);
  void Try(Run& run, const DesignPoint& next);
  void Pass(Run& run);
  void MoveShares(Run& run, const DesignBudget& budget);
  void MoveParts(Run& run);
  void MoveVariable(Run& run, std::size_t variable);
  // Takes from every share what it has for nothing (a part of a unit, a link or a stack), so that the remainder can pay
  // for a whole one.
  void Compact(Run& run);
  // Moves between two shares of a budget by every amount up to the widest: whole units, links and stacks make an
  // objective with teeth, over which no halved step finds a way.
  void Scan(Run& run);
  // What a share can give; `shares.size()` stands for the remainder.
  [[nodiscard]] double RoomBelow(const DesignBudget& budget, std::size_t share, const DesignPoint& point) const;
  // Shifts up to `most` between two shares of a budget; false if there was no room for all of it.
  bool Shift(const DesignBudget& budget, std::size_t from, std::size_t to, double most, DesignPoint& point) const;
  [[nodiscard]] DesignPoint RandomPoint();
  void DrawStarts();
  void BeginNext();
  [[nodiscard]] bool IsSpent() const { return evaluations_ >= options_.max_evaluations; }

  DesignSpace space_;
  std::vector<double> least_left_;  // of each budget; a start that leaves less keeps what it leaves
  DesignObjective objective_;
  OptimiseOptions options_;
  std::uint64_t state_;
  std::vector<Run> runs_;
  std::size_t run_ = 0;
  bool has_drawn_ = false;
  bool is_refining_ = false, is_last_ = false, moved_ = false, converged_ = false;
  double step_ = 0;
  std::vector<Tried> ends_;
  DesignPoint best_;
  std::optional<Tried> best_tried_;
  int evaluations_ = 0;
};

}  // namespace slipstick
