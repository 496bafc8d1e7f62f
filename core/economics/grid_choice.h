// How many dies or carriers fit on a wafer, explained as a choice of the grid that wastes the least of it.
#pragma once

#include <string_view>

#include "core/base/trace.h"
#include "core/economics/wafer.h"

namespace slipstick {

// `fitting`: how many fit. Symbols width, height, diameter, edge and scribe are bound.
void ExplainGrid(std::string_view symbol, double fitting, const Note& note, Millimetres width, Millimetres height,
                 const Wafer& wafer, Trace& trace);

}  // namespace slipstick
