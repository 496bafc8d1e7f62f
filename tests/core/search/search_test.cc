#include "core/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace slipstick {
namespace {

// A reproducible random number in [0, 1) by index and stream.
double Draw(Count index, std::uint64_t stream) {
  std::uint64_t x = static_cast<std::uint64_t>(index) * 0x9E3779B97F4A7C15ULL + stream * 0xD1B54A32D192ED03ULL + 1;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

Outcome Toy(Count index, std::uint64_t seed) {
  if (Draw(index, seed + 7) < 0.3) return {false, false, "memory", {}};
  // Coarse figures make ties happen.
  return {true,
          false,
          "",
          {std::floor(Draw(index, seed) * 50), std::floor(Draw(index, seed + 1) * 50),
           std::floor(Draw(index, seed + 2) * 9)}};
}

std::vector<Count> Indices(const std::vector<Found>& list) {
  std::vector<Count> indices;
  for (const Found& found : list) indices.push_back(found.index);
  return indices;
}

SearchProgress RunToy(SearchOptions options, std::uint64_t seed, Count step, bool prune) {
  options.prune = prune;
  Search search(options, [seed](Count i, const Search::IsDominated& is_dominated) {
    const Outcome outcome = Toy(i, seed);
    if (!outcome.feasible) return outcome;
    // lower bounds, up to one below the true figures and sometimes equal to them
    Figures least = outcome.figures;
    for (std::size_t f = 0; f < kMaxFigures; ++f) least[f] -= i % 3 == 0 ? 0 : Draw(i, seed + 3 + f);
    return is_dominated(least) ? Outcome{true, true, "", {}} : outcome;
  });
  while (search.Step(step)) {
  }
  return search.progress();
}

// All feasible indices, ordered by objective and then by index; of equal figures only the first.
std::vector<Found> BruteForce(Count size, std::uint64_t seed, std::size_t figures) {
  std::vector<Found> all;
  std::set<std::vector<double>> seen;
  for (Count i = 0; i < size; ++i) {
    const Outcome outcome = Toy(i, seed);
    if (outcome.feasible &&
        seen.insert({outcome.figures.begin(), outcome.figures.begin() + static_cast<std::ptrdiff_t>(figures)}).second) {
      all.push_back({i, outcome.figures});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) { return a.figures[0] < b.figures[0]; });
  return all;
}

std::vector<Count> FrontOf(const std::vector<Found>& all, std::size_t figures) {
  std::vector<Count> front;
  for (const Found& one : all) {
    const bool beaten = std::any_of(all.begin(), all.end(), [&](const Found& other) {
      bool good = other.index != one.index;
      for (std::size_t f = 0; f < figures; ++f) good = good && other.figures[f] <= one.figures[f];
      return good;
    });
    if (!beaten) front.push_back(one.index);
  }
  return front;
}

TEST(Search, AgreesWithBruteForce) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Count size = 50 + static_cast<Count>(seed);
    for (std::size_t figures = 1; figures <= kMaxFigures; ++figures) {
      const std::vector<Found> all = BruteForce(size, seed, figures);
      std::vector<Count> expected;
      for (std::size_t i = 0; i < std::min<std::size_t>(10, all.size()); ++i) expected.push_back(all[i].index);
      for (const bool prune : {false, true}) {
        const SearchProgress progress = RunToy({0, size, 10, figures}, seed, 17, prune);
        EXPECT_EQ(Indices(progress.best), expected) << seed << " figures " << figures << " pruned " << prune;
        if (figures > 1) {
          std::vector<Count> front = Indices(progress.front), whole = FrontOf(all, figures);
          std::sort(front.begin(), front.end());
          std::sort(whole.begin(), whole.end());
          EXPECT_EQ(front, whole) << seed << " figures " << figures << " pruned " << prune;
        }
      }
    }
  }
}

TEST(Search, PruningSavesMostOfTheWork) {
  const SearchProgress all = RunToy({0, 5000, 10, 1}, 4, 100, false), pruned = RunToy({0, 5000, 10, 1}, 4, 100, true);
  EXPECT_EQ(all.evaluated, 5000);
  EXPECT_LT(pruned.evaluated, 2500);
  EXPECT_EQ(pruned.feasible, all.feasible);
  EXPECT_EQ(pruned.rejected, all.rejected);
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
      Merge(merged, RunToy(part, 3, 13, shards == 4), whole);
    }
    EXPECT_EQ(Indices(merged.best), Indices(one.best));
    EXPECT_EQ(Indices(merged.front), Indices(one.front));
    EXPECT_EQ(merged.done, one.done);
    EXPECT_EQ(merged.rejected, one.rejected);
  }
}

TEST(Search, CountsRejectedMappings) {
  const SearchProgress progress = RunToy({0, 500, 3, 1}, 5, 100, false);
  EXPECT_EQ(progress.done, 500);
  EXPECT_EQ(progress.feasible + progress.rejected.at("memory"), 500);
}

}  // namespace
}  // namespace slipstick
