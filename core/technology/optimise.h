// The best point of a design space: shares of budgets, numbers in a range, choices from a list.
//
// Method: pattern search. A move shifts a step from one share of a budget to another (the remainder counts as a share),
// or from one part of the chip to another in all budgets at once (one more memory stack needs area, power and edge
// together), or changes a number or a choice; when no move helps, the step is halved. Every start and the best of many
// random points descend coarsely, and the best few down to the last step; then the best point is scanned with shifts of
// every amount. The result is the best point seen, never worse than its start. The objective has floors (whole units,
// whole stacks), hence no gradients.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace slipstick {

// A value for each variable; for a choice, the index in its list.
using DesignPoint = std::vector<double>;

struct DesignVariable {
  enum class Kind { kShare, kNumber, kChoice };
  Kind kind = Kind::kShare;
  double low = 0, high = 1;  // for a choice, 0 and the last index; a variable that may not move has low = high
  bool is_whole = false;     // a number that is a count
};
// Shares whose sum with the remainder is one; the remainder stays at least `least_left`.
struct DesignBudget {
  std::vector<std::size_t> shares;  // indices of variables
  double least_left = 0;
};
struct DesignSpace {
  std::vector<DesignVariable> variables;
  std::vector<DesignBudget> budgets;
  std::vector<std::vector<std::size_t>> parts;  // shares of several budgets that feed one part of the chip
};
// The point with as few digits as keep the design practically the same, for short links and commands.
DesignPoint Rounded(const DesignSpace& space, DesignPoint point);
// All shares at their maximum at once, which is outside the space: at least as fast as any split.
DesignPoint Relaxed(const DesignSpace& space, const DesignPoint& point);

// The result of a point. The lower excess over limits is better, then the lower objective.
struct Tried {
  double excess = 0;  // 0: all limits hold
  double objective = 0;
  bool operator<(const Tried& other) const {
    return excess != other.excess ? excess < other.excess : objective < other.objective;
  }
};
// Whether rounding a point costs nothing that a user would notice.
bool IsPracticallyAsGood(const Tried& rounded, const Tried& exact);
// Empty if the design yields no device.
using DesignObjective = std::function<std::optional<Tried>(const DesignPoint&)>;

struct OptimiseOptions {
  int drawn = 200;        // random points
  int random_starts = 8;  // the best of these, which descend
  int refined = 4;        // number of starts, the best ones, that descend to the last step
  double first_step = 0.08;
  double coarse_step = 0.02;
  double last_step = 0.002;
  bool scans = true;  // scans from the best point, by every amount from `scan_step` to `widest`
  double scan_step = 0.004, widest = 0.12;
  std::uint64_t seed = 1;
  int max_evaluations = 10000;
};

// Runs in steps, so that its owner can show progress and stop.
class Optimiser {
 public:
  Optimiser(DesignSpace space, std::vector<DesignPoint> starts, DesignObjective objective,
            const OptimiseOptions& options);
  // Evaluates the random points first, then makes one pass over all moves per call; false when nothing is left to do.
  bool Step();

  [[nodiscard]] const DesignPoint& best() const { return best_; }
  // Empty as long as no point yields a device.
  [[nodiscard]] const std::optional<Tried>& tried() const { return best_tried_; }
  [[nodiscard]] int evaluations() const { return evaluations_; }
  // Progress between 0 and 1, from the starts that have ended.
  [[nodiscard]] double done() const;
  // Whether the best start ended because no move helps at the last step, not because it ran out of evaluations.
  [[nodiscard]] bool converged() const { return converged_; }
  // The starts that were refined to the last step: their number, and how many ended within `share` of the best.
  [[nodiscard]] int ended() const { return static_cast<int>(ends_.size()); }
  [[nodiscard]] int AgreeWithin(double share) const;

 private:
  struct Run {
    DesignPoint at;
    std::optional<Tried> tried;
    bool is_begun = false;  // `tried` is the result of `at`
  };
  static bool IsBetter(const Run& a, const Run& b);
  std::optional<Tried> Evaluate(const DesignPoint& point);
  void Try(Run& run, const DesignPoint& next);
  void Pass(Run& run);
  void MoveShares(Run& run, const DesignBudget& budget);
  void MoveParts(Run& run);
  void MoveVariable(Run& run, std::size_t variable);
  // Takes from every share the part that has no effect (a fraction of a unit, a link or a stack), so that the remainder
  // can pay for a whole one.
  void Compact(Run& run);
  // Moves every amount up to the widest between two shares of a budget: whole units, links and stacks make the
  // objective a sawtooth, which halved steps cannot cross.
  void Scan(Run& run);
  // The amount that a share can give; `shares.size()` stands for the remainder.
  [[nodiscard]] double RoomBelow(const DesignBudget& budget, std::size_t share, const DesignPoint& point) const;
  // Shifts up to `most` between two shares of a budget; false if there was not enough room.
  bool Shift(const DesignBudget& budget, std::size_t from, std::size_t to, double most, DesignPoint& point) const;
  [[nodiscard]] DesignPoint RandomPoint();
  void DrawStarts();
  void BeginNext();
  [[nodiscard]] bool IsSpent() const { return evaluations_ >= options_.max_evaluations; }

  DesignSpace space_;
  std::vector<double> least_left_;  // per budget; a start whose remainder is smaller may keep that
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
