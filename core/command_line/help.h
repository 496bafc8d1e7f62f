// The texts of `slipstick --help` and `slipstick VERB --help`.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

// The usage of every command.
std::string UsageText();
// Usage, purpose and example of one command; "" if it is unknown.
std::string HelpText(std::string_view verb);

}  // namespace slipstick
