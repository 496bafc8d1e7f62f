// Reading a value through its description: every fault with its path.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/schema.h"

namespace slipstick::internal {
namespace {

constexpr std::size_t kMaxPlaces = 64, kMaxText = 200, kMaxIssues = 200;

// Where a value stands. Its text is made only for an issue.
struct Place {
  const Place* parent;
  std::string_view member;
  std::size_t place = 0;  // in a list, where member is empty

  [[nodiscard]] std::string Text() const {
    if (parent == nullptr) return std::string(member);
    return JoinPath(parent->Text(), member.data() == nullptr ? std::to_string(place) : std::string(member));
  }
};

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

std::string BoundText(double bound, const FieldFacts& facts, bool whole) {
  std::string text = whole ? NumberText(bound) : NumberText(bound / facts.unit_factor);
  if (!facts.unit.empty()) text += " " + std::string(facts.unit);
  return text;
}

std::string RangeText(const FieldFacts& facts, bool whole) {
  const Range& range = facts.range;
  const bool low = std::isfinite(range.low), high = std::isfinite(range.high);
  std::string text = whole ? "a whole number" : "a number";
  if (low && high) {
    text += " from " + BoundText(range.low, facts, whole) + " to " + BoundText(range.high, facts, whole);
  } else if (low) {
    text += (range.open_low ? " above " : " of at least ") + BoundText(range.low, facts, whole);
  } else if (high) {
    text += " of at most " + BoundText(range.high, facts, whole);
  }
  return text;
}

// A comma that does not group thousands was meant as a decimal point, or not: the person has to say.
std::string CommaText(const Json& json) {
  const bool comma = json.is_string() && TextOf(json).find(',') != std::string_view::npos;
  return comma ? "; a comma only groups thousands: write 1.5 for one and a half, 1,500 or 1500 for fifteen hundred" : "";
}

// "70B": a bare B is a byte, and a billion where bytes make no sense.
bool IsBillions(std::string_view text, const Measure& measure) {
  return measure.has_unit && measure.dimension == Bytes::kDimension && text.size() > 1 && text.back() == 'B' &&
         std::string_view(" 0123456789.)").find(text[text.size() - 2]) != std::string_view::npos;
}

std::optional<double> ReadNumber(const Json& json, const FieldFacts& facts, const Dimension& dimension, bool whole, const Place& place,
                                 Issues& issues) {
  const auto fault = [&](const std::string& text) {
    issues.push_back({place.Text(), text});
    return std::nullopt;
  };
  const auto unexpected = [&] {
    const std::string base = BaseUnitText(dimension);
    return fault("expected " + RangeText(facts, whole) + (base.empty() || !facts.unit.empty() ? std::string() : " " + base) + "; got " +
                 Shown(json) + CommaText(json));
  };
  double value = 0;
  if (json.is_number()) {
    value = json.get<double>();
  } else if (json.is_string()) {
    const std::string_view text = TextOf(json);
    std::optional<Measure> measure = ParseMeasure(text, facts.is_length ? 1024 : 1000);
    if (!measure) return unexpected();
    if (dimension != Bytes::kDimension && IsBillions(text, *measure)) measure = Measure{measure->value * 1e9, {}, false};
    const bool tokens = facts.is_length && measure->dimension == Tokens::kDimension;
    if (measure->has_unit && measure->dimension != dimension && !tokens) {
      const std::string base = BaseUnitText(dimension);
      return fault("expected " + (base.empty() ? std::string("a number without a unit") : "a quantity in " + base) + "; got " +
                   Shown(json) + ", which is in " + (measure->dimension == Dimension{} ? "no unit" : BaseUnitText(measure->dimension)));
    }
    value = measure->value;
  } else {
    return unexpected();
  }
  const Range& range = facts.range;
  const bool in_range = std::isfinite(value) && value >= range.low && value <= range.high && !(range.open_low && value == range.low);
  const bool is_whole = !whole || (value == std::floor(value) && std::abs(value) < 9e15);
  return in_range && is_whole ? std::optional(value) : unexpected();
}

// A text that is none of the names there are.
void RefuseName(const Json& json, const std::vector<std::string_view>& names, const Place& place, Issues& issues) {
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  issues.push_back({place.Text(), "expected one of " + all + "; got " + Shown(json) +
                                      (json.is_string() ? NearestText(TextOf(json), names) : std::string())});
}

void ReadChoice(const Json& json, const Choices& choices, const Place& place, Issues& issues, void* out) {
  for (std::size_t i = 0; i < choices.size; ++i) {
    if (json.is_string() && TextOf(json) == choices.names[i]) {
      std::memcpy(out, &choices.values[i], sizeof(int));
      return;
    }
  }
  RefuseName(json, {choices.names, choices.names + choices.size}, place, issues);
}

void ReadEntry(const Json& json, const EntryOperations& entry, const Place& place, Issues& issues, void* out) {
  for (const std::string_view name : entry.names()) {
    if (json.is_string() && TextOf(json) == name) return entry.choose(out, name);
  }
  RefuseName(json, entry.names(), place, issues);
}

void ReadValue(const Type& type, const Json& json, const FieldFacts& facts, const Place& place, Issues& issues, void* out);

void ReadObject(const Type& type, const Json& json, const Place& place, Issues& issues, void* out) {
  if (!json.is_object()) {
    issues.push_back({place.Text(), "expected an object; got " + Shown(json)});
    return;
  }
  std::size_t known = 0;
  for (const FieldRow& row : *type.fields) {
    const Place at{&place, row.facts.key};
    const auto found = json.find(row.facts.key);
    if (found != json.end()) {
      ++known;
      ReadValue(*row.type, *found, row.facts, at, issues, row.at(out));
    } else if (row.facts.is_required) {
      issues.push_back({at.Text(), "is needed: " + std::string(row.facts.help)});
    }
  }
  if (known == json.size()) return;
  std::vector<std::string_view> keys;
  for (const FieldRow& row : *type.fields) keys.push_back(row.facts.key);
  for (const auto& [key, value] : json.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    if (issues.size() > kMaxIssues) return;
    const std::string shown = key.size() > 60 ? key.substr(0, 57) + "…" : key;
    issues.push_back({JoinPath(place.Text(), shown), "there is no such input" + NearestText(key, keys)});
  }
}

void ReadList(const Type& type, const Json& json, const FieldFacts& facts, const Place& place, Issues& issues, void* out) {
  if (!json.is_array()) {
    issues.push_back({place.Text(), "expected a list; got " + Shown(json)});
    return;
  }
  if (json.size() > kMaxPlaces) {
    issues.push_back({place.Text(), "expected at most " + std::to_string(kMaxPlaces) + " places; got " + std::to_string(json.size())});
    return;
  }
  type.list.clear(out);
  for (std::size_t i = 0; i < json.size(); ++i) {
    ReadValue(*type.inner, json[i], facts, Place{&place, {}, i}, issues, type.list.append(out));
  }
}

void ReadValue(const Type& type, const Json& json, const FieldFacts& facts, const Place& place, Issues& issues, void* out) {
  switch (type.kind) {
    case Kind::kOptional:
      if (json.is_null()) {
        type.optional.reset(out);
      } else {
        ReadValue(*type.inner, json, facts, place, issues, type.optional.engage(out));
      }
      return;
    case Kind::kList:
      return ReadList(type, json, facts, place, issues, out);
    case Kind::kObject:
      return ReadObject(type, json, place, issues, out);
    case Kind::kChoice:
      return ReadChoice(json, type.choices, place, issues, out);
    case Kind::kEntry:
      return ReadEntry(json, type.entry, place, issues, out);
    case Kind::kQuantity:
      if (const auto value = ReadNumber(json, facts, *type.dimension, false, place, issues)) std::memcpy(out, &*value, sizeof(double));
      return;
    case Kind::kRatio:
      if (const auto value = ReadNumber(json, facts, Dimension{}, false, place, issues)) *static_cast<double*>(out) = *value;
      return;
    case Kind::kCount:
      if (const auto value = ReadNumber(json, facts, Dimension{}, true, place, issues))
        *static_cast<Count*>(out) = static_cast<Count>(*value);
      return;
    case Kind::kCountOrMax:
      if (json.is_string() && TextOf(json) == "max") {
        static_cast<CountOrMax*>(out)->max = true;
      } else if (const auto value = ReadNumber(json, facts, Dimension{}, true, place, issues)) {
        *static_cast<CountOrMax*>(out) = {false, static_cast<Count>(*value)};
      }
      return;
    case Kind::kFlag:
      if (json.is_boolean()) {
        *static_cast<bool*>(out) = json.get<bool>();
      } else {
        issues.push_back({place.Text(), "expected true or false; got " + Shown(json)});
      }
      return;
    case Kind::kText:
      if (json.is_string() && TextOf(json).size() <= kMaxText) {
        *static_cast<std::string*>(out) = TextOf(json);
      } else {
        issues.push_back({place.Text(), "expected a text of at most " + std::to_string(kMaxText) + " characters; got " + Shown(json)});
      }
      return;
  }
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
  return best.empty() ? std::string() : "; did you mean " + std::string(best) + "?";
}

void ReadAs(const Type& type, const Json& json, const std::string& path, Issues& issues, void* out) {
  ReadValue(type, json, FieldFacts{}, Place{nullptr, path}, issues, out);
}

}  // namespace slipstick::internal
