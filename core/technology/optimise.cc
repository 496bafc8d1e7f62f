#include "core/technology/optimise.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/random_bits.h"

namespace slipstick {
namespace {

constexpr double kLeastMove = 1e-6;
constexpr double kRounding = 5e-4;  // relative loss in the objective that rounding may cost

double Draw(std::uint64_t& state) { return UniformOf(MixedBits(state += kGoldenStep)); }

// Visits all pairs of different numbers up to `last`.
template <class Visit>
void VisitPairs(std::size_t last, const Visit& visit) {
  for (std::size_t from = 0; from <= last; ++from) {
    for (std::size_t to = 0; to <= last; ++to) {
      if (from != to) visit(from, to);
    }
  }
}

double LeftOf(const DesignBudget& budget, const DesignPoint& point) {
  double left = 1;
  for (const std::size_t share : budget.shares) left -= point[share];
  return left;
}

}  // namespace

Optimiser::Optimiser(DesignSpace space, std::vector<DesignPoint> starts, DesignObjective objective,
                     const OptimiseOptions& options)
    : space_(std::move(space)), objective_(std::move(objective)), options_(options), state_(options.seed) {
  for (const DesignBudget& budget : space_.budgets)
    least_left_.push_back(std::min(budget.least_left, LeftOf(budget, starts[0])));
  for (DesignPoint& start : starts) runs_.push_back({std::move(start), {}});
  best_ = runs_[0].at;
  has_drawn_ = options_.random_starts == 0;
  step_ = options_.first_step;
}

void Optimiser::DrawStarts() {
  std::vector<Run> drawn;
  for (int i = 0; i < options_.drawn; ++i) {
    DesignPoint point = RandomPoint();
    const std::optional<Tried> tried = Evaluate(point);
    if (tried) drawn.push_back({std::move(point), tried, true});
  }
  std::stable_sort(drawn.begin(), drawn.end(), IsBetter);
  if (drawn.size() > static_cast<std::size_t>(options_.random_starts))
    drawn.resize(static_cast<std::size_t>(options_.random_starts));
  runs_.insert(runs_.end(), drawn.begin(), drawn.end());
}

bool Optimiser::IsBetter(const Run& a, const Run& b) { return a.tried && (!b.tried || *a.tried < *b.tried); }

std::optional<Tried> Optimiser::Evaluate(const DesignPoint& point) {
  ++evaluations_;
  const std::optional<Tried> tried = objective_(point);
  if (tried && (!best_tried_ || *tried < *best_tried_)) {
    best_tried_ = tried;
    best_ = point;
  }
  return tried;
}

void Optimiser::Try(Run& run, const DesignPoint& next) {
  if (IsSpent() || next == run.at) return;
  const std::optional<Tried> tried = Evaluate(next);
  if (!tried || (run.tried && !(*tried < *run.tried))) return;
  run.at = next;
  run.tried = tried;
  moved_ = true;
}

double Optimiser::RoomBelow(const DesignBudget& budget, std::size_t share, const DesignPoint& point) const {
  const auto index = static_cast<std::size_t>(&budget - space_.budgets.data());
  if (share == budget.shares.size()) return LeftOf(budget, point) - least_left_[index];
  return point[budget.shares[share]] - space_.variables[budget.shares[share]].low;
}

bool Optimiser::Shift(const DesignBudget& budget, std::size_t from, std::size_t to, double most,
                      DesignPoint& point) const {
  const std::size_t rest = budget.shares.size();
  const double room_above = to == rest ? 1 : space_.variables[budget.shares[to]].high - point[budget.shares[to]];
  const double amount = std::min({most, RoomBelow(budget, from, point), room_above});
  if (!(amount > kLeastMove)) return false;
  if (from != rest) point[budget.shares[from]] -= amount;
  if (to != rest) point[budget.shares[to]] += amount;
  return amount == most;
}

void Optimiser::MoveShares(Run& run, const DesignBudget& budget) {
  VisitPairs(budget.shares.size(), [&](std::size_t from, std::size_t to) {
    DesignPoint next = run.at;
    Shift(budget, from, to, step_, next);
    Try(run, next);
  });
}

void Optimiser::MoveParts(Run& run) {
  // The index of a part's share in a budget, or of the remainder if the part has no share in it.
  const auto place = [](const DesignBudget& budget, const std::vector<std::size_t>& part) {
    const auto found = std::find_first_of(budget.shares.begin(), budget.shares.end(), part.begin(), part.end());
    return static_cast<std::size_t>(found - budget.shares.begin());
  };
  const std::vector<std::size_t> rest;
  VisitPairs(space_.parts.size(), [&](std::size_t from, std::size_t to) {
    DesignPoint next = run.at;
    for (const DesignBudget& budget : space_.budgets) {
      const std::size_t a = place(budget, from < space_.parts.size() ? space_.parts[from] : rest),
                        b = place(budget, to < space_.parts.size() ? space_.parts[to] : rest);
      if (a != b) Shift(budget, a, b, step_, next);
    }
    Try(run, next);
  });
}

void Optimiser::MoveVariable(Run& run, std::size_t variable) {
  const DesignVariable& of = space_.variables[variable];
  if (of.kind == DesignVariable::Kind::kShare || !(of.high > of.low)) return;
  if (of.kind == DesignVariable::Kind::kChoice) {
    for (double other = of.low; other <= of.high; ++other) {
      DesignPoint next = run.at;
      next[variable] = other;
      Try(run, next);
    }
    return;
  }
  for (const double direction : {1.0, -1.0}) {
    DesignPoint next = run.at;
    double& value = next[variable];
    const double before = value;
    value *= std::pow(of.high / of.low, direction * step_);
    if (of.is_whole)
      value = direction > 0 ? std::max(std::round(value), before + 1) : std::min(std::round(value), before - 1);
    value = std::clamp(value, of.low, of.high);
    Try(run, next);
  }
}

void Optimiser::Pass(Run& run) {
  moved_ = false;
  for (const DesignBudget& budget : space_.budgets) MoveShares(run, budget);
  MoveParts(run);
  for (std::size_t i = 0; i < space_.variables.size(); ++i) MoveVariable(run, i);
}

void Optimiser::Compact(Run& run) {
  for (const DesignBudget& budget : space_.budgets) {
    for (const std::size_t share : budget.shares) {
      for (double less = options_.first_step; less >= options_.last_step && !IsSpent(); less /= 2) {
        DesignPoint next = run.at;
        next[share] -= less;
        if (next[share] < space_.variables[share].low) continue;
        const std::optional<Tried> tried = Evaluate(next);
        if (!tried || (run.tried && *run.tried < *tried)) continue;
        run.at = next;
        run.tried = tried;
      }
    }
  }
}

void Optimiser::Scan(Run& run) {
  moved_ = false;
  for (const DesignBudget& budget : space_.budgets) {
    VisitPairs(budget.shares.size(), [&](std::size_t from, std::size_t to) {
      const DesignPoint here = run.at;
      for (double amount = options_.scan_step; amount <= options_.widest; amount += options_.scan_step) {
        DesignPoint next = here;
        if (!Shift(budget, from, to, amount, next)) break;
        Try(run, next);
      }
    });
  }
}

void Optimiser::BeginNext() {
  step_ = is_refining_ ? options_.coarse_step : options_.first_step;
  if (++run_ < runs_.size() || is_last_) return;
  if (is_refining_) {
    is_last_ = true;
    if (options_.scans && best_tried_) runs_.push_back({best_, best_tried_, true});
    return;
  }
  std::stable_sort(runs_.begin(), runs_.end(), IsBetter);
  const auto most = static_cast<std::size_t>(options_.refined);
  if (runs_.size() > most) runs_.resize(most);
  is_refining_ = true;
  run_ = 0;
  step_ = options_.coarse_step / 2;
}

bool Optimiser::Step() {
  if (!has_drawn_) {
    has_drawn_ = true;
    DrawStarts();
    return true;
  }
  if (run_ >= runs_.size() || IsSpent()) return false;
  Run& run = runs_[run_];
  if (!run.is_begun) {
    run.is_begun = true;
    run.tried = Evaluate(run.at);
  }
  Pass(run);
  if (moved_) return true;
  if (is_refining_) {
    Compact(run);
    Pass(run);
    if (moved_) return true;
  }
  step_ /= 2;
  if (step_ >= (is_refining_ ? options_.last_step : options_.coarse_step)) return true;
  if (is_last_) {
    Scan(run);
    step_ = options_.coarse_step / 2;
    if (moved_) return true;
  }
  if (is_refining_ && run.tried && !IsSpent()) {
    if (!is_last_) ends_.push_back(*run.tried);
    converged_ = converged_ || !(*best_tried_ < *run.tried);
  }
  BeginNext();
  return run_ < runs_.size();
}

double Optimiser::done() const {
  const double all = static_cast<double>(runs_.size());
  if (all == 0 || run_ >= runs_.size() || IsSpent()) return 1;
  // The coarse descents of all starts take about as long as the final steps of the best ones.
  return (static_cast<double>(run_) / all + (is_refining_ ? 1 : 0)) / 2;
}

int Optimiser::AgreeWithin(double share) const {
  if (!best_tried_) return 0;
  const double best = best_tried_->objective;
  return static_cast<int>(std::count_if(ends_.begin(), ends_.end(), [&](const Tried& end) {
    return end.excess == best_tried_->excess && end.objective - best <= share * std::abs(best);
  }));
}

DesignPoint Optimiser::RandomPoint() {
  DesignPoint point = runs_[0].at;
  for (std::size_t i = 0; i < space_.variables.size(); ++i) {
    const DesignVariable& of = space_.variables[i];
    if (of.kind == DesignVariable::Kind::kShare || !(of.high > of.low)) continue;
    const double at = Draw(state_);
    if (of.kind == DesignVariable::Kind::kChoice) {
      point[i] = std::min(std::floor(at * (of.high + 1)), of.high);
    } else {
      point[i] = of.low * std::pow(of.high / of.low, at);
      if (of.is_whole) point[i] = std::clamp(std::round(point[i]), of.low, of.high);
    }
  }
  for (std::size_t b = 0; b < space_.budgets.size(); ++b) {
    const DesignBudget& budget = space_.budgets[b];
    double left = 1 - least_left_[b], sum = 0;
    DesignPoint weights;
    for (const std::size_t share : budget.shares) {
      const DesignVariable& of = space_.variables[share];
      left -= of.low;
      weights.push_back(of.high > of.low ? -std::log(1 - Draw(state_)) : 0);
      sum += weights.back();
    }
    for (std::size_t i = 0; i < budget.shares.size(); ++i) {
      const DesignVariable& of = space_.variables[budget.shares[i]];
      const double more = sum > 0 ? std::max(left, 0.0) * weights[i] / sum : 0;
      point[budget.shares[i]] = std::min(of.low + more, of.high);
    }
  }
  return point;
}

DesignPoint Rounded(const DesignSpace& space, DesignPoint point) {
  for (std::size_t i = 0; i < point.size(); ++i) {
    const DesignVariable& of = space.variables[i];
    if (of.kind == DesignVariable::Kind::kChoice || of.is_whole || !(of.high > of.low)) continue;
    const bool is_share = of.kind == DesignVariable::Kind::kShare;
    const double step = is_share ? 1e-4 : std::pow(10, std::floor(std::log10(point[i])) - 4);
    point[i] = std::clamp(std::round(point[i] / step) * step, of.low, of.high);
  }
  return point;
}

bool IsPracticallyAsGood(const Tried& rounded, const Tried& exact) {
  return rounded.excess <= exact.excess && rounded.objective - exact.objective <= kRounding * std::abs(exact.objective);
}

DesignPoint Relaxed(const DesignSpace& space, const DesignPoint& point) {
  DesignPoint relaxed = point;
  for (const DesignBudget& budget : space.budgets) {
    double floors = budget.least_left;
    for (const std::size_t share : budget.shares) floors += space.variables[share].low;
    for (const std::size_t share : budget.shares) {
      const DesignVariable& of = space.variables[share];
      relaxed[share] = std::max(point[share], std::min(of.high, 1 - floors + of.low));
    }
  }
  return relaxed;
}

}  // namespace slipstick
