// Tables for a terminal: columns as wide as their widest cell, numbers aligned to the right, tones only if colors are
// on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

enum class Tone { kPlain, kStrong, kFaint, kBad };

struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
};

// A text with the terminal's color for a tone; without colors, the plain text.
std::string Toned(std::string_view text, Tone tone, bool is_colored);

class Table {
 public:
  // Columns of numbers align to the right. `indent`: spaces before each line.
  enum Align { kLeft, kRight };
  explicit Table(std::vector<Align> columns, std::size_t indent = 0) : columns_(std::move(columns)), indent_(indent) {}

  // A row may have fewer cells than the table has columns.
  void Add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // One line per row.
  [[nodiscard]] std::string Text(bool is_colored) const;

 private:
  std::vector<Align> columns_;
  std::size_t indent_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace slipstick
