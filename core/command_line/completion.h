// Completion in a shell: a script that calls `slipstick complete WORD ...` for the candidates of the last word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

// For bash or zsh; "" for another shell.
std::string CompletionScript(std::string_view shell);

// Completions of the last word after `slipstick`: commands, options and their values, paths of inputs, presets.
std::vector<std::string> Completions(const std::vector<std::string>& words);

}  // namespace slipstick
