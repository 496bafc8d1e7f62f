#include "core/text/names.h"

#include "core/base/json.h"
#include "core/base/schema.h"
#include "core/base/type_path.h"
#include "core/catalogue/presets.h"
#include "core/evaluation/report.h"
#include "core/scenario/scenario.h"
#include "core/text/figure_text.h"

namespace slipstick {
namespace {

const Json& DescribedInputs() {
  static const Json& described = *new Json([] {
    Json list = Json::array();
    Describe<Scenario>("", list);
    return list;
  }());
  return described;
}

std::vector<std::string> PathsOf(const Json& described) {
  std::vector<std::string> paths;
  for (const Json& one : described) paths.push_back(TextOf(one["path"]));
  return paths;
}

}  // namespace

std::vector<std::string> InputPaths() { return PathsOf(DescribedInputs()); }
std::vector<std::string> OutputPaths() { return PathsOf(DescribedOutputs()); }

std::vector<std::string> ValuesOfInput(std::string_view path) {
  for (const Json& input : DescribedInputs()) {
    if (TextOf(input["path"]) != path) continue;
    if (const Json* kind = FindMember(input, "presets")) return PresetIds(TextOf(*kind));
    if (TextOf(input["kind"]) == "flag") return {"true", "false"};
    std::vector<std::string> values;
    if (const Json* choices = FindMember(input, "choices")) {
      for (const Json& choice : *choices) values.push_back(TextOf(choice));
    }
    return values;
  }
  return {};
}

std::vector<std::string> PresetIds(std::string_view kind) {
  std::vector<std::string> ids;
  for (const Json& preset : PresetCatalogue(kind)) ids.push_back(TextOf(preset["id"]));
  return ids;
}

std::vector<std::string> KindsOfPresets() {
  const std::vector<std::string_view> kinds = PresetKinds();
  return {kinds.begin(), kinds.end()};
}

std::string InputText(std::string_view path, double value) {
  const FieldRow* field = FieldAt<Scenario>(path);
  if (field == nullptr || field->facts.unit.empty()) return CountText(value);
  return CountText(value / field->facts.unit_factor) + " " + std::string(field->facts.unit);
}

}  // namespace slipstick
