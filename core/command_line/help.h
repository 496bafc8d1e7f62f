// The help texts of the command line, generated from its table of commands.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

std::string UsageText();
// Usage, options and examples of a command; "" for an unknown one.
std::string HelpText(std::string_view name);
// The manual page, as man reads it.
std::string ManualText();

}  // namespace slipstick
