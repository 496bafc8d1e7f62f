#include "core/text/names.h"

#include "core/base/json.h"
#include "core/base/schema.h"
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

// "cluster.networks.0.bandwidth" -> "cluster.networks.*.bandwidth", as inputs are described.
std::string WithoutIndices(std::string_view path) {
  std::string text;
  for (const char c : path) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit || (text.back() != '.' && text.back() != '*')) {
      text += c;
    } else if (text.back() == '.') {
      text += '*';
    }
  }
  return text;
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
  const std::string described = WithoutIndices(path);
  for (const Json& input : DescribedInputs()) {
    const Json* unit = TextOf(input["path"]) == described ? FindMember(input, "unit") : nullptr;
    if (unit != nullptr) return CountText(value / NumberAt(input, "unit_factor").value_or(1)) + " " + TextOf(*unit);
  }
  return CountText(value);
}

}  // namespace slipstick
