// Lists as one text, and back.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

// "a, b, c", of the texts that `text_of` gives of each element.
template <class List, class Text = std::identity>
std::string Listed(const List& list, Text text_of = {}) {
  std::string all;
  for (const auto& one : list) {
    if (!all.empty()) all += ", ";
    all += std::invoke(text_of, one);
  }
  return all;
}

// The parts of a text between separators: "a,,b" has three, and an empty text one.
inline std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// As SplitAt, but without an empty last part, so an empty text has none.
inline std::vector<std::string> ListedIn(std::string_view text, char separator = ',') {
  std::vector<std::string> parts = SplitAt(text, separator);
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

}  // namespace slipstick
