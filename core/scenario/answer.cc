#include "core/scenario/answer.h"

#include <utility>

#include "core/base/json.h"

namespace slipstick {
namespace {

// The last member of a path.
std::string_view MemberOf(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

std::string ValueText(const Change& change) {
  const Result<Json> value = ParseJson(change.value);
  return value && value->is_string() ? TextOf(*value) : change.value;
}

// "4" for the member of the issue, "tp 4" for another, "tp 4, pp 2" for several.
std::string LabelOf(const Fix& fix, const Issue& issue) {
  if (fix.change.value.empty()) return "leave out " + std::string(MemberOf(fix.change.path));
  std::string label = fix.change.path == issue.path ? "" : std::string(MemberOf(fix.change.path)) + " ";
  label += ValueText(fix.change);
  for (const Change& also : fix.also) {
    if (!also.value.empty()) label += ", " + std::string(MemberOf(also.path)) + " " + ValueText(also);
  }
  return label;
}

Json Write(const Change& change) {
  Json json{{"path", change.path}};
  const Result<Json> value = ParseJson(change.value);
  if (value) json["value"] = *value;
  return json;
}

Json Write(const Fix& fix, const Issue& issue) {
  Json json = Write(fix.change);
  json["label"] = LabelOf(fix, issue);
  for (const Change& also : fix.also) json["also"].push_back(Write(also));
  return json;
}

}  // namespace

Answer WrongRequest(Issues issues) {
  Json list = Json::array();
  for (const Issue& issue : issues) {
    Json fixes = Json::array();
    for (const Fix& fix : issue.fixes) fixes.push_back(Write(fix, issue));
    list.push_back(Json{{"path", issue.path}, {"message", issue.message}, {"fixes", std::move(fixes)}});
  }
  return {JsonText(Json{{"issues", std::move(list)}}), std::move(issues)};
}

std::string AssignmentText(const Change& change) {
  if (change.value.empty()) return "without " + change.path;
  const Result<Json> value = ParseJson(change.value);
  return change.path + "=" + (value && value->is_string() ? TextOf(*value) : change.value);
}

}  // namespace slipstick
