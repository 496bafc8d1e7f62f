#include "core/search/search.h"

#include <algorithm>
#include <utility>

namespace slipstick {
namespace {

bool Better(const Found& a, const Found& b) {
  return a.figures[0] != b.figures[0] ? a.figures[0] < b.figures[0] : a.index < b.index;
}

bool AtLeastAsGood(const Figures& a, const Figures& b, std::size_t figures) {
  for (std::size_t i = 0; i < figures; ++i) {
    if (!(a[i] <= b[i])) return false;
  }
  return true;
}

bool Same(const Figures& a, const Figures& b, std::size_t figures) {
  return std::equal(a.begin(), a.begin() + figures, b.begin());
}

void KeepBest(std::vector<Found>& best, const Found& found, const SearchOptions& options) {
  if (options.top == 0 || (best.size() == options.top && !Better(found, best.back()))) return;
  for (Found& kept : best) {
    if (!Same(kept.figures, found.figures, options.figures)) continue;
    if (kept.index <= found.index) return;
    best.erase(best.begin() + (&kept - best.data()));
    break;
  }
  best.insert(std::upper_bound(best.begin(), best.end(), found, Better), found);
  if (best.size() > options.top) best.pop_back();
}

// On a frontier of two figures, ascending in the first and descending in the second: the last point not above `x`.
std::size_t NotAbove(const std::vector<Found>& front, double x) {
  return static_cast<std::size_t>(
      std::upper_bound(front.begin(), front.end(), x,
                       [](double value, const Found& kept) { return value < kept.figures[0]; }) -
      front.begin());
}

// A frontier point that is at least as good in every figure; null if there is none.
const Found* Covering(const std::vector<Found>& front, const Figures& figures, std::size_t count) {
  if (count == 2) {
    const std::size_t after = NotAbove(front, figures[0]);
    return after > 0 && front[after - 1].figures[1] <= figures[1] ? &front[after - 1] : nullptr;
  }
  for (const Found& kept : front) {
    if (kept.figures[0] > figures[0]) return nullptr;
    if (AtLeastAsGood(kept.figures, figures, count)) return &kept;
  }
  return nullptr;
}

void KeepFront(std::vector<Found>& front, const Found& found, const SearchOptions& options) {
  if (options.figures < 2) return;
  if (const Found* kept = Covering(front, found.figures, options.figures)) {
    // Of equal results, the lower index is kept.
    if (found.index < kept->index && Same(kept->figures, found.figures, options.figures)) {
      front[static_cast<std::size_t>(kept - front.data())].index = found.index;
    }
    return;
  }
  front.erase(
      std::remove_if(front.begin(), front.end(),
                     [&](const Found& kept) { return AtLeastAsGood(found.figures, kept.figures, options.figures); }),
      front.end());
  front.insert(std::upper_bound(front.begin(), front.end(), found, Better), found);
  if (front.size() > options.max_front) front.pop_back();
}

}  // namespace

void Merge(SearchProgress& into, const SearchProgress& other, const SearchOptions& options) {
  into.done += other.done;
  into.evaluated += other.evaluated;
  into.feasible += other.feasible;
  for (const auto& [reason, count] : other.rejected) into.rejected[reason] += count;
  for (const Found& found : other.best) KeepBest(into.best, found, options);
  for (const Found& found : other.front) KeepFront(into.front, found, options);
}

Search::Search(const SearchOptions& options, Evaluate evaluate)
    : options_(options), evaluate_(std::move(evaluate)), next_(options.from) {
  is_dominated_ = [this](const Figures& bounds) {
    if (!options_.prune) return false;
    // Indices come in order, so a result equal to the last kept one ranks after it.
    const bool misses_best =
        options_.top == 0 || (progress_.best.size() == options_.top && bounds[0] >= progress_.best.back().figures[0]);
    return misses_best && (options_.figures < 2 || Covering(progress_.front, bounds, options_.figures) != nullptr);
  };
}

bool Search::Step(Count count) {
  const Count end = std::min(options_.to, next_ + count);
  for (; next_ < end; ++next_) {
    ++progress_.done;
    const Outcome outcome = evaluate_(next_, is_dominated_);
    if (!outcome.pruned) ++progress_.evaluated;
    if (!outcome.feasible) {
      const auto counted = progress_.rejected.find(outcome.reason);
      counted != progress_.rejected.end() ? ++counted->second : progress_.rejected[std::string(outcome.reason)] = 1;
      continue;
    }
    ++progress_.feasible;
    if (outcome.pruned) continue;
    const Found found{next_, outcome.figures};
    KeepBest(progress_.best, found, options_);
    KeepFront(progress_.front, found, options_);
  }
  return next_ < options_.to;
}

}  // namespace slipstick
