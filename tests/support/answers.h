// Requests and reports in tests: values at dotted paths.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/api/api.h"
#include "core/base/json.h"

namespace slipstick::testing {

// PATH=VALUE of a request.
using Assignments = std::vector<std::string>;
inline Assignments operator+(Assignments all, const Assignments& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// The value at a dotted path, or null.
inline const Json* Find(const Json& json, std::string_view path) {
  const Json* at = &json;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    const std::string member(path.substr(0, dot));
    path.remove_prefix(dot == std::string_view::npos ? path.size() : dot + 1);
    if (at->is_array() && !member.empty() && member.find_first_not_of("0123456789") == std::string::npos) {
      const std::size_t place = std::stoul(member);
      if (place >= at->size()) return nullptr;
      at = &(*at)[place];
    } else if (at->is_object() && at->contains(member)) {
      at = &(*at)[member];
    } else {
      return nullptr;
    }
  }
  return at;
}

inline double Number(const Json& json, std::string_view path) {
  const Json* found = Find(json, path);
  EXPECT_TRUE(found != nullptr && found->is_number()) << path << " is no number";
  return found != nullptr && found->is_number() ? found->get<double>() : 0;
}

// Adds version 1, whose default scenario has a written mapping, to a request without a version.
inline Json WithVersion(Json request) {
  if (!request.contains("version")) request["version"] = 1;
  return request;
}

// The answer to a request as JSON: a report, or {"issues": […]}.
inline Json Ask(const Json& request, std::string_view explain = "") {
  const std::string text = EvaluateAnswer(JsonText(WithVersion(request)), {}, explain).text;
  Json answer = Json::parse(text, nullptr, false);  // the answer may exceed the size limit of a request
  EXPECT_FALSE(answer.is_discarded()) << "the answer is no JSON";
  return answer;
}

// The origin at the end of the marked path from a figure.
inline std::string LedTo(const Json& explanations, const std::string& path) {
  for (const Json& figure : explanations) {
    if (TextOf(figure["path"]) != path) continue;
    for (const Json& term : figure["terms"]) {
      if (term.contains("leads")) return LedTo(explanations, TextOf(term["origin"]));
    }
  }
  return path;
}

}  // namespace slipstick::testing
