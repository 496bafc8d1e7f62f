// Gross dies per wafer: exact placement on a regular grid, closed forms, and the reticle limit.
#pragma once

#include <vector>

#include "core/base/field.h"

namespace slipstick {

struct Wafer {
  Millimetres diameter;
  Millimetres edge;    // unusable rim
  Millimetres scribe;  // street between dies
  Millimetres reticle_width;
  Millimetres reticle_height;
};
FIELDS_OF(Wafer);

// Dies lie on a grid of pitch (w + scribe, h + scribe); a die counts if its own w x h rectangle lies inside the usable
// circle. The names of the canonical grids say what lies at the wafer's center: first along w, then along h.
struct DieCount {
  Count die_die = 0, die_street = 0, street_die = 0, street_street = 0;
  Count best = 0;      // maximum over these four grids and 40 x 40 offsets
  Millimetres left;    // a die's left edge in the best grid, from the wafer's center
  Millimetres bottom;  // its lower edge
};
DieCount CountDies(Millimetres width, Millimetres height, const Wafer& wafer);

// The maximum over only the four canonical grids: at least 95 % of best, at a tenth of the work.
Count CountCentred(Millimetres width, Millimetres height, const Wafer& wafer);

// The lower left corners of the dies of the best grid, from the wafer's center.
struct DiePlace {
  Millimetres x, y;
};
std::vector<DiePlace> PlaceDies(Millimetres width, Millimetres height, const Wafer& wafer);

// Whether the die fits the reticle field in either orientation; area alone does not decide it.
bool FitsReticle(Millimetres width, Millimetres height, const Wafer& wafer);
// Aspect ratio (width over height) of a die of this area: the given one, or the field's if the given one does not fit.
Ratio AspectThatFits(SquareMillimetres area, Ratio aspect, const Wafer& wafer);

// Seams between exposures of a carrier larger than the reticle field: (nx - 1) ny + nx (ny - 1) for the better
// orientation.
Ratio StitchSeams(Millimetres width, Millimetres height, const Wafer& wafer);

// How many dies or carriers fit on a wafer, with a node for the choice of the grid that holds most.
Ratio Fitting(std::string_view title, std::string_view note, Count count, Millimetres width, Millimetres height,
              const Wafer& wafer);

}  // namespace slipstick
