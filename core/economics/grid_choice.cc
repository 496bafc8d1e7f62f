#include "core/economics/grid_choice.h"

#include <algorithm>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace slipstick {

void ExplainGrid(std::string_view symbol, double fitting, const Note& note, Millimetres width, Millimetres height,
                 const Wafer& wafer, Trace& trace) {
  if (!trace.on()) return;
  const DieCount counts = CountDies(width, height, wafer);
  const Millimetres radius = wafer.diameter / 2 - wafer.edge;
  std::vector<std::pair<std::string, SquareMillimetres>> wasted;
  std::size_t chosen = 0;
  const auto offer = [&](std::string name, Count count) {
    wasted.emplace_back(std::move(name),
                        std::numbers::pi * radius * radius - static_cast<double>(count) * width * height);
    if (wasted.back().second < wasted[chosen].second) chosen = wasted.size() - 1;
  };
  offer("one on the center: area wasted", counts.die_die);
  offer("the center on the street beside one: area wasted", counts.street_die);
  offer("the center on the street below one: area wasted", counts.die_street);
  offer("the center on a crossing of streets: area wasted", counts.street_street);
  const Count centered = std::max({counts.die_die, counts.street_die, counts.die_street, counts.street_street});
  if (fitting > static_cast<double>(centered)) offer("the best of 1,600 offsets: area wasted", counts.best);
  const Millimetres diameter = wafer.diameter, edge = wafer.edge, scribe = wafer.scribe;
  trace.Choice(symbol, fitting, note, wasted, chosen, "width, height, diameter, edge, scribe", width, height, diameter,
               edge, scribe);
}

}  // namespace slipstick
