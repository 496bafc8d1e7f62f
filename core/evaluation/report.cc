#include "core/evaluation/report.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "core/base/fix.h"
#include "core/base/nearest_names.h"

namespace slipstick {
namespace {

// The path with * for each list index.
std::string WithWildcards(std::string_view path) {
  std::string plain;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view member = path.substr(0, dot);
    plain += IsPlace(member) ? "*" : member;
    if (dot == std::string_view::npos) return plain;
    plain += '.';
    path.remove_prefix(dot + 1);
  }
}

bool IsReported(const Json& output) { return !output.contains("reported"); }

}  // namespace

const Json& DescribedOutputs() {
  static const Json& described = *new Json([] {
    Json list = Json::array();
    DescribeTraining(list);
    DescribeServing(list);
    DescribeCost(list);
    DescribePostTraining(list);
    DescribeDiffusion(list);
    DescribeTechnology(list);
    return list;
  }());
  return described;
}

bool IsReportPath(std::string_view path) {
  const std::string_view part = PartOf(path);
  const bool is_beside = part == "version" || part == "scenario" || part == "warnings" || path == "technology" ||
                         std::find(std::begin(kParts), std::end(kParts), path) != std::end(kParts);
  const Json* output = OutputAt(path);
  return is_beside || (output != nullptr && IsReported(*output));
}

std::vector<std::string> ColumnsOf(const std::string& path) {
  const Json* output = OutputAt(path);
  if (output == nullptr || TextOf((*output)["kind"]) != "object") return {path};
  const std::string above = std::string(TextOf((*output)["path"])) + ".";
  std::vector<std::string> columns;
  for (const Json& entry : DescribedOutputs()) {
    const std::string_view inside = TextOf(entry["path"]);
    if (!inside.starts_with(above) || TextOf(entry["kind"]) == "object" || !IsReported(entry)) continue;
    const std::string_view rest = inside.substr(above.size());
    if (rest.find('*') == std::string_view::npos) columns.push_back(path + "." + std::string(rest));
  }
  return columns;
}

std::vector<std::string> NearestOutputs(std::string_view path) {
  std::vector<std::string_view> paths;
  for (const Json& entry : DescribedOutputs()) {
    if (IsReported(entry)) paths.push_back(TextOf(entry["path"]));
  }
  return NearestNames(path, paths);
}

Issue UnknownOutput(const std::string& member, std::string_view path) {
  return {member, "Unknown output " + std::string(path), SetToEach(member, NearestOutputs(path))};
}

const Json* OutputAt(std::string_view path) {
  static const auto& entries = *new std::unordered_map<std::string_view, const Json*>([] {
    std::unordered_map<std::string_view, const Json*> by_path;
    for (const Json& entry : DescribedOutputs()) by_path[TextOf(entry["path"])] = &entry;
    return by_path;
  }());
  const auto found = entries.find(WithWildcards(path));
  return found == entries.end() ? nullptr : found->second;
}

bool IsLargerBetter(std::string_view path) {
  const Json* output = OutputAt(path);
  const Json* better = output == nullptr ? nullptr : FindMember(*output, "better");
  return better != nullptr && *better == "larger";
}

std::string_view OutputTitle(std::string_view path) {
  const Json* output = OutputAt(path);
  const Json* title = output == nullptr ? nullptr : FindMember(*output, "title");
  return title == nullptr ? std::string_view() : std::string_view(TextOf(*title));
}

std::string_view UnitOf(std::string_view path) {
  const Json* output = OutputAt(path);
  const Json* unit = output == nullptr ? nullptr : FindMember(*output, "unit");
  return unit == nullptr ? std::string_view() : std::string_view(TextOf(*unit));
}

}  // namespace slipstick
