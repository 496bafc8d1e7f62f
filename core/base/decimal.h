// Decimal texts and doubles, correctly rounded. Of our own because the C library's formats are a good part of a small module.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

// The double nearest to "12", "-1.5", ".5e-3": digits with at most one point, and an exponent. Halfway goes to the even
// neighbour; what is too large is infinite.
double DoubleOf(std::string_view decimal);

// At most six significant digits, no trailing zeros, as printf's %.6g.
std::string NumberText(double value);

}  // namespace slipstick
