#include "core/base/nearest_names.h"

#include <algorithm>
#include <utility>

namespace slipstick {
namespace {

constexpr std::size_t kMaxNames = 3, kLongestWord = 60;

// Edit distance: letters added, dropped or changed.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> NearestNames(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > kLongestWord) return {};
  const std::size_t max_distance = std::max<std::size_t>(2, word.size() / 3);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view name : known) {
    const std::size_t distance = EditDistance(word, name);
    // A name that contains the word counts as one wrong letter: "h100" suggests h100-sxm5-80gb rather than a10g.
    const bool is_part = word.size() >= 2 && name.find(word) != std::string_view::npos;
    if (distance <= max_distance || is_part)
      near.emplace_back(is_part ? std::min<std::size_t>(distance, 1) : distance, name);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [distance, name] : near) {
    if (names.size() < kMaxNames) names.emplace_back(name);
  }
  return names;
}

}  // namespace slipstick
