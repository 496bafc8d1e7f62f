#include "core/operators/gemm_tiles.h"

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

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
constexpr std::size_t kNarrow = 1, kPowersOfTwo = 6;  // of the first tiles
constexpr std::array<Tile, 6> kGroupedTiles{{{64, 64}, {64, 128}, {64, 256}, {128, 64}, {128, 128}, {128, 256}}};

// A tile size on a shape, for any split-K.
struct Tiling {
  double rows = 64, columns = 64;  // of the tile
  double grid = 1;                 // output tiles
  Seconds step;                    // per 64 inputs of a tile
  Seconds drain;                   // of its outputs
  bool is_fed = false;             // the step lasts until its weights have arrived, longer than its arithmetic
};

// A trace that is off at compile time, so the search over candidates does not pay for it.
struct NoTrace {
  static constexpr bool on() { return false; }
  template <class... Any>
  static constexpr void Record(Any&&...) {}
  template <class... Any>
  static constexpr void Alias(Any&&...) {}
};

// Rows that a tensor core computes together.
template <class AnyTrace>
double FragmentOf(double m, double mma_rows, AnyTrace& trace) {
  if (m > 64) {
    trace.Alias("fragment", mma_rows, "mma_rows");
    return mma_rows;
  }
  FIGURE(trace, fragment, min(16, mma_rows),
         (Note{"Rows of a fragment", "of a kernel for up to 64 rows", kFamilySource}), mma_rows);
  return fragment;
}

// Outputs that leave after the k loop of their tile.
template <class AnyTrace>
Seconds DrainOf(const TiledGemm& shape, double tile_rows, double tile_columns, AnyTrace& trace) {
  const BytesPerSecond drain_rate = shape.drain_rate;
  if (!(drain_rate > BytesPerSecond{})) return {};
  const double m = shape.rows;
  const Bytes output_size = shape.output_size;
  FIGURE(trace, drain, min(tile_rows, m) * tile_columns * output_size / drain_rate,
         (Note{"Time to write the outputs of a tile", "after its k loop, before the next tile", kFamilySource}),
         tile_rows, m, tile_columns, output_size, drain_rate);
  return drain;
}

template <class AnyTrace>
Tiling TilingOf(const TiledGemm& shape, const Tile& tile, AnyTrace& trace) {
  const double tile_rows = tile.rows, tile_columns = tile.columns;
  const double m = shape.rows, n = shape.outputs, groups = shape.groups, mma_rows = shape.mma_rows;
  const FlopsPerSecond unit_rate = shape.unit_rate;
  const Seconds step_latency = shape.step_latency;
  // With few rows, padding costs nothing while asynchronous copies bring the weights: as long as 64 rows take on the
  // devices measured, far less where the tensor cores are weak (H20).
  const double copied_rows = shape.copied_rows, tile_load = shape.tile_load, fragment = FragmentOf(m, mma_rows, trace);
  FIGURE(trace, rows_computed,
         min(tile_rows, max(fragment * ceil(m / fragment), min(mma_rows * ceil(m / mma_rows), copied_rows))),
         (Note{"Rows computed per tile", "tensor cores work on whole fragments of rows; few rows wait for the weights",
               kFamilySource}),
         tile_rows, fragment, m, mma_rows, copied_rows);
  FIGURE(trace, tile_cost,
         (1 + tile_load / max(rows_computed, 64) + tile_load / tile_columns) / (1 + tile_load / 128 + tile_load / 256),
         (Note{"Relative cost of a small tile", "over a 128x256 tile: each operand is loaded for fewer multiply-adds",
               kFamilySource}),
         tile_load, rows_computed, tile_columns);
  const Seconds step_time = max(2 * kFlop * rows_computed * tile_columns * 64 / unit_rate * tile_cost, step_latency);
  if (trace.on()) {
    const Note note{"Time per k step", "64 inputs of a tile: compute, or loop latency", kFamilySource};
    if (step_latency > Seconds{}) {
      trace.Record("step_time", "max(2 * rows_computed * tile_columns * 64 / unit_rate * tile_cost, step_latency)",
                   step_time, note, "rows_computed, tile_columns, unit_rate, tile_cost, step_latency", rows_computed,
                   tile_columns, unit_rate, tile_cost, step_latency);
    } else {
      trace.Record("step_time", "2 * rows_computed * tile_columns * 64 / unit_rate * tile_cost", step_time, note,
                   "rows_computed, tile_columns, unit_rate, tile_cost", rows_computed, tile_columns, unit_rate,
                   tile_cost);
    }
  }
  FIGURE_OVER_GROUPS(trace, grid, ceil(m / tile_rows) * ceil(n / tile_columns),
                     (Note{"Output tiles", "all groups", kFamilySource}), m, tile_rows, n, tile_columns);
  const bool is_fed = rows_computed > fragment * ceil(m / fragment) && step_time > step_latency;
  return {tile_rows, tile_columns, grid, step_time, DrainOf(shape, tile_rows, tile_columns, trace), is_fed};
}

