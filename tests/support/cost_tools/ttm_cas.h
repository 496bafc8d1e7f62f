// ttm-cas' computations (Ning et al., ISCA 2023; github.com/PrincetonUniversity/ttm-cas at d98ac05): the price of a
// die, and weeks and dollars from a finished design to packaged chips, for comparison digit by digit. Its dies have no
// edge and no scribe lines.
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
  double hours_per_transistor = 0;  // an engineer's, for verification before tape-out
  Seconds latency;                  // of a wafer in the fab
  Hertz wafers;                     // output of the fab
};
struct Run {
  double chips = 1;        // packages
  double transistors = 1;  // per die
  double designed = 1;     // transistors that are designed, not copied
  double engineers = 1;
  double parallel = 0.9;  // share of the tape-out that engineers can do in parallel
  Seconds queue;          // until the fab begins
  double dies = 1;        // per package
};
struct Settings {
  bool wafers_in_parts = false;  // wafers can be bought in parts

  static Settings AsTool() { return {true}; }
};
struct TimeToMarket {
  Seconds tape_out, queue, foundry, packaging;  // calendar time; 168 hours a week, of which an engineer works 40
  Dollars cost;
};
// None if the fab makes no wafers (the tool returns 1e20 weeks).
std::optional<TimeToMarket> Price(const Process& process, const Run& run, const Settings& settings);

}  // namespace slipstick::ttm_cas
