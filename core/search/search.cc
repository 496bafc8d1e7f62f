#include "core/search/search.h"

#include <algorithm>
#include <utility>

namespace slipstick {
namespace {

bool Better(const Found& a, const Found& b) { return a.figures[0] != b.figures[0] ? a.figures[0] < b.figures[0] : a.index < b.index; }

// a is at least as good as b in every figure; of equals the earlier place stands for both.
bool Covers(const Found& a, const Found& b, std::size_t figures) {
  bool equal = true;
  for (std::size_t i = 0; i < figures; ++i) {
    if (a.figures[i] > b.figures[i]) return false;
    equal = equal && a.figures[i] == b.figures[i];
  }
  return !equal || a.index <= b.index;
}

void KeepBest(std::vector<Found>& best, const Found& found, std::size_t top) {
  if (top == 0 || (best.size() == top && !Better(found, best.back()))) return;
  best.insert(std::upper_bound(best.begin(), best.end(), found, Better), found);
  if (best.size() > top) best.pop_back();
}

void KeepFront(std::vector<Found>& front, const Found& found, const SearchOptions& options) {
  if (options.figures < 2) return;
  for (const Found& kept : front) {
    if (Covers(kept, found, options.figures)) return;
  }
  front.erase(std::remove_if(front.begin(), front.end(), [&](const Found& kept) { return Covers(found, kept, options.figures); }),
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
  for (const Found& found : other.best) KeepBest(into.best, found, options.top);
  for (const Found& found : other.front) KeepFront(into.front, found, options);
}

Search::Search(const SearchOptions& options, Evaluate evaluate, LowerBound bound)
    : options_(options), evaluate_(std::move(evaluate)), bound_(std::move(bound)), next_(options.from) {}

bool Search::Step(Count count) {
  const Count end = std::min(options_.to, next_ + count);
  for (; next_ < end; ++next_) {
    ++progress_.done;
    if (bound_) {
      const PlaceBound bound = bound_(next_);
      if (!bound.reason.empty()) {
        ++progress_.rejected[std::string(bound.reason)];
        continue;
      }
      // A place that cannot enter the list of the best need not be evaluated, unless a front is wanted.
      if (options_.figures == 1 && progress_.best.size() == options_.top && bound.objective > progress_.best.back().figures[0]) {
        ++progress_.rejected["slower than the best"];
        continue;
      }
    }
    ++progress_.evaluated;
    const Outcome outcome = evaluate_(next_);
    if (!outcome.feasible) {
      ++progress_.rejected[std::string(outcome.reason)];
      continue;
    }
    ++progress_.feasible;
    const Found found{next_, outcome.figures};
    KeepBest(progress_.best, found, options_.top);
    KeepFront(progress_.front, found, options_);
  }
  return next_ < options_.to;
}

}  // namespace slipstick
