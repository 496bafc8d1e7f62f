// How many dies or carriers fit on a wafer, explained as the choice of the grid that holds most.
#pragma once

#include <string_view>

#include "core/economics/wafer.h"

namespace slipstick {

// The count, with a node for that choice.
Ratio Fitting(std::string_view title, std::string_view note, Count count, Millimetres width, Millimetres height,
              const Wafer& wafer);

}  // namespace slipstick
