// The help texts of the command line, generated from its table of commands.
#pragma once

#include <string>
#include <string_view>

#include "core/command_line/verbs.h"

namespace slipstick {

std::string UsageText();
// Usage, options and examples of a command; "" for an unknown one.
std::string HelpText(std::string_view name);
// The manual page, as man reads it.
std::string ManualText();

// Messages about a wrong name of a command, or of an option of one, with the names like it.
std::string UnknownCommand(std::string_view word);
std::string UnknownOption(std::string_view word, const Verb& verb);

}  // namespace slipstick
