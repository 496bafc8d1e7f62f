// The tile and the split of k that a GEMM library would choose.
#pragma once

#include "core/base/trace.h"
#include "core/base/units.h"

namespace slipstick {

struct Tile {
  double rows, columns;
};
// Quantities shared by all candidates of a GEMM.
struct TiledGemm {
  double rows, outputs, inputs, groups;
  double mma_rows;  // rows are computed in multiples of it
  double units;     // of the device
  FlopsPerSecond unit_rate;
  Seconds step_latency;
  BytesPerSecond l2_rate;
  double copied_rows;  // rows whose arithmetic takes as long as the tile's weights take to arrive
  double tile_load;    // rows or columns of a tile that load as long as they compute
  Seconds fill, merge;
  BytesPerSecond drain_rate;   // of an SM, at which the outputs of a tile leave before the next begins; 0: beside it
  Bytes output_size;           // of an output
  double overlap;              // p of the norm of compute and memory time
  int max_split;               // limit of split-K
  bool columns_by_96;          // tiles of 96 and 192 columns exist
  bool columns_by_32;          // tiles of 32 columns exist
  bool split_fills_two_waves;  // split-K only while tiles * split <= 2 * SMs
};

struct TileChoice {
  Tile tile{64, 64};
  double split = 1;
  Seconds compute;  // on the SMs
  Seconds intake;   // part of it: k loops that wait for the weights to arrive; 0: their arithmetic takes longer
  Seconds merge;    // of the partial sums
};

// Records a figure "groups * ..." of grouped GEMMs; a single GEMM's formula does without the factor 1.
template <class AnyTrace, class Q, class... Terms>
void RecordOverGroups(AnyTrace& trace, internal::FigureText text, double groups, Q value, Terms... terms) {
  if (groups != 1) return trace.Record(text, value, groups, terms...);
  text.formula.remove_prefix(std::string_view("groups * ").size());
  text.terms.remove_prefix(std::string_view("groups, ").size());
  trace.Record(text, value, terms...);
}

// A FIGURE whose expression is `groups` times this one.
#define FIGURE_OVER_GROUPS(trace, name, expression, description, ...)                                     \
  const auto name = groups * expression;                                                                  \
  if ((trace).on()) {                                                                                     \
    static constexpr ::slipstick::internal::FigureText figure_text{#name, "groups * " #expression,        \
                                                                   "groups, " #__VA_ARGS__, description}; \
    ::slipstick::RecordOverGroups(trace, figure_text, groups, name, __VA_ARGS__);                         \
  }                                                                                                       \
  static_assert(true)

// The fastest kernel, as the library's heuristics choose. `ideal`: lower bound on the compute time of every candidate.
// Records the choice, what it was made among, and its times.
TileChoice ChooseTiles(const TiledGemm& shape, Seconds ideal, Seconds memory_time, Trace& trace);

}  // namespace slipstick