// Time on the SMs: waves of tiles, each as long as its k loop.
template <class AnyTrace>
Seconds ComputeTime(const TiledGemm& shape, const Tiling& tiling, double split, AnyTrace& trace) {
  const double k = shape.inputs, units = shape.units, grid = tiling.grid;
  const Seconds step_time = tiling.step, fill = shape.fill, drain = tiling.drain;
  FIGURE(trace, steps, ceil(k / (64 * split)),
         (Note{"k steps per tile", "its share of k under split-K", kFamilySource}), k, split);
  FIGURE(trace, waves, ceil(grid * split / units), (Note{"Waves", "one tile per SM at a time", kFamilySource}), grid,
         split, units);
  const Seconds compute_time = waves * (steps * step_time + fill + drain);
  constexpr Note kNote{"Time on the tensor cores", "each tile is filled and drained", kFamilySource};
  if (drain > Seconds{}) {
    trace.Record("compute_time", "waves * (steps * step_time + fill + drain)", compute_time, kNote,
                 "waves, steps, step_time, fill, drain", waves, steps, step_time, fill, drain);
  } else {
    trace.Record("compute_time", "waves * (steps * step_time + fill)", compute_time, kNote,
                 "waves, steps, step_time, fill", waves, steps, step_time, fill);
  }
  return compute_time;
}

// Partial sums of split-K: fp32, written and read back through L2.
template <class AnyTrace>
Seconds MergeTime(const TiledGemm& shape, double split, AnyTrace& trace) {
  const double m = shape.rows, n = shape.outputs;
  const Seconds merge = shape.merge;
  const BytesPerSecond l2_rate = shape.l2_rate;
  FIGURE(trace, merge_time, min(1.0, split - 1) * (merge + 8 * kB * split * m * n / l2_rate),
         (Note{"Time to add the partial sums of split-K",
               "in fp32, written and read back through L2; none where k is not split", kFamilySource}),
         split, merge, m, n, l2_rate);
  return merge_time;
}

bool IsTried(const TiledGemm& shape, const Tiling& tiling, double split) {
  return split == 1 || !shape.split_fills_two_waves || tiling.grid * split <= 2 * shape.units;
}

std::span<const Tile> TilesOf(const TiledGemm& shape) {
  if (shape.groups != 1) return kGroupedTiles;
  const std::span<const Tile> tiles(kTiles);
  const std::size_t first = shape.columns_by_32 ? 0 : kNarrow;
  return tiles.subspan(first, (shape.columns_by_96 ? tiles.size() : kNarrow + kPowersOfTwo) - first);
}

// Of the chosen tile, without fill and drain.
Seconds IntakeTime(const TiledGemm& shape, const Tile& tile, double split) {
  NoTrace off;
  const Tiling tiling = TilingOf(shape, tile, off);
  if (!tiling.is_fed) return {};
  return ceil(tiling.grid * split / shape.units) * ceil(shape.inputs / (64 * split)) * tiling.step;
}

