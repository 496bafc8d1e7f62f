// Options that are members of a question or list their values.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/sizing/question.h"

namespace slipstick {

struct QuestionOption {
  std::string_view option, member;
};

// A whole number without a unit, from `low` to `high`.
std::optional<Count> WholeNumber(std::string_view text, Count low, Count high);

// The members whose options were given: numbers in base units, or texts with their units.
Json QuestionOf(std::span<const QuestionOption> asked, const std::map<std::string, std::string>& options);

}  // namespace slipstick
