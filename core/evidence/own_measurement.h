// A figure that the user measured, to which the answers are moved (core/evaluation/own_measurements.h).
#pragma once

#include <string>

#include "core/base/field.h"

namespace slipstick {

struct OwnMeasurement {
  std::string path;   // of a figure of the report
  double value = 0;   // in base units
  std::string at;     // the scenario that was measured, as PATH=VALUE joined by &; empty: this one
  std::string input;  // the constant that explains it; empty in a request: the one that needs the smallest change
  // Results:
  std::string system;   // device and software measured
  double computed = 0;  // the figure before the move, in base units
  double from = 0;      // the constant before the move, in base units; 0: the measurement moves nothing here
  double to = 0;        // the constant that explains it, in base units
  [[nodiscard]] bool Moves() const { return from > 0; }
};
FIELDS_OF(OwnMeasurement);

}  // namespace slipstick
