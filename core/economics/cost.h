// What a device, a system and an hour of a device cost.
#pragma once

#include <string>
#include <vector>

#include "core/base/issue.h"
#include "core/base/trace.h"
#include "core/economics/cost_inputs.h"
#include "core/hardware/cluster.h"

namespace slipstick {

struct BillLine {
  std::string name;
  Dollars cost;
};
struct DieReport {
  std::string name;
  SquareMillimetres area;
  std::string node;
  double dies_per_wafer = 0;
  double yield = 0;
  Dollars cost;  // of a good one
};
struct CostReport {
  std::vector<DieReport> dies;
  Dollars device;
  std::vector<BillLine> device_parts;  // add up to device exactly
  Dollars system;
  std::vector<BillLine> system_parts;       // add up to system exactly
  DollarsPerSecond device_second;           // what a device costs while it is there, busy or not
  std::vector<BillLine> device_hour_parts;  // add up to an hour of it exactly
  std::vector<Infeasibility> infeasible;
  std::vector<std::string> warnings;
};
CostReport EvaluateCost(const Cluster& cluster, const CostInputs& inputs, Trace& trace);

}  // namespace slipstick
