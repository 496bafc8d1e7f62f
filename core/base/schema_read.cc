// Reads a value through its field table; reports every fault with its path.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/base/arithmetic.h"
#include "core/base/fix.h"
#include "core/base/nearest_names.h"
#include "core/base/schema.h"
#include "core/base/tally.h"

namespace slipstick::internal {
namespace {

constexpr std::size_t kMaxEntries = 64, kMaxText = 200, kMaxIssues = 200, kMaxChoices = 4, kMaxMoved = 16;

// Path of a value; its text is built only for an issue.
struct Location {
  const Location* parent;
  std::string_view member;
  std::size_t index = 0;  // in a list, where member is empty

  [[nodiscard]] std::string Text() const {
    if (parent == nullptr) return std::string(member);
    return JoinPath(parent->Text(), member.data() == nullptr ? std::to_string(index) : std::string(member));
  }
};

// Leaves out a member that has a default. List entries cannot be left out: later entries would move up.
Fixes WithoutIt(const FieldFacts& facts, const Location& location) {
  if (facts.is_required || location.member.empty()) return {};
  return {LeaveOut(location.Text())};
}

std::string BoundText(double bound, const FieldFacts& facts, bool whole) {
  const double value = whole ? bound : bound / facts.unit_factor;
  std::string text = whole || value == std::floor(value) ? GroupedText(value) : NumberText(value);
  if (!facts.unit.empty()) text += " " + std::string(facts.unit);
  return text;
}

std::string WithArticle(bool whole) { return whole ? "a whole number" : "a number"; }

std::string RangeText(const FieldFacts& facts, bool whole) {
  const Range& range = facts.range;
  const bool low = std::isfinite(range.low), high = std::isfinite(range.high);
  std::string text = WithArticle(whole);
  if (low && high) {
    text += " from " + BoundText(range.low, facts, whole) + " to " + BoundText(range.high, facts, whole);
  } else if (low) {
    text += " of at least " + BoundText(range.low, facts, whole);
  } else if (high) {
    text += " of at most " + BoundText(range.high, facts, whole);
  }
  return text;
}

// A comma that does not group thousands may be a decimal point: the user must decide.
std::string CommaText(const Json& json) {
  const bool comma = json.is_string() && TextOf(json).find(',') != std::string_view::npos;
  return comma ? " (a comma only groups thousands: write 1.5 or 1,500)" : "";
}

// "70B": B is a byte, or a billion where bytes make no sense.
bool IsBillions(std::string_view text, const Measure& measure) {
  return measure.has_unit && measure.dimension == Bytes::kDimension && text.size() > 1 && text.back() == 'B' &&
         std::string_view(" 0123456789.)").find(text[text.size() - 2]) != std::string_view::npos;
}

// The limit is well below 2^53, up to which a double holds every whole number.
bool FitsCount(double value) { return std::abs(value) < 9e15; }

// A numeric field at its path.
struct NumberField {
  const FieldFacts& facts;
  const Dimension& dimension;
  bool whole;
  const Location& location;

