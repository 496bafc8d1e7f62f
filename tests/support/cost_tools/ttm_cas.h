// What ttm-cas (Ning et al., ISCA 2023; github.com/PrincetonUniversity/ttm-cas at d98ac05) computes: price of a die,
// and weeks and dollars from a finished design to packaged chips, to compare with it digit by digit. A die of its has
// no edge and no scribe.
#pragma once

#include <optional>

#include "core/economics/wafer.h"

namespace slipstick::ttm_cas {

double DiesPerWafer(SquareMillimetres area);
double DieYield(SquareMillimetres area, PerArea defect_density);
Dollars GoodDie(SquareMillimetres area, PerArea defect_density, Dollars wafer_price);

struct Process {
  Dollars wafer_price, masks, intellectual_property;
  Dollars labour_per_gate;  // of implementing the design
  PerArea transistors, defect_density;
  double hours_per_transistor = 0;  // an engineer's, to verify for tape-out
  Seconds latency;                  // of a wafer through the fab
  Hertz wafers;                     // that the fab makes
};
struct Run {
  double chips = 1;        // packages
  double transistors = 1;  // of a die
  double designed = 1;     // transistors that are not copies
  double engineers = 1;
  double parallel = 0.9;  // share of the tape-out that engineers can share
  Seconds queue;          // until the fab begins
  double dies = 1;        // of a package
};
struct Settings {
  bool wafers_in_parts = false;  // part of a wafer can be bought

  static Settings AsTool() { return {true}; }
};
struct TimeToMarket {
  Seconds tape_out, queue, foundry, packaging;  // calendar time; 168 hours a week, of which an engineer works 40
  Dollars cost;
};
// Empty if the fab makes no wafers (the tool returns 1e20 weeks).
std::optional<TimeToMarket> Price(const Process& process, const Run& run, const Settings& settings);

}  // namespace slipstick::ttm_cas
