// The names that a command may contain, for completion in a shell, and the values of inputs as their fields write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

std::vector<std::string> InputPaths();
std::vector<std::string> OutputPaths();
// The values of an input: choices, true and false, or presets; empty for a number.
std::vector<std::string> ValuesOfInput(std::string_view path);
std::vector<std::string> PresetIds(std::string_view kind);
std::vector<std::string> KindsOfPresets();
// A value of a number, in base units, as its input is written: ("cluster.networks.0.bandwidth", 4.5e11) -> "450 GB/s".
std::string InputText(std::string_view path, double value);

}  // namespace slipstick