TileChoice Choose(const TiledGemm& shape, Seconds ideal, Seconds memory) {
  NoTrace off;
  const std::span<const Tile> tiles = TilesOf(shape);
  std::array<Tiling, kTiles.size()> tilings;
  for (std::size_t i = 0; i < tiles.size(); ++i) tilings[i] = TilingOf(shape, tiles[i], off);
  const Seconds floor_time = norm(ideal, memory, shape.overlap);
  TileChoice best;
  Seconds best_time = Seconds::FromBase(std::numeric_limits<double>::infinity());
  for (double split = 1; split <= shape.max_split; split *= 2) {
    const Seconds merge = MergeTime(shape, split, off);
    if (floor_time + merge >= best_time) break;  // merge time grows with the split
    // Memory time is the same for all tiles, so the fastest on the SMs is the fastest.
    std::size_t chosen = tiles.size();
    Seconds least;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (!IsTried(shape, tilings[i], split)) continue;
      const Seconds compute = ComputeTime(shape, tilings[i], split, off);
      if (chosen < tiles.size() && compute >= least) continue;
      chosen = i;
      least = compute;
    }
    if (chosen == tiles.size() || max(least, memory) + merge >= best_time) continue;
    const Seconds time = norm(least, memory, shape.overlap) + merge;
    if (time < best_time) {
      best = {tiles[chosen], split, least, {}, merge};
      best_time = time;
    }
  }
  return best;
}

// Records what the chosen tile and split were compared with: the tiles under this split, and the fastest tile of every
// split.
void ExplainChoice(const TiledGemm& shape, const TileChoice& best, Seconds memory_time, Trace& trace) {
  NoTrace off;
  std::vector<std::pair<std::string, Seconds>> tiles, splits;
  std::size_t chosen_tile = 0, chosen_split = 0;
  const auto number = [](double value) { return std::to_string(static_cast<int>(value)); };
  for (double split = 1; split <= shape.max_split; split *= 2) {
    std::optional<Seconds> fastest;
    for (const Tile& tile : TilesOf(shape)) {
      const Tiling tiling = TilingOf(shape, tile, off);
      if (!IsTried(shape, tiling, split)) continue;
      const Seconds time =
          norm(ComputeTime(shape, tiling, split, off), memory_time, shape.overlap) + MergeTime(shape, split, off);
      fastest = fastest ? min(*fastest, time) : time;
      if (split != best.split) continue;
      if (tile.rows == best.tile.rows && tile.columns == best.tile.columns) chosen_tile = tiles.size();
      tiles.emplace_back(number(tile.rows) + " × " + number(tile.columns), time);
    }
    if (!fastest) continue;
    if (split == best.split) chosen_split = splits.size();
    splits.emplace_back(split == 1 ? "k whole" : "k in " + number(split) + " parts", *fastest);
  }
  const double m = shape.rows, n = shape.outputs, k = shape.inputs, groups = shape.groups, units = shape.units;
  const FlopsPerSecond unit_rate = shape.unit_rate;
  const auto record = [&](std::string_view symbol, double chosen, const Note& note, const auto& among,
                          std::size_t place) {
    if (groups == 1) {
      trace.Choice(symbol, chosen, note, among, place, "m, n, k, units, unit_rate, memory_time", m, n, k, units,
                   unit_rate, memory_time);
    } else {
      trace.Choice(symbol, chosen, note, among, place, "m, n, k, groups, units, unit_rate, memory_time", m, n, k,
                   groups, units, unit_rate, memory_time);
    }
  };
  record("tile_rows", best.tile.rows, {"Rows of a tile", "of the fastest tile", kFamilySource}, tiles, chosen_tile);
  record("tile_columns", best.tile.columns, {"Columns of a tile", "of the fastest tile", kFamilySource}, tiles,
         chosen_tile);
  if (splits.size() > 1) {
    record("split", best.split,
           {"Parts of k (split-K)", "the fastest number; each with its fastest tile", kFamilySource}, splits,
           chosen_split);
  } else {
    trace.Constants(
        "gemm.split",
        shape.max_split > 1 ? "k stays whole where the tiles fill two waves" : "no kernel of this kind splits k",
        "split", best.split);
  }
}

}  // namespace

TileChoice ChooseTiles(const TiledGemm& shape, Seconds ideal, Seconds memory_time, Trace& trace) {
  TileChoice best = Choose(shape, ideal, memory_time);
  best.intake = IntakeTime(shape, best.tile, best.split);
  if (!trace.on()) return best;
  ExplainChoice(shape, best, memory_time, trace);
  ComputeTime(shape, TilingOf(shape, best.tile, trace), best.split, trace);
  MergeTime(shape, best.split, trace);
  return best;
}

}  // namespace slipstick
