// The tile and the split of k that a GEMM library would choose.
#pragma once

#include <string_view>

#include "core/base/units.h"

namespace slipstick {

// The tiles and splits of k among which a library chooses.
struct TileLimits {
  int max_split = 16;                  // limit of split-K
  bool columns_by_96 = false;          // tiles of 96 and 192 columns exist
  bool columns_by_32 = false;          // tiles of 32 columns exist
  bool split_fills_two_waves = false;  // split-K only while tiles * split <= 2 * SMs
};

// Quantities shared by all candidates of a GEMM. R is double in the search over candidates, which needs no nodes, and
// Ratio otherwise.
template <class R>
struct TiledGemm {
  R rows, outputs, inputs, groups;
  R mma_rows;  // rows are computed in multiples of this
  R units;     // SMs of the device
  FlopsPerSecond unit_rate;
  Seconds step_latency;
  BytesPerSecond l2_rate;
  R copied_rows;  // rows whose arithmetic takes as long as the tile's weights take to arrive
  R tile_load;    // rows or columns of a tile that take as long to load as to compute
  Seconds fill, merge;
  BytesPerSecond drain_rate;  // at which an SM writes a tile's outputs before the next tile; 0: during the next tile
  Bytes output_size;          // per output
  R overlap;                  // p of the norm of compute and memory time
  TileLimits limits;
  bool groups_differ;       // `rows` is a mean over the groups
  std::string_view source;  // of the constants
};

struct TileChoice {
  Ratio rows = 64, columns = 64;  // of the tile
  Ratio split = 1;
  Seconds compute;  // on the SMs
  Seconds intake;  // part of `compute`: k loops that wait for the weights to arrive; 0 if their arithmetic takes longer
  Seconds merge;   // to add the partial sums
};

// The fastest kernel, as the library's heuristics choose it. `ideal`: lower bound on the compute time of any candidate.
TileChoice ChooseTiles(const TiledGemm<Ratio>& shape, Seconds ideal, Seconds memory);

}  // namespace slipstick
