#include "core/text/json_schema.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/release.h"
#include "core/base/schema.h"
#include "core/evaluation/report.h"
#include "core/scenario/scenario.h"
#include "core/sizing/question.h"

namespace slipstick {
namespace {

using internal::Kind;
using internal::Type;

Json TypeNames(std::initializer_list<const char*> names) {
  Json list = Json::array();
  for (const char* name : names) list.push_back(name);
  return list;
}

// Bounds of a number in base units. The program itself checks texts with a unit.
void AddRange(const FieldFacts& facts, Json& schema) {
  const Range& range = facts.range;
  if (std::isfinite(range.low)) schema["minimum"] = range.low;
  if (std::isfinite(range.high)) schema["maximum"] = range.high;
}

Json SchemaOf(const Type& type, const FieldFacts& facts);

// A preset's name may replace the object; a preset may also be a member beside others.
Json ObjectSchema(const Type& type) {
  Json properties = Json::object();
  for (const FieldRow& row : *type.fields) AddMember(properties, row.facts.key, SchemaOf(*row.type, row.facts));
  const bool names_preset = !type.preset_kind.empty();
  if (names_preset && !properties.contains("preset")) properties["preset"] = Json{{"type", "string"}};
  return Json{{"type", names_preset ? TypeNames({"object", "string"}) : Json("object")},
              {"properties", std::move(properties)},
              {"additionalProperties", false}};
}

Json NamesSchema(const std::string_view* names, std::size_t size) {
  Json list = Json::array();
  for (std::size_t i = 0; i < size; ++i) list.push_back(names[i]);
  return Json{{"enum", std::move(list)}};
}

// The same schema, or null.
Json OrNull(Json schema) {
  if (schema.contains("enum")) {
    schema["enum"].push_back(nullptr);
  } else if (schema["type"].is_array()) {
    schema["type"].push_back("null");
  } else {
    schema["type"] = Json::array({schema["type"], "null"});
  }
  return schema;
}

Json BareSchema(const Type& type, const FieldFacts& facts) {
  switch (type.kind) {
    case Kind::kOptional:
      return OrNull(BareSchema(*type.inner, facts));
    case Kind::kList:
      return Json{{"type", "array"}, {"items", BareSchema(*type.inner, facts)}};
    case Kind::kObject:
      return ObjectSchema(type);
    case Kind::kChoice:
      return NamesSchema(type.choices.names, type.choices.size);
    case Kind::kEntry:
      return NamesSchema(type.entry.names().data(), type.entry.names().size());
    case Kind::kFlag:
      return Json{{"type", "boolean"}};
    case Kind::kText:
      return Json{{"type", "string"}};
    case Kind::kQuantity:
    case Kind::kRatio:
    case Kind::kCount:
    case Kind::kCountOrMax:
      break;
  }
  const bool is_whole = type.kind == Kind::kCount || type.kind == Kind::kCountOrMax;
  Json schema{{"type", TypeNames({is_whole ? "integer" : "number", "string"})}};
  AddRange(facts, schema);
  return schema;
}

Json SchemaOf(const Type& type, const FieldFacts& facts) {
  Json schema = BareSchema(type, facts);
  std::string description(facts.help);
  if (!facts.unit.empty())
    description +=
        (description.empty() ? "" : "; ") + std::string("a text has its unit, such as ") + std::string(facts.unit);
  if (!description.empty()) schema["description"] = description;
  return schema;
}

// Network levels may name a preset, and "auto" stands for a whole mapping; a completed request lists what was written.
Json ScenarioSchema() {
  Json schema = ObjectSchema(internal::kType<Scenario>);
  Json& properties = schema["properties"];
  Json& level = properties["cluster"]["properties"]["networks"]["items"];
  level["type"] = TypeNames({"object", "string"});
  level["properties"]["preset"] = Json{{"type", "string"}};
  for (const char* part : {"training", "serving"}) {
    Json& mapping = properties[part]["properties"]["mapping"];
    mapping["type"] = TypeNames({"object", "string"});
    mapping["pattern"] = "^auto$";
    mapping["properties"]["auto"] = Json{{"type", "boolean"}};
  }
  properties["written"] =
      Json{{"description", "Paths that somebody wrote; other values of the default scenario follow these"},
           {"type", "array"},
           {"items", Json{{"type", "string"}}}};
  return schema;
}

// The kind "value" is any value that an input can have.
Json OutputSchema(const Json& output) {
  static const std::map<std::string_view, std::vector<const char*>> kTypes{
      {"number", {"number"}}, {"flag", {"boolean"}},  {"text", {"string"}},
      {"list", {"array"}},    {"object", {"object"}}, {"value", {"number", "string", "boolean"}}};
  Json schema{{"type", Json(kTypes.at(TextOf(output["kind"])))}};
  schema["type"].push_back("null");
  for (const char* key : {"title", "unit"}) {
    if (const Json* text = FindMember(output, key))
      schema[std::string_view(key) == "unit" ? "description" : key] = *text;
  }
  return schema;
}

// Every report has every output, null if it has no value; a later release may add others.
void AddOutput(const Json& output, Json& parts) {
  std::string_view path = TextOf(output["path"]);
  Json* owner = &parts[std::string(path.substr(0, path.find('.')))];
  if (owner->is_null()) *owner = Json{{"type", TypeNames({"object", "null"})}};
  for (path.remove_prefix(path.find('.') + 1); path.find('.') != std::string_view::npos;
       path.remove_prefix(path.find('.') + 1)) {
    const std::string key(path.substr(0, path.find('.')));
    Json& next = key == "*" ? (*owner)["items"] : (*owner)["properties"][key];
    if (next.is_null()) next = Json{{"type", "object"}};
    owner = &next;
  }
  const std::string key(path);
  (*owner)["properties"][key] = OutputSchema(output);
  (*owner)["required"].push_back(key);
}

Json ReportSchema() {
  Json parts = Json::object();
  for (const Json& output : DescribedOutputs()) AddOutput(output, parts);
  Json properties{{"version", Json{{"type", "integer"}}}, {"scenario", Json{{"$ref", "#/$defs/scenario"}}}};
  properties.update(parts);
  properties["warnings"] = Json{{"type", "array"}, {"items", Json{{"type", "string"}}}};
  const Json text{{"type", "string"}};
  properties["units_assumed"] =
      Json{{"type", "array"},
           {"items", Json{{"type", "object"},
                          {"properties", Json{{"path", text}, {"text", text}, {"value", text}}},
                          {"required", TypeNames({"path", "text", "value"})}}}};
  properties["explanations"] = Json{{"type", "array"}};
  properties["sources"] = Json{{"type", "object"}};
  return Json{{"type", "object"},
              {"properties", std::move(properties)},
              {"required", TypeNames({"version", "scenario", "training", "serving", "cost", "warnings"})}};
}

}  // namespace

std::string FormatSchema(std::string_view of) {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"$id", "urn:slipstick:" + std::string(kRelease)}};
  if (of.empty()) {
    schema["anyOf"] = Json::array({Json{{"$ref", "#/$defs/report"}}, Json{{"$ref", "#/$defs/scenario"}}});
  } else {
    schema["$ref"] = "#/$defs/" + std::string(of);
  }
  schema["$defs"] = Json{{"scenario", ScenarioSchema()},
                         {"report", ReportSchema()},
                         {"size_question", ObjectSchema(internal::kType<SizeQuestion>)}};
  return JsonText(schema);
}

}  // namespace slipstick
