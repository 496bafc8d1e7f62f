#include "core/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace slipstick {
namespace {

// A repeatable number in [0, 1) for a place and a stream.
double Draw(Count index, std::uint64_t stream) {
  std::uint64_t x = static_cast<std::uint64_t>(index) * 0x9E3779B97F4A7C15ULL + stream * 0xD1B54A32D192ED03ULL + 1;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

Outcome Toy(Count index, std::uint64_t seed) {
  if (Draw(index, seed + 7) < 0.3) return {false, "memory", {}};
  // Coarse figures, so that ties happen.
  return {true, "", {std::floor(Draw(index, seed) * 50), std::floor(Draw(index, seed + 1) * 50), 0}};
}

std::vector<Count> Indices(const std::vector<Found>& list) {
  std::vector<Count> indices;
  for (const Found& found : list) indices.push_back(found.index);
  return indices;
}

SearchProgress RunToy(const SearchOptions& options, std::uint64_t seed, Count step, bool prune) {
  // The bound is below the true figure by up to one, and knows some of the rejections.
  const auto bound = [seed](Count i) {
    const Outcome outcome = Toy(i, seed);
    if (!outcome.feasible) return PlaceBound{0, i % 2 == 0 ? "memory" : ""};
    return PlaceBound{outcome.figures[0] - Draw(i, seed + 3), ""};
  };
  Search search(
      options, [seed](Count i) { return Toy(i, seed); }, prune ? Search::LowerBound(bound) : nullptr);
  while (search.Step(step)) {
  }
  return search.progress();
}

TEST(Search, FindsWhatBruteForceFinds) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Count size = 50 + static_cast<Count>(seed);
    std::vector<Found> all;
    for (Count i = 0; i < size; ++i) {
      const Outcome outcome = Toy(i, seed);
      if (outcome.feasible) all.push_back({i, outcome.figures});
    }
    std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) { return a.figures[0] < b.figures[0]; });
    std::vector<Count> expected;
    for (std::size_t i = 0; i < 10; ++i) expected.push_back(all[i].index);
    EXPECT_EQ(Indices(RunToy({0, size, 10, 1}, seed, 17, false).best), expected) << seed;
    EXPECT_EQ(Indices(RunToy({0, size, 10, 1}, seed, 17, true).best), expected) << seed << " pruned";
  }
}

TEST(Search, FrontHoldsExactlyTheUndominated) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const SearchProgress progress = RunToy({0, 300, 5, 2}, seed, 64, false);
    for (Count i = 0; i < 300; ++i) {
      const Outcome outcome = Toy(i, seed);
      if (!outcome.feasible) continue;
      const bool covered = std::any_of(progress.front.begin(), progress.front.end(), [&](const Found& f) {
        return f.figures[0] <= outcome.figures[0] && f.figures[1] <= outcome.figures[1];
      });
      EXPECT_TRUE(covered) << seed << " place " << i;
    }
    for (const Found& a : progress.front) {
      for (const Found& b : progress.front) {
        const bool dominates = a.index != b.index && a.figures[0] <= b.figures[0] && a.figures[1] <= b.figures[1];
        EXPECT_FALSE(dominates) << seed;
      }
    }
  }
}

TEST(Search, ShardsMergeToTheWhole) {
  const SearchOptions whole{0, 1000, 10, 2};
  const SearchProgress one = RunToy(whole, 3, 1000, false);
  for (const Count shards : {2, 4, 7}) {
    SearchProgress merged;
    for (Count s = shards; s-- > 0;) {
      SearchOptions part = whole;
      part.from = 1000 * s / shards;
      part.to = 1000 * (s + 1) / shards;
      Merge(merged, RunToy(part, 3, 13, false), whole);
    }
    EXPECT_EQ(Indices(merged.best), Indices(one.best));
    EXPECT_EQ(Indices(merged.front), Indices(one.front));
    EXPECT_EQ(merged.done, one.done);
    EXPECT_EQ(merged.rejected, one.rejected);
  }
}

TEST(Search, CountsWhatItRejects) {
  const SearchProgress progress = RunToy({0, 500, 3, 1}, 5, 100, false);
  EXPECT_EQ(progress.done, 500);
  EXPECT_EQ(progress.feasible + progress.rejected.at("memory"), 500);
}

}  // namespace
}  // namespace slipstick
