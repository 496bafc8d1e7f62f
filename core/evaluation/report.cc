#include "core/evaluation/report.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/base/nearest_names.h"

namespace slipstick {
namespace {

// The path with * for each list index.
std::string WithWildcards(std::string_view path) {
  std::string plain;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view member = path.substr(0, dot);
    plain += member.find_first_not_of("0123456789") == std::string_view::npos ? "*" : member;
    if (dot == std::string_view::npos) return plain;
    plain += '.';
    path.remove_prefix(dot + 1);
  }
}

bool IsReported(const Json& output) { return !output.contains("reported"); }

const Json* OutputAt(std::string_view path) {
  static const auto& entries = *new std::unordered_map<std::string_view, const Json*>([] {
    std::unordered_map<std::string_view, const Json*> by_path;
    for (const Json& entry : DescribedOutputs()) by_path[TextOf(entry["path"])] = &entry;
    return by_path;
  }());
  const auto found = entries.find(WithWildcards(path));
  return found == entries.end() ? nullptr : found->second;
}

Json Write(const Figure& figure) {
  const std::string_view title = OutputTitle(figure.path);
  Json terms = Json::array();
  for (const Term& term : figure.terms) {
    terms.push_back(
        ObjectOf({{"symbol", term.symbol}, {"value", term.value}, {"unit", BaseUnitText(term.dimension)}, {"origin", term.origin}}));
  }
  return ObjectOf({{"path", figure.path},
                   {"symbol", figure.symbol},
                   {"title", title.empty() ? figure.title : title},
                   {"note", figure.note},
                   {"source", figure.source},
                   {"formula", figure.formula},
                   {"value", figure.value},
                   {"unit", BaseUnitText(figure.dimension)},
                   {"terms", std::move(terms)}});
}

}  // namespace

const Json& DescribedOutputs() {
  static const Json& described = *new Json([] {
    Json list = Json::array();
    DescribeTraining(list);
    DescribeServing(list);
    DescribeCost(list);
    return list;
  }());
  return described;
}

bool IsReportPath(std::string_view path) {
  const std::string_view part = path.substr(0, path.find('.'));
  const bool is_beside =
      part == "version" || part == "scenario" || part == "warnings" || path == "training" || path == "serving" || path == "cost";
  const Json* output = OutputAt(path);
  return is_beside || (output != nullptr && IsReported(*output));
}

std::vector<std::string> NearestOutputs(std::string_view path) {
  std::vector<std::string_view> paths;
  for (const Json& entry : DescribedOutputs()) {
    if (IsReported(entry)) paths.push_back(TextOf(entry["path"]));
  }
  return NearestNames(path, paths);
}

std::string_view OutputTitle(std::string_view path) {
  const Json* output = OutputAt(path);
  const Json* title = output == nullptr ? nullptr : FindMember(*output, "title");
  return title == nullptr ? std::string_view() : std::string_view(TextOf(*title));
}

Json WriteExplanations(const std::vector<Figure>& figures, std::string_view path) {
  Json list = Json::array();
  if (path == "*") {
    for (const Figure& figure : figures) list.push_back(Write(figure));
    return list;
  }
  std::unordered_map<std::string, const Figure*> by_path;  // the latest of a path is the one shown
  for (const Figure& figure : figures) by_path[figure.path] = &figure;
  std::vector<std::string> open{std::string(path)};
  std::unordered_set<std::string> seen;
  for (std::size_t next = 0; next < open.size(); ++next) {
    const auto found = by_path.find(open[next]);
    if (found == by_path.end() || !seen.insert(open[next]).second) continue;
    list.push_back(Write(*found->second));
    for (const Term& term : found->second->terms) {
      if (!term.origin.empty()) open.push_back(term.origin);
    }
  }
  return list;
}

}  // namespace slipstick
