// `slipstick size`: the options as a sizing question.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/scenario/answer.h"

namespace slipstick {

// `options` by name; "" for absent ones.
Answer RunSize(const std::string& request, const std::vector<std::string>& assignments,
               const std::map<std::string, std::string>& options, const std::vector<std::string>& limits);

}  // namespace slipstick
