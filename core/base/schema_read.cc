// Reads a value through its field table; reports every fault with its path.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/fix.h"
#include "core/base/listed.h"
#include "core/base/nearest_names.h"
#include "core/base/number_field.h"
#include "core/base/schema.h"
#include "core/base/standard_preset.h"
#include "core/base/tally.h"

namespace slipstick::internal {
namespace {

constexpr std::size_t kMaxEntries = 64, kMaxIssues = 200, kMaxChoices = 4, kMaxMoved = 16;

std::optional<double> ReadNumber(const Json& json, const FieldFacts& facts, const Dimension& dimension, bool whole,
                                 const Location& location, Issues& issues) {
  const NumberField field{facts, dimension, whole, location};
  const std::optional<double> value = field.Accepted(json);
  if (!value) issues.push_back({location.Text(), MessageOf(json, field), FixesOf(json, field)});
  return value;
}

void RefuseName(const Json& json, const std::vector<std::string_view>& names, const Location& location,
                Issues& issues) {
  std::vector<std::string> near;
  if (json.is_string()) near = NearestNames(TextOf(json), names);
  if (near.empty())
    near.assign(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxChoices)));
  issues.push_back(
      {location.Text(), "Unknown name " + Shown(json) + ": choose " + Listed(names), SetToEach(location.Text(), near)});
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

bool HasName(const std::vector<std::string_view>& names, const Json& json) {
  return json.is_string() && std::find(names.begin(), names.end(), TextOf(json)) != names.end();
}

void ReadEntry(const Json& json, const EntryOperations& entry, const Location& location, Issues& issues, void* out) {
  if (HasName(entry.names(), json)) return entry.choose(out, TextOf(json));
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

// Whether a number or a name can be read as a value of this type.
bool Takes(const Type& type, const Json& json, const FieldFacts& facts, const Location& location) {
  const auto number = [&](const Dimension& dimension, bool whole) {
    return NumberField{facts, dimension, whole, location}.Accepted(json).has_value();
  };
  switch (type.kind) {
    case Kind::kOptional:
      return Takes(*type.inner, json, facts, location);
    case Kind::kQuantity:
      return number(*type.dimension, false);
    case Kind::kRatio:
      return number(Dimension{}, false);
    case Kind::kCount:
    case Kind::kCountOrMax:
      return number(Dimension{}, true);
    case Kind::kChoice:
      return HasName({type.choices.names, type.choices.names + type.choices.size}, json);
    case Kind::kEntry:
      return HasName(type.entry.names(), json);
    default:
      return false;
  }
}

// A value in the place of an object may be meant for a member: "fp8" for a precision, "80 GB" for a memory.
Fixes FixesOfMember(const Type& type, const Json& json, const FieldFacts& facts, const Location& location) {
  Fixes fixes;
  for (const FieldRow& row : *type.fields) {
    const Location at{&location, row.facts.key};
    if (fixes.size() < kMaxChoices && Takes(*row.type, json, row.facts, at))
      fixes.push_back({{at.Text(), JsonText(json)}});
  }
  return Joined({std::move(fixes), WithoutIt(facts, location)});
}

// A preset states all members of an object.
Fixes FixesOfMissing(const Type& type, const Location& location) {
  const std::string preset = type.preset_kind.empty() ? "" : StandardPreset(type);
  return preset.empty() ? Fixes() : Fixes{SetTo(JoinPath(location.Text(), "preset"), preset)};
}

void ReadObject(const Type& type, const Json& json, const FieldFacts& facts, const Location& location, Issues& issues,
                void* out) {
  if (!json.is_object()) {
    issues.push_back(
        {location.Text(), "Must be an object, not " + Shown(json), FixesOfMember(type, json, facts, location)});
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
      issues.push_back({at.Text(), "Required: " + std::string(row.facts.help), FixesOfMissing(type, location), true});
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
