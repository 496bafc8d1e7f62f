// Writing and describing through field tables, and expanding presets.
#include "core/base/schema.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/base/arithmetic.h"
#include "core/base/fix.h"
#include "core/base/standard_preset.h"

namespace slipstick::internal {
namespace {

std::string_view ChosenName(const Choices& choices, const void* value) {
  int chosen = 0;
  std::memcpy(&chosen, value, sizeof(int));
  for (std::size_t i = 0; i < choices.size; ++i) {
    if (choices.values[i] == chosen) return choices.names[i];
  }
  return "";
}

// Casts const away for reading: readers and writers share the accessors of a field table.
void* Mutable(const void* value) { return const_cast<void*>(value); }

void DescribeNumber(const FieldFacts& facts, const char* kind, Json& entry) {
  entry["kind"] = kind;
  if (!facts.unit.empty()) entry["unit"] = facts.unit, entry["unit_factor"] = facts.unit_factor;
  if (std::isfinite(facts.range.low)) entry["low"] = facts.range.low;
  if (std::isfinite(facts.range.high)) entry["high"] = facts.range.high;
}

// Adds kind, default, unit, range and choices, each if the type has it.
void DescribeType(const FieldFacts& facts, const Type& type, const void* held, Json& entry) {
  entry["kind"] = "object";
  if (type.kind != Kind::kObject) entry["default"] = WriteAs(type, held);
  switch (type.kind) {
    case Kind::kQuantity:
      DescribeNumber(facts, "quantity", entry);
      entry["base_unit"] = BaseUnitText(*type.dimension);
      break;
    case Kind::kRatio:
      DescribeNumber(facts, "ratio", entry);
      break;
    case Kind::kCount:
      DescribeNumber(facts, facts.is_length ? "length" : "count", entry);
      break;
    case Kind::kCountOrMax:
      DescribeNumber(facts, "count", entry);
      entry["default"] = static_cast<const CountOrMax*>(held)->count;
      entry["word"] = "max";
      break;
    case Kind::kFlag:
      entry["kind"] = "flag";
      break;
    case Kind::kText:
      entry["kind"] = "text";
      break;
    case Kind::kChoice:
      entry["kind"] = "choice";
      entry["choices"] = Json::array();
      for (std::size_t i = 0; i < type.choices.size; ++i) entry["choices"].push_back(type.choices.names[i]);
      break;
    case Kind::kEntry:
      entry["kind"] = "choice";
      entry["choices"] = type.entry.names();
      break;
    case Kind::kList:
      entry["kind"] = "list";
      break;
    case Kind::kObject:
      if (!type.preset_kind.empty()) entry["presets"] = type.preset_kind;
      break;
    case Kind::kOptional:
      break;  // an optional holds no optional
  }
}

std::string HelpOf(const FieldFacts& facts) {
  return std::string(facts.help) + (facts.is_outside_reports ? ". No figure of a report uses it" : "");
}

// Labels longer than this are cut at a comma; longer remarks in parentheses are left out.
constexpr std::size_t kLongLabel = 40;
constexpr std::size_t kLongRemark = 12;

// The field's own label, or its help up to the first break of the sentence: "Test time per die", "Micro-batch size".
std::string LabelOf(const FieldFacts& facts) {
  if (!facts.label.empty()) return std::string(facts.label);
  std::string_view label = facts.help;
  for (const std::string_view end : {": ", "; ", ". "}) label = label.substr(0, label.find(end));
  const std::size_t open = label.find(" (");
  if (open != std::string_view::npos) {
    const std::size_t close = label.find(')', open);  // npos if the remark continues behind a break
    if (close - open - 2 > kLongRemark) label = label.substr(0, open);
  }
  if (label.size() > kLongLabel) label = label.substr(0, label.find(", "));
  while (!label.empty() && label.find_last_of(":;.") == label.size() - 1) label.remove_suffix(1);
  return std::string(label);
}

void DescribeMember(const FieldRow& row, const std::string& path, const void* standard, Json& out) {
  const FieldFacts& facts = row.facts;
  const bool nullable = row.type->kind == Kind::kOptional;
  const Type& type = TypeOfValue(*row.type);
  const void* set = nullable ? row.type->optional.held(Mutable(standard)) : standard;
  const void* held = set != nullptr ? set : row.type->standard();

  Json entry{{"path", path}};
  DescribeType(facts, type, held, entry);
  if (set == nullptr && type.kind != Kind::kObject) entry["default"] = nullptr;
  entry["label"] = LabelOf(facts);
  entry["help"] = HelpOf(facts);
  if (nullable) entry["nullable"] = true;
  if (facts.is_required) entry["required"] = true;
  if (facts.is_derived) entry["derived"] = true;
  if (facts.is_advanced) entry["advanced"] = true;
  out.push_back(std::move(entry));

  if (type.kind == Kind::kObject) DescribeAs(type, path, held, out);
  if (type.kind == Kind::kList && type.inner->kind == Kind::kObject)
    DescribeAs(*type.inner, path + ".*", type.standard(), out);
}

}  // namespace

void SetStandards(const Type& type, void* object) {
  if (type.kind == Kind::kOptional) {
    void* held = type.optional.held(object);
    if (held != nullptr) SetStandards(*type.inner, held);
  }
  if (type.kind != Kind::kObject) return;
  for (const FieldRow& row : *type.fields) SetStandards(*row.type, row.at(object));
  if (type.standard_id.empty()) return;
  Issues issues;
  ReadAs(type, StandardEntry(type.standard_id, type.preset_kind), std::string(type.standard_id), issues, object);
  assert(issues.empty());
}

Json WriteAs(const Type& type, const void* value) {
  switch (type.kind) {
    case Kind::kOptional: {
      const void* held = type.optional.held(Mutable(value));
      return held == nullptr ? Json(nullptr) : WriteAs(*type.inner, held);
    }
    case Kind::kList: {
      Json list = Json::array();
      for (std::size_t i = 0; i < type.list.size(value); ++i)
        list.push_back(WriteAs(*type.inner, type.list.at(Mutable(value), i)));
      return list;
    }
    case Kind::kObject: {
      Json json = Json::object();
      json.get_ref<Json::object_t&>().reserve(type.fields->size());
      for (const FieldRow& row : *type.fields) {
        AddMember(json, row.facts.key, WriteAs(*row.type, row.at(Mutable(value))));
      }
      return json;
    }
    case Kind::kChoice:
      return Json(ChosenName(type.choices, value));
    case Kind::kEntry:
      return Json(type.entry.chosen(value));
    case Kind::kQuantity: {
      double base = 0;
      std::memcpy(&base, value, sizeof(double));
      return base;
    }
    case Kind::kRatio:
      return *static_cast<const double*>(value);
    case Kind::kCount:
      return *static_cast<const Count*>(value);
    case Kind::kCountOrMax: {
      const CountOrMax& count = *static_cast<const CountOrMax*>(value);
      return count.max ? Json("max") : Json(count.count);
    }
    case Kind::kFlag:
      return *static_cast<const bool*>(value);
    case Kind::kText:
      return *static_cast<const std::string*>(value);
  }
  return nullptr;
}

void DescribeAs(const Type& type, const std::string& path, const void* standard, Json& out) {
  for (const FieldRow& row : *type.fields) {
    DescribeMember(row, JoinPath(path, row.facts.key), row.at(Mutable(standard)), out);
  }
}

namespace {

// "chip_design" -> "chip design"
std::string KindText(std::string_view kind) {
  std::string text(kind);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

bool ReplacePreset(Json& json, std::string_view kind, const std::string& path, Issues& issues) {
  if (!json.is_object()) return true;
  const auto named = json.find("preset");
  if (named == json.end() || (named->is_string() && TextOf(*named).empty())) return true;
  if (!named->is_string()) {
    issues.push_back({JoinPath(path, "preset"),
                      "Must be the id of a " + KindText(kind) + ", not " + Shown(*named),
                      {LeaveOut(JoinPath(path, "preset"))}});
    return false;
  }
  const std::string id = named->get<std::string>();
  const Json* found = FindPreset(kind, id);
  if (found == nullptr) {
    const std::string at = JoinPath(path, "preset");
    issues.push_back({at, "Unknown " + KindText(kind) + " " + Shown(*named), SetToEach(at, NearestPresets(kind, id))});
    return false;
  }
  Json merged = WithoutRemarks(*found);
  MergeJson(merged, json);
  json = std::move(merged);
  return true;
}

}  // namespace

void ExpandAs(const Type& type, Json& json, const std::string& path, Issues& issues) {
  if (type.kind == Kind::kOptional) return ExpandAs(*type.inner, json, path, issues);
  if (type.kind == Kind::kList) {
    if (!json.is_array()) return;
    for (std::size_t i = 0; i < json.size(); ++i) {
      ExpandAs(*type.inner, json[i], JoinPath(path, std::to_string(i)), issues);
    }
    return;
  }
  if (type.kind != Kind::kObject) return;
  if (!type.preset_kind.empty()) {
    if (json.is_string()) json = Json{{"preset", json}};
    if (!ReplacePreset(json, type.preset_kind, path, issues)) return;
  }
  if (!json.is_object()) return;
  for (const FieldRow& row : *type.fields) {
    const Kind kind = row.type->kind;
    if (kind != Kind::kObject && kind != Kind::kList && kind != Kind::kOptional) continue;
    auto found = json.find(row.facts.key);
    if (found == json.end() && kind == Kind::kObject && !row.type->preset_kind.empty()) {
      const std::string standard = StandardPreset(*row.type);
      if (!standard.empty()) {
        json[std::string(row.facts.key)] = Json{{"preset", standard}};
        found = json.find(row.facts.key);
      }
    }
    if (found != json.end()) ExpandAs(*row.type, *found, JoinPath(path, row.facts.key), issues);
  }
}

bool HasUnitToName(const FieldRow& row) {
  const Type& type = TypeOfValue(*row.type);
  return type.kind == Kind::kQuantity && *type.dimension != Tokens::kDimension && !row.facts.unit.empty();
}

void NameUnitsAs(const Type& type, Json& json, const std::string& path, std::vector<NamedUnit>& named) {
  if (type.kind == Kind::kOptional) return NameUnitsAs(*type.inner, json, path, named);
  if (type.kind == Kind::kList && json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i)
      NameUnitsAs(*type.inner, json[i], JoinPath(path, std::to_string(i)), named);
  }
  if (type.kind != Kind::kObject || !json.is_object()) return;
  for (const FieldRow& row : *type.fields) {
    const auto found = json.find(row.facts.key);
    if (found == json.end()) continue;
    const std::string at = JoinPath(path, row.facts.key);
    if (!found->is_string() || !HasUnitToName(row)) {
      NameUnitsAs(*row.type, *found, at, named);
      continue;
    }
    const std::optional<Measure> measure = ParseMeasure(TextOf(*found));
    if (!measure || measure->has_unit) continue;
    const std::string text = TextOf(*found);
    const std::optional<WrittenNumber> number = ReadArithmetic(text);
    const bool is_plain = number && number->used == text.size();  // not "4k", behind which no unit can stand
    *found = (is_plain ? text : JsonText(Json(measure->value))) + " " + std::string(row.facts.unit);
    named.push_back({at, text, TextOf(*found)});
  }
}

}  // namespace slipstick::internal

namespace slipstick {

Json WithoutRemarks(const Json& preset) {
  static constexpr std::string_view kRemarks[] = {"sources",   "note",       "published",
                                                  "usual_for", "comes_with", "joined_by"};
  Json plain = Json::object();
  plain.get_ref<Json::object_t&>().reserve(preset.size());
  for (const auto& [key, value] : preset.items()) {
    if (std::find(std::begin(kRemarks), std::end(kRemarks), key) == std::end(kRemarks)) AddMember(plain, key, value);
  }
  return plain;
}

}  // namespace slipstick
