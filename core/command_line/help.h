// What `slipstick --help` and `slipstick VERB --help` print.
#pragma once

#include <string>
#include <string_view>

namespace slipstick {

// How every command is called.
std::string UsageText();
// One command: how it is called, what it does, an example; "" where there is no such command.
std::string HelpText(std::string_view verb);

}  // namespace slipstick
