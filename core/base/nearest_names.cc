#include "core/base/nearest_names.h"

#include <algorithm>
#include <cctype>
#include <tuple>

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

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace

std::vector<std::string> NearestNames(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > kLongestWord) return {};
  constexpr std::size_t kShortestPart = 2, kShortestName = 4;
  struct Near {
    std::size_t distance, contained;  // letters of a name that the word contains
    std::string_view name;
  };
  const std::string asked = Lower(word);
  const std::size_t max_distance = std::max<std::size_t>(2, word.size() / 3);
  std::vector<Near> near;
  for (const std::string_view name : known) {
    const std::string lower = Lower(name);
    const bool is_part = asked.size() >= kShortestPart && lower.find(asked) != std::string::npos;
    const bool contains = lower.size() >= kShortestName && asked.find(lower) != std::string::npos;
    std::size_t distance = EditDistance(asked, lower);
    // A part counts as one wrong letter: "h100" suggests h100-sxm5-80gb rather than a10g, and the name of a repository
    // the model that it contains.
    if (is_part || contains) distance = std::min<std::size_t>(distance, 1);
    if (distance <= max_distance) near.push_back({distance, contains ? lower.size() : 0, name});
  }
  std::stable_sort(near.begin(), near.end(), [](const Near& a, const Near& b) {
    return std::tuple(a.distance, b.contained) < std::tuple(b.distance, a.contained);
  });
  std::vector<std::string> names;
  for (const Near& one : near) {
    if (names.size() < kMaxNames) names.emplace_back(one.name);
  }
  return names;
}

}  // namespace slipstick
