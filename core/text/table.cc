#include "core/text/table.h"

#include <algorithm>

namespace slipstick {
namespace {

constexpr std::string_view kBetweenColumns = "  ";

// Number of characters of a UTF-8 text; a terminal shows each in one column.
std::size_t WidthOf(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string Toned(std::string_view text, Tone tone, bool is_colored) {
  if (!is_colored || tone == Tone::kPlain || text.empty()) return std::string(text);
  const std::string_view code = tone == Tone::kStrong ? "1" : tone == Tone::kFaint ? "2" : "31";
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

std::string Table::Text(bool is_colored) const {
  std::vector<std::size_t> widths(columns_.size());
  for (const std::vector<Cell>& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i].text));
  }
  std::string text;
  for (const std::vector<Cell>& row : rows_) {
    text.append(indent_, ' ');
    std::size_t owed = 0;  // spaces due before the next cell, so that lines have none at their end
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t free = widths[i] - WidthOf(row[i].text);
      const bool is_right = columns_[i] == kRight;
      if (!row[i].text.empty())
        text.append(owed + (is_right ? free : 0), ' ').append(Toned(row[i].text, row[i].tone, is_colored));
      owed = row[i].text.empty() ? owed + widths[i] : is_right ? 0 : free;
      owed += kBetweenColumns.size();
    }
    text += '\n';
  }
  return text;
}

}  // namespace slipstick
