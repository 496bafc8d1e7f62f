// The formats as JSON Schema (2020-12), from the tables of inputs and outputs.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

// Definitions of "scenario", "report" and "size_question". `of` is the one that a document must match; "": one of the
// first two.
std::string FormatSchema(std::string_view of);

}  // namespace slipstick
