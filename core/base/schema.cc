#include "core/base/schema.h"

#include <algorithm>

namespace slipstick::internal {
namespace {

// Edit distance, for "did you mean".
std::size_t Distance(std::string_view a, std::string_view b) {
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

std::string BoundText(double bound, const Leaf& leaf, bool whole) {
  std::string text = whole ? NumberText(bound) : NumberText(bound / leaf.unit_factor);
  if (!leaf.unit.empty()) text += " " + std::string(leaf.unit);
  return text;
}

}  // namespace

std::string Shown(const Json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  std::string text = JsonText(json);
  if (text.size() > 60) text = text.substr(0, 57) + "…";
  return text;
}

std::string NearestText(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > 60) return "";
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = Distance(word, candidate);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best.empty() ? "" : "; did you mean " + std::string(best) + "?";
}

std::string RangeText(const Leaf& leaf, bool whole) {
  const bool low = std::isfinite(leaf.range.low), high = std::isfinite(leaf.range.high);
  std::string text = whole ? "a whole number" : "a number";
  if (low && high) {
    text += " from " + BoundText(leaf.range.low, leaf, whole) + " to " + BoundText(leaf.range.high, leaf, whole);
  } else if (low) {
    text += (leaf.range.open_low ? " above " : " of at least ") + BoundText(leaf.range.low, leaf, whole);
  } else if (high) {
    text += " of at most " + BoundText(leaf.range.high, leaf, whole);
  }
  return text;
}

std::optional<double> ReadNumber(const Json& json, const Leaf& leaf, const Dimension& dimension, bool whole, const std::string& path,
                                 Issues& issues) {
  double value = 0;
  const std::string base = BaseUnitText(dimension);
  const auto expected = [&] { return "expected " + RangeText(leaf, whole) + (base.empty() || !leaf.unit.empty() ? "" : " " + base); };
  if (json.is_number()) {
    value = json.get<double>();
  } else if (json.is_string()) {
    const std::optional<Measure> measure = ParseMeasure(json.get_ref<const std::string&>(), leaf.is_length ? 1024 : 1000);
    if (!measure) {
      issues.push_back({path, expected() + "; got " + Shown(json)});
      return std::nullopt;
    }
    const bool tokens = leaf.is_length && measure->dimension == Tokens::kDimension;
    if (measure->has_unit && measure->dimension != dimension && !tokens) {
      issues.push_back({path, "expected " + (base.empty() ? std::string("a number without a unit") : "a quantity in " + base) + "; got " +
                                  Shown(json) + ", which is in " +
                                  (measure->dimension == Dimension{} ? "no unit" : BaseUnitText(measure->dimension))});
      return std::nullopt;
    }
    value = measure->value;
  } else {
    issues.push_back({path, expected() + "; got " + Shown(json)});
    return std::nullopt;
  }
  const bool in_range =
      std::isfinite(value) && value >= leaf.range.low && value <= leaf.range.high && !(leaf.range.open_low && value == leaf.range.low);
  const bool is_whole = !whole || (value == std::floor(value) && std::abs(value) < 9e15);
  if (!in_range || !is_whole) {
    issues.push_back({path, expected() + "; got " + Shown(json)});
    return std::nullopt;
  }
  return value;
}

void ReportUnknown(const Json& json, const std::vector<std::string_view>& known, const std::string& path, Issues& issues) {
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    if (issues.size() > 200) return;
    const std::string shown = key.size() > 60 ? key.substr(0, 57) + "…" : key;
    issues.push_back({JoinPath(path, shown), "there is no such input" + NearestText(key, known)});
  }
}

Json DescribeNumber(const Leaf& leaf, const char* kind, double standard) {
  Json entry{{"kind", kind}, {"default", standard}};
  if (!leaf.unit.empty()) entry["unit"] = leaf.unit, entry["unit_factor"] = leaf.unit_factor;
  if (std::isfinite(leaf.range.low)) entry["low"] = leaf.range.low;
  if (std::isfinite(leaf.range.high)) entry["high"] = leaf.range.high;
  return entry;
}

bool ReplacePreset(Json& json, std::string_view kind, const std::string& path, const PresetFinder& find, const PresetHint& hint,
                   Issues& issues) {
  if (!json.is_object()) return true;
  const auto named = json.find("preset");
  if (named == json.end() || (named->is_string() && named->get_ref<const std::string&>().empty())) return true;
  if (!named->is_string()) {
    issues.push_back({JoinPath(path, "preset"), "expected the id of a " + std::string(kind) + "; got " + Shown(*named)});
    return false;
  }
  const std::string id = named->get<std::string>();
  const Json* found = find(kind, id);
  if (found == nullptr) {
    issues.push_back({JoinPath(path, "preset"), "there is no " + std::string(kind) + " " + Shown(*named) + hint(kind, id)});
    return false;
  }
  Json merged = *found;
  for (const char* remark : {"sources", "note", "published"}) merged.erase(remark);
  MergeJson(merged, json);
  json = std::move(merged);
  return true;
}

}  // namespace slipstick::internal
