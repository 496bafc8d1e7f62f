#include "core/economics/fitting.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/figure.h"

namespace slipstick {
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
