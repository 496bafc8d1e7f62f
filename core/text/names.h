// The names that a command may mention, for completion in a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

std::vector<std::string> InputPaths();
std::vector<std::string> OutputPaths();
// The values of an input: choices, true and false, or presets; none of a number.
std::vector<std::string> ValuesOfInput(std::string_view path);
std::vector<std::string> PresetIds(std::string_view kind);

}  // namespace slipstick
