#include "core/economics/wafer.h"

#include <algorithm>
#include <array>

#include "core/base/figure.h"

namespace slipstick {
namespace {

constexpr int kOffsets = 40;

// Half the width of the circle over a row that spans [bottom, bottom + height]; negative if the row extends outside.
double HalfChord(double bottom, double height, double radius) {
  const double far = std::max(std::abs(bottom), std::abs(bottom + height));
  return far < radius ? std::sqrt(radius * radius - far * far) : -1;
}

struct WaferGrid {
  double w, h, pitch_x, pitch_y, radius;
};

// Calls visit(half chord) for every row of dies whose lower edges lie at `bottom` + k pitch.
template <class Visit>
void ForRows(const WaferGrid& grid, double bottom, Visit visit) {
  const double first = std::ceil((-grid.radius - bottom) / grid.pitch_y);
  for (double k = first;; k += 1) {
    const double y = bottom + k * grid.pitch_y;
    if (y + grid.h > grid.radius) break;
    const double chord = HalfChord(y, grid.h, grid.radius);
    if (2 * chord >= grid.w) visit(chord, y);
  }
}

Count InRow(const WaferGrid& grid, double chord, double left) {
  const double last = std::floor((chord - grid.w - left) / grid.pitch_x),
               first = std::ceil((-chord - left) / grid.pitch_x);
  return last >= first ? static_cast<Count>(last - first) + 1 : 0;
}

Count CountGrid(const WaferGrid& grid, double left, double bottom) {
  Count sum = 0;
  ForRows(grid, bottom, [&](double chord, double) { sum += InRow(grid, chord, left); });
  return sum;
}

// The half chords of the rows of dies whose lower edges lie at `bottom` + k pitch; none for a row that extends outside.
// Separate from the counting, so that the square roots can be vectorized.
void ChordsOf(const WaferGrid& grid, double bottom, std::vector<double>& chords) {
  const double first = std::ceil((-grid.radius - bottom) / grid.pitch_y);
  const double last = std::floor((grid.radius - grid.h - bottom) / grid.pitch_y);
  const auto rows = static_cast<std::size_t>(std::max(last - first + 1, 0.0));
  chords.resize(rows);
  double* const out = chords.data();
  const double lowest = bottom + first * grid.pitch_y, square = grid.radius * grid.radius;
  for (std::size_t k = 0; k < rows; ++k) {
    const double y = lowest + static_cast<double>(static_cast<int>(k)) * grid.pitch_y;
    const double far = std::max(-y, y + grid.h);
    out[k] = std::sqrt(std::max(square - far * far, 0.0));
  }
}

// The counts of one row offset for all kOffsets column offsets at once. A row's count is floor(a - f) + floor(b + f) +
// 1, with f the offset over the pitch: a step down where f passes frac(a), and a step up where f reaches 1 - frac(b).
void CountColumns(const WaferGrid& grid, const std::vector<double>& chords, std::array<int, kOffsets + 1>& counts) {
  counts.fill(0);
  const double over_pitch = 1 / grid.pitch_x, width = grid.w * over_pitch;
  for (const double chord : chords) {
    if (2 * chord < grid.w) continue;
    const double b = chord * over_pitch, a = b - width;
    const int whole_a = static_cast<int>(a + 1) - 1, whole_b = static_cast<int>(b);  // a > -1
    counts[0] += whole_a + whole_b + 1;
    const int down = static_cast<int>((a - whole_a) * kOffsets) + 1,
              up = kOffsets - static_cast<int>((b - whole_b) * kOffsets);
    --counts[static_cast<std::size_t>(down)];  // the last entry is not used
    ++counts[static_cast<std::size_t>(up)];
  }
  for (std::size_t i = 1; i < kOffsets; ++i) counts[i] += counts[i - 1];
}

WaferGrid GridOf(Millimetres width, Millimetres height, const Wafer& wafer) {
  return {width.base(), height.base(), (width + wafer.scribe).base(), (height + wafer.scribe).base(),
          (wafer.diameter / 2 - wafer.edge).base()};
}

}  // namespace

DieCount CountDies(Millimetres width, Millimetres height, const Wafer& wafer) {
  const WaferGrid grid = GridOf(width, height, wafer);
  const double die_x = -grid.w / 2, die_y = -grid.h / 2;
  const double street_x = wafer.scribe.base() / 2, street_y = street_x;
  DieCount result;
  double left = die_x, bottom = die_y;
  const auto offer = [&](Count count, double x, double y) {
    if (count > result.best) result.best = count, left = x, bottom = y;
    return count;
  };
  result.die_die = offer(CountGrid(grid, die_x, die_y), die_x, die_y);
  result.die_street = offer(CountGrid(grid, die_x, street_y), die_x, street_y);
  result.street_die = offer(CountGrid(grid, street_x, die_y), street_x, die_y);
  result.street_street = offer(CountGrid(grid, street_x, street_y), street_x, street_y);
  std::array<int, kOffsets + 1> counts;
  std::vector<double> chords;
  for (int j = 0; j < kOffsets; ++j) {
    const double y = grid.pitch_y * j / kOffsets;
    ChordsOf(grid, y, chords);
    CountColumns(grid, chords, counts);
    const auto most = std::max_element(counts.begin(), counts.end() - 1);
    if (*most > result.best) offer(*most, grid.pitch_x * static_cast<double>(most - counts.begin()) / kOffsets, y);
  }
  result.left = left * kMm;
  result.bottom = bottom * kMm;
  return result;
}

Count CountCentred(Millimetres width, Millimetres height, const Wafer& wafer) {
  const WaferGrid grid = GridOf(width, height, wafer);
  Count best = 0;
  for (const double left : {-grid.w / 2, wafer.scribe.base() / 2}) {
    for (const double bottom : {-grid.h / 2, wafer.scribe.base() / 2})
      best = std::max(best, CountGrid(grid, left, bottom));
  }
  return best;
}

std::vector<DiePlace> PlaceDies(Millimetres width, Millimetres height, const Wafer& wafer) {
  const WaferGrid grid = GridOf(width, height, wafer);
  const DieCount best = CountDies(width, height, wafer);
  std::vector<DiePlace> places;
  const double left = best.left.base();
  ForRows(grid, best.bottom.base(), [&](double chord, double y) {
    const double first = std::ceil((-chord - left) / grid.pitch_x);
    const Count count = InRow(grid, chord, left);
    for (Count k = 0; k < count; ++k)
      places.push_back({(left + (first + static_cast<double>(k)) * grid.pitch_x) * kMm, y * kMm});
  });
  return places;
}

bool FitsReticle(Millimetres width, Millimetres height, const Wafer& wafer) {
  return (width <= wafer.reticle_width && height <= wafer.reticle_height) ||
         (width <= wafer.reticle_height && height <= wafer.reticle_width);
}

Ratio AspectThatFits(SquareMillimetres area, Ratio aspect, const Wafer& wafer) {
  const Millimetres width = sqrt(area * aspect);
  return FitsReticle(width, area / width, wafer) ? aspect : wafer.reticle_width / wafer.reticle_height;
}

Ratio StitchSeams(Millimetres width, Millimetres height, const Wafer& wafer) {
  const auto seams = [&](Millimetres across, Millimetres down) {
    const Ratio columns = Figure("Exposures side by side", ceil(max(1, width / across)));
    const Ratio rows = Figure("Exposures above each other", ceil(max(1, height / down)));
    return (columns - 1) * rows + columns * (rows - 1);
  };
  return Figure("Seams between exposures", min(seams(wafer.reticle_width, wafer.reticle_height),
                                               seams(wafer.reticle_height, wafer.reticle_width)));
}

Ratio Fitting(std::string_view title, std::string_view note, Count count, Millimetres width, Millimetres height,
              const Wafer& wafer) {
  if (width.node() == nullptr && wafer.diameter.node() == nullptr) return count;
  const DieCount counts = CountDies(width, height, wafer);
  std::vector<std::pair<std::string, Ratio>> grids{{"one on the center", counts.die_die},
                                                   {"the center on the street beside one", counts.street_die},
                                                   {"the center on the street below one", counts.die_street},
                                                   {"the center on a crossing of streets", counts.street_street}};
  const auto fewer = [](const auto& one, const auto& other) { return one.second < other.second; };
  std::size_t chosen = static_cast<std::size_t>(std::max_element(grids.begin(), grids.end(), fewer) - grids.begin());
  if (grids[chosen].second < count) {
    chosen = grids.size();
    grids.emplace_back("the best of 1,600 offsets", count);
  }
  struct Die {
    Millimetres width, height;
    Wafer wafer;
  };
  const auto share_of = [&](const auto& member) {
    const auto at = [&](double by) {
      Die changed{width, height, wafer};
      member(changed) *= by;
      return static_cast<double>(CountCentred(changed.width, changed.height, changed.wafer));
    };
    return MeasuredShare(at, 1.0 / 10);
  };
  return Procedure<Ratio>(title, count,
                          {{width, share_of([](Die& d) -> auto& { return d.width; })},
                           {height, share_of([](Die& d) -> auto& { return d.height; })},
                           {wafer.diameter, share_of([](Die& d) -> auto& { return d.wafer.diameter; })},
                           {wafer.edge, share_of([](Die& d) -> auto& { return d.wafer.edge; })},
                           {wafer.scribe, share_of([](Die& d) -> auto& { return d.wafer.scribe; })}},
                          note, "", grids, chosen);
}

}  // namespace slipstick
