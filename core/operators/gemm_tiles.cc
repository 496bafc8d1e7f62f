#include "core/operators/gemm_tiles.h"

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/figure.h"

namespace slipstick {
namespace {

struct Tile {
  double rows, columns;
};
constexpr std::array<Tile, 11> kTiles{{{64, 32},
                                       {64, 64},
                                       {64, 128},
                                       {128, 64},
                                       {128, 128},
                                       {128, 256},
                                       {256, 128},
                                       {64, 192},
                                       {128, 192},
                                       {64, 96},
                                       {128, 96}}};
constexpr std::size_t kNarrow = 1, kPowersOfTwo = 6;  // 32 columns first; then powers of two
constexpr std::array<Tile, 6> kGroupedTiles{{{64, 64}, {64, 128}, {64, 256}, {128, 64}, {128, 128}, {128, 256}}};

// Used in the search, whose numbers have no nodes.
constexpr double Figure(std::string_view, double result, std::string_view, std::string_view) { return result; }

// A tile size applied to a shape, for any split-K.
template <class R>
struct Tiling {
  R grid = 1;           // output tiles
  Seconds step;         // time per 64 inputs of a tile
  Seconds drain;        // time to write a tile's outputs
  bool is_fed = false;  // waiting for the weights takes longer than the arithmetic of a step
};

// Rows that a tensor core computes together.
template <class R>
R FragmentOf(const TiledGemm<R>& shape) {
  if (shape.rows > 64) return shape.mma_rows;
  return Figure("Rows of a fragment", min(16, shape.mma_rows), "of a kernel for up to 64 rows", shape.source);
}

// Every group has a tile, and where it has several the last is half full in the mean: rows are taken as exponentially
// distributed. `part`: rows of a tile over the mean rows of a group.
template <class R>
R TilesOfGroup(R part) {
  return Figure("Tiles of rows of a group", 1 / (1 - exp(-part)), "mean over groups that differ", "");
}

// With few rows, padding is free while asynchronous copies load the weights: up to 64 rows on the measured devices, far
// fewer if the tensor cores are weak (H20).
template <class R>
Tiling<R> TilingOf(const TiledGemm<R>& shape, R rows, R columns) {
  const R m = shape.rows, mma_rows = shape.mma_rows, tile_load = shape.tile_load, fragment = FragmentOf(shape);
  const R whole_fragments = fragment * ceil(m / fragment);
  const R computed = Figure(
      "Rows computed per tile", min(rows, max(whole_fragments, min(mma_rows * ceil(m / mma_rows), shape.copied_rows))),
      "tensor cores work on whole fragments of rows; few rows wait for the weights", shape.source);
  const R cost =
      Figure("Relative cost of a small tile",
             (1 + tile_load / max(computed, 64) + tile_load / columns) / (1 + tile_load / 128 + tile_load / 256),
             "over a 128x256 tile: each operand is loaded for fewer multiply-adds", shape.source);
  const Seconds work = 2 * kFlop * computed * columns * 64 / shape.unit_rate * cost;
  Tiling<R> tiling;
  tiling.step = Figure("Time per k step", shape.step_latency > Seconds{} ? max(work, shape.step_latency) : work,
                       "64 inputs of a tile: compute, or loop latency", shape.source);
  const R tiles = shape.groups_differ ? TilesOfGroup(rows / m) : ceil(m / rows);
  tiling.grid =
      Figure("Output tiles", shape.groups * tiles * ceil(shape.outputs / columns), "all groups", shape.source);
  if (shape.drain_rate > BytesPerSecond{})
    tiling.drain =
        Figure("Time to write the outputs of a tile", min(rows, m) * columns * shape.output_size / shape.drain_rate,
               "after its k loop, before the next tile", shape.source);
  tiling.is_fed = computed > whole_fragments && tiling.step > shape.step_latency;
  return tiling;
}

// Time on the SMs: waves of tiles, each as long as its k loop.
template <class R>
Seconds ComputeTime(const TiledGemm<R>& shape, const Tiling<R>& tiling, R split) {
  const R steps =
      Figure("k steps per tile", ceil(shape.inputs / (64 * split)), "its share of k under split-K", shape.source);
  const R waves =
      Figure("Waves of tiles", ceil(tiling.grid * split / shape.units), "one tile per SM at a time", shape.source);
  return Figure("Time on the tensor cores", waves * (steps * tiling.step + shape.fill + tiling.drain),
                "each tile is filled and drained", shape.source);
}

// Time to add the partial sums of split-K: fp32, written and read back through L2.
template <class R>
Seconds MergeTime(const TiledGemm<R>& shape, R split) {
  return Figure("Time to add the partial sums of split-K",
                min(1.0, split - 1) * (shape.merge + 8 * kB * split * shape.rows * shape.outputs / shape.l2_rate),
                "in fp32, written and read back through L2; none where k is not split", shape.source);
}

using Plain = TiledGemm<double>;

bool IsTried(const Plain& shape, const Tiling<double>& tiling, double split) {
  return split == 1 || !shape.limits.split_fills_two_waves || tiling.grid * split <= 2 * shape.units;
}

std::span<const Tile> TilesOf(const Plain& shape) {
  if (shape.groups != 1) return kGroupedTiles;
  const std::span<const Tile> tiles(kTiles);
  const std::size_t first = shape.limits.columns_by_32 ? 0 : kNarrow;
  return tiles.subspan(first, (shape.limits.columns_by_96 ? tiles.size() : kNarrow + kPowersOfTwo) - first);
}

struct Best {
  Tile tile{64, 64};
  double split = 1;
  Seconds compute, merge;
};

Best Search(const Plain& shape, Seconds ideal, Seconds memory) {
  const std::span<const Tile> tiles = TilesOf(shape);
  std::array<Tiling<double>, kTiles.size()> tilings;
  for (std::size_t i = 0; i < tiles.size(); ++i) tilings[i] = TilingOf(shape, tiles[i].rows, tiles[i].columns);
  const Seconds floor_time = norm(ideal, memory, shape.overlap);
  Best best;
  Seconds best_time = Seconds::FromBase(std::numeric_limits<double>::infinity());
  for (double split = 1; split <= shape.limits.max_split; split *= 2) {
    const Seconds merge = MergeTime(shape, split);
    if (floor_time + merge >= best_time) break;  // merge time grows with the split
    // Memory time is the same for all tiles, so the tile with the least time on the SMs is the fastest.
    std::size_t chosen = tiles.size();
    Seconds least;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (!IsTried(shape, tilings[i], split)) continue;
      const Seconds compute = ComputeTime(shape, tilings[i], split);
      if (chosen < tiles.size() && compute >= least) continue;
      chosen = i;
      least = compute;
    }
    if (chosen == tiles.size() || max(least, memory) + merge >= best_time) continue;
    const Seconds time = norm(least, memory, shape.overlap) + merge;
    if (time < best_time) {
      best = {tiles[chosen], split, least, merge};
      best_time = time;
    }
  }
  return best;
}

// Time in which the chosen tile waits for its operands, without fill and drain.
Seconds IntakeTime(const Plain& shape, const Best& best) {
  const Tiling<double> tiling = TilingOf(shape, best.tile.rows, best.tile.columns);
  if (!tiling.is_fed) return {};
  return ceil(tiling.grid * best.split / shape.units) * ceil(shape.inputs / (64 * best.split)) * tiling.step;
}

// The choice, recorded with its alternatives by their time relative to it: the other tiles under this split, and the
// fastest tile for every other split.
TileChoice Remembered(const TiledGemm<Ratio>& shape, const Plain& plain, const Best& best, Seconds memory) {
  std::vector<std::pair<std::string, Ratio>> tiles, splits;
  const Seconds least = norm(best.compute, PlainOf(memory), plain.overlap) + MergeTime(plain, best.split);
  std::size_t chosen_tile = 0, chosen_split = 0;
  const auto number = [](double value) { return std::to_string(static_cast<int>(value)); };
  for (double split = 1; split <= plain.limits.max_split; split *= 2) {
    std::optional<Seconds> fastest;
    for (const Tile& tile : TilesOf(plain)) {
      const Tiling<double> tiling = TilingOf(plain, tile.rows, tile.columns);
      if (!IsTried(plain, tiling, split)) continue;
      const Seconds time =
          norm(ComputeTime(plain, tiling, split), PlainOf(memory), plain.overlap) + MergeTime(plain, split);
      fastest = fastest ? min(*fastest, time) : time;
      if (split != best.split) continue;
      if (tile.rows == best.tile.rows && tile.columns == best.tile.columns) chosen_tile = tiles.size();
      tiles.emplace_back(number(tile.rows) + " × " + number(tile.columns), time / least);
    }
    if (!fastest) continue;
    if (split == best.split) chosen_split = splits.size();
    splits.emplace_back(split == 1 ? "k whole" : "k in " + number(split) + " parts", *fastest / least);
  }
  const std::array<Ground, 7> grounds{InSteps(shape.rows),   InSteps(shape.outputs), InSteps(shape.inputs),
                                      InSteps(shape.groups), InSteps(shape.units),   InSteps(shape.unit_rate),
                                      InSteps(memory)};
  TileChoice choice;
  choice.rows = Procedure("Rows of a tile", Ratio(best.tile.rows), grounds,
                          "of the fastest tile; each with its time over that", shape.source, tiles, chosen_tile);
  choice.columns = Procedure("Columns of a tile", Ratio(best.tile.columns), grounds,
                             "of the fastest tile; each with its time over that", shape.source, tiles, chosen_tile);
  if (splits.size() > 1)
    choice.split = Procedure("Parts of k (split-K)", Ratio(best.split), grounds,
                             "the fastest number; each with the time of its fastest tile over that", shape.source,
                             splits, chosen_split);
  choice.compute = ComputeTime(shape, TilingOf(shape, choice.rows, choice.columns), choice.split);
  if (best.split > 1) choice.merge = MergeTime(shape, choice.split);
  return choice;
}

}  // namespace

TileChoice ChooseTiles(const TiledGemm<Ratio>& shape, Seconds ideal, Seconds memory) {
  const Plain plain{shape.rows,
                    shape.outputs,
                    shape.inputs,
                    shape.groups,
                    shape.mma_rows,
                    shape.units,
                    PlainOf(shape.unit_rate),
                    PlainOf(shape.step_latency),
                    PlainOf(shape.l2_rate),
                    shape.copied_rows,
                    shape.tile_load,
                    PlainOf(shape.fill),
                    PlainOf(shape.merge),
                    PlainOf(shape.drain_rate),
                    PlainOf(shape.output_size),
                    shape.overlap,
                    shape.limits,
                    shape.groups_differ,
                    shape.source};
  const Best best = Search(plain, PlainOf(ideal), PlainOf(memory));
  TileChoice choice{best.tile.rows, best.tile.columns, best.split, best.compute, {}, best.merge};
  if (ideal.node() != nullptr || memory.node() != nullptr) choice = Remembered(shape, plain, best, memory);
  choice.intake = IntakeTime(plain, best);
  return choice;
}

}  // namespace slipstick