  [[nodiscard]] std::optional<Measure> MeasureOf(std::string_view text) const {
    std::optional<Measure> measure = ParseMeasure(text, facts.is_length ? 1024 : 1000);
    if (measure && dimension != Bytes::kDimension && IsBillions(text, *measure))
      measure = Measure{measure->value * 1e9, {}, false};
    return measure;
  }
  // Whether a text is a number of this dimension that overflows a double in base units: "1e300 TFLOP/s".
  [[nodiscard]] bool IsTooLarge(std::string_view text) const {
    const std::optional<WrittenNumber> number = ReadArithmetic(text);
    if (!number || number->value < 0) return false;
    const std::optional<Measure> unit = MeasureOf("1" + std::string(text.substr(number->used)));
    return unit && HasDimension(*unit) && !std::isfinite(number->value * unit->value);
  }
  [[nodiscard]] bool HasDimension(const Measure& measure) const {
    const bool tokens = facts.is_length && measure.dimension == Tokens::kDimension;
    return !measure.has_unit || measure.dimension == dimension || tokens;
  }
  // The number, in range or not; nothing if the value is not a number of this dimension.
  [[nodiscard]] std::optional<double> NumberOf(const Json& json) const {
    if (json.is_number()) return json.get<double>();
    const std::optional<Measure> measure = json.is_string() ? MeasureOf(TextOf(json)) : std::nullopt;
    return measure && HasDimension(*measure) ? std::optional(measure->value) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> Accepted(const Json& json) const {
    const std::optional<double> value = NumberOf(json);
    if (!value) return std::nullopt;
    const Range& range = facts.range;
    const bool in_range = std::isfinite(*value) && *value >= range.low && *value <= range.high;
    const bool is_whole = !whole || (*value == std::floor(*value) && FitsCount(*value));
    return in_range && is_whole ? value : std::nullopt;
  }
};

std::string MessageOf(const Json& json, const NumberField& field) {
  const std::string base = BaseUnitText(field.dimension);
  const std::optional<Measure> measure = json.is_string() ? field.MeasureOf(TextOf(json)) : std::nullopt;
  if (measure && !field.HasDimension(*measure)) {
    const std::string found = BaseUnitText(measure->dimension);
    return "Enter " + (base.empty() ? std::string("a number without a unit") : "a quantity in " + base) +
           (found.empty() ? "" : ", not in " + found);
  }
  const std::string unit = base.empty() || !field.facts.unit.empty() ? std::string() : " " + base;
  const std::optional<UnknownUnit> unknown =
      json.is_string() && !base.empty() ? FindUnknownUnit(TextOf(json)) : std::nullopt;
  if (unknown && !measure) {
    const std::string known = field.facts.unit.empty() ? base : std::string(field.facts.unit);
    return "Enter a number in " + known + ": unknown unit \"" + unknown->name + "\"";
  }
  if (json.is_string() && field.IsTooLarge(TextOf(json))) {
    const double high =
        std::isfinite(field.facts.range.high) ? field.facts.range.high : std::numeric_limits<double>::max();
    return "Too large: enter " + WithArticle(field.whole) + " of at most " + BoundText(high, field.facts, field.whole) +
           unit;
  }
  return "Enter " + RangeText(field.facts, field.whole) + unit + CommaText(json);
}

// Likely meanings of a rejected text: "1,5" is 1.5 or 15, "3 TB" for a rate is 3 TB/s, "80 gb" is 80 GB.
std::vector<Json> MeantBy(std::string text) {
  if (const std::optional<UnknownUnit> unknown = FindUnknownUnit(text); unknown && !unknown->spelled.empty())
    return {unknown->spelled};
  if (text.find(',') != std::string::npos) {
    std::string point = text;
    std::replace(point.begin(), point.end(), ',', '.');
    text.erase(std::remove(text.begin(), text.end(), ','), text.end());
    return {point, text};
  }
  if (text.ends_with("/s")) return {text.substr(0, text.size() - 2)};
  return {text + "/s"};
}

// The nearest accepted values; if none, leave the member out.
Fixes FixesOf(const Json& json, const NumberField& field) {
  const FieldFacts& facts = field.facts;
  std::vector<Json> candidates;
  if (json.is_string() && TextOf(json).size() <= kMaxText) candidates = MeantBy(TextOf(json));
  const auto bound = [&](double value) {
    if (!facts.unit.empty() && !field.whole) candidates.emplace_back(BoundText(value, facts, false));
    candidates.push_back(field.whole ? Json(static_cast<Count>(value)) : Json(value));
  };
  if (const std::optional<double> value = field.NumberOf(json)) {
    if (field.whole && FitsCount(*value)) {
      for (const double whole : {std::floor(*value), std::ceil(*value)})
        candidates.emplace_back(static_cast<Count>(whole));
    }
    if (*value < facts.range.low) bound(facts.range.low);
    if (*value > facts.range.high) bound(facts.range.high);
  }
  const std::string path = field.location.Text();
  Fixes fixes;
  std::vector<double> known;
  for (const Json& candidate : candidates) {
    const std::optional<double> value = field.Accepted(candidate);
    if (!value || std::find(known.begin(), known.end(), *value) != known.end()) continue;
    known.push_back(*value);
    fixes.push_back({{path, JsonText(candidate)}});
  }
  if (fixes.empty()) fixes = WithoutIt(facts, field.location);
  return fixes;
}

std::optional<double> ReadNumber(const Json& json, const FieldFacts& facts, const Dimension& dimension, bool whole,
                                 const Location& location, Issues& issues) {
  const NumberField field{facts, dimension, whole, location};
  const std::optional<double> value = field.Accepted(json);
  if (!value) issues.push_back({location.Text(), MessageOf(json, field), FixesOf(json, field)});
  return value;
}

void RefuseName(const Json& json, const std::vector<std::string_view>& names, const Location& location,
                Issues& issues) {
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  std::vector<std::string> near;
  if (json.is_string()) near = NearestNames(TextOf(json), names);
  if (near.empty())
    near.assign(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxChoices)));
  issues.push_back(
      {location.Text(), "Unknown name " + Shown(json) + ": choose " + all, SetToEach(location.Text(), near)});
}

void ReadChoice(const Json& json, const Choices& choices, const Location& location, Issues& issues, void* out) {
  for (std::size_t i = 0; i < choices.size; ++i) {
    if (json.is_string() && TextOf(json) == choices.names[i]) {
      std::memcpy(out, &choices.values[i], sizeof(int));
      return;
    }
  }
  RefuseName(json, {choices.names, choices.names + choices.size}, location, issues);
}

void ReadEntry(const Json& json, const EntryOperations& entry, const Location& location, Issues& issues, void* out) {
  for (const std::string_view name : entry.names()) {
    if (json.is_string() && TextOf(json) == name) return entry.choose(out, name);
  }
  RefuseName(json, entry.names(), location, issues);
}

// All quantities have one layout: the value, then the node; a number from a table has no node.
void WriteBase(double value, void* quantity) {
  const Ratio written = value;
  std::memcpy(quantity, &written, sizeof written);
}

void WriteCount(const Type& type, Count value, void* count) {
  if (type.has_node) {
    *static_cast<Tally*>(count) = value;
  } else {
    *static_cast<Count*>(count) = value;
  }
}

void ReadValue(const Type& type, const Json& json, const FieldFacts& facts, const Location& location, Issues& issues,
               void* out);

// Lists the values at and below an unknown member, as changes below another path.
void MoveBelow(const std::string& path, const Json& json, std::vector<Change>& changes) {
  if (!json.is_object()) return changes.push_back({path, JsonText(json)});
  for (const auto& [key, value] : json.items()) MoveBelow(JoinPath(path, key), value, changes);
}

// Renames an unknown member to the nearest known names, or leaves it out.
Fixes FixesOfUnknown(const std::string& owner, const std::string& key, const Json& value,
                     const std::vector<std::string_view>& keys) {
  // A path cannot contain such a name.
  if (key.empty() || key.find('.') != std::string::npos) return {};
  const std::string path = JoinPath(owner, key);
  Fixes fixes;
  for (const std::string& name : NearestNames(key, keys)) {
    std::vector<Change> changes;
    MoveBelow(JoinPath(owner, name), value, changes);
    if (changes.empty() || changes.size() > kMaxMoved) continue;
    changes.push_back(LeaveOut(path).change);
    fixes.push_back({changes[0], {changes.begin() + 1, changes.end()}});
  }
  fixes.push_back(LeaveOut(path));
  return fixes;
}

void ReadObject(const Type& type, const Json& json, const FieldFacts& facts, const Location& location, Issues& issues,
                void* out) {
  if (!json.is_object()) {
    issues.push_back({location.Text(), "Must be an object, not " + Shown(json), WithoutIt(facts, location)});
    return;
  }
  std::size_t known = 0;
  for (const FieldRow& row : *type.fields) {
    const Location at{&location, row.facts.key};
    const auto found = json.find(row.facts.key);
    if (found != json.end()) {
      ++known;
      ReadValue(*row.type, *found, row.facts, at, issues, row.at(out));
    } else if (row.facts.is_required) {
      issues.push_back({at.Text(), "Required: " + std::string(row.facts.help), {}, true});
    }
  }
  if (known == json.size()) return;
  std::vector<std::string_view> keys;
  for (const FieldRow& row : *type.fields) keys.push_back(row.facts.key);
  for (const auto& [key, value] : json.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    if (issues.size() > kMaxIssues) return;
    const bool is_long = key.size() > 60;
    const std::string shown = is_long ? key.substr(0, 57) + "…" : key;
    issues.push_back({JoinPath(location.Text(), shown), "Unknown input",
                      is_long ? Fixes() : FixesOfUnknown(location.Text(), key, value, keys)});
  }
}

void ReadList(const Type& type, const Json& json, const FieldFacts& facts, const Location& location, Issues& issues,
              void* out) {
  if (!json.is_array()) {
    issues.push_back({location.Text(), "Must be a list, not " + Shown(json), WithoutIt(facts, location)});
    return;
  }
  if (json.size() > kMaxEntries) {
    issues.push_back(
        {location.Text(), "Too long: at most " + std::to_string(kMaxEntries) + " entries", WithoutIt(facts, location)});
    return;
  }
  type.list.clear(out);
  for (std::size_t i = 0; i < json.size(); ++i) {
    ReadValue(*type.inner, json[i], facts, Location{&location, {}, i}, issues, type.list.append(out));
  }
}

void ReadValue(const Type& type, const Json& json, const FieldFacts& facts, const Location& location, Issues& issues,
               void* out) {
  switch (type.kind) {
    case Kind::kOptional:
      if (json.is_null()) {
        type.optional.reset(out);
      } else {
        ReadValue(*type.inner, json, facts, location, issues, type.optional.engage(out));
      }
      return;
    case Kind::kList:
      return ReadList(type, json, facts, location, issues, out);
    case Kind::kObject:
      return ReadObject(type, json, facts, location, issues, out);
    case Kind::kChoice:
      return ReadChoice(json, type.choices, location, issues, out);
    case Kind::kEntry:
      return ReadEntry(json, type.entry, location, issues, out);
    case Kind::kQuantity:
      if (const auto value = ReadNumber(json, facts, *type.dimension, false, location, issues)) WriteBase(*value, out);
      return;
    case Kind::kRatio:
      if (const auto value = ReadNumber(json, facts, Dimension{}, false, location, issues))
        type.has_node ? WriteBase(*value, out) : static_cast<void>(*static_cast<double*>(out) = *value);
      return;
    case Kind::kCount:
      if (const auto value = ReadNumber(json, facts, Dimension{}, true, location, issues))
        WriteCount(type, static_cast<Count>(*value), out);
      return;
    case Kind::kCountOrMax:
      if (json.is_string() && TextOf(json) == "max") {
        static_cast<CountOrMax*>(out)->max = true;
      } else if (const auto value = ReadNumber(json, facts, Dimension{}, true, location, issues)) {
        *static_cast<CountOrMax*>(out) = {false, static_cast<Count>(*value)};
      }
      return;
    case Kind::kFlag:
      if (json.is_boolean()) {
        *static_cast<bool*>(out) = json.get<bool>();
      } else {
        const std::string path = location.Text();
        issues.push_back({path, "Must be true or false, not " + Shown(json), {{{path, "true"}}, {{path, "false"}}}});
      }
      return;
    case Kind::kText:
      if (json.is_string() && TextOf(json).size() <= kMaxText) {
        *static_cast<std::string*>(out) = TextOf(json);
      } else {
        issues.push_back({location.Text(), "Enter a text of at most " + std::to_string(kMaxText) + " characters",
                          WithoutIt(facts, location)});
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

void ReadAs(const Type& type, const Json& json, const std::string& path, Issues& issues, void* out) {
  ReadValue(type, json, FieldFacts{}, Location{nullptr, path}, issues, out);
}

}  // namespace slipstick::internal
