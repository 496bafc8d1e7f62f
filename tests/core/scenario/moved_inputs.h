// Tries other values of inputs, to see which move a figure.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/evaluation/evaluate.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/support/answers.h"

namespace slipstick::testing {

// Values near to the current one and far from it.
inline std::vector<Json> MovesOf(const Json& input, const Json* value) {
  const std::string kind = input["kind"].get<std::string>();
  std::vector<Json> moves;
  const bool has_number = value != nullptr && value->is_number();
  const double now = has_number ? value->get<double>() : 0;
  if (kind == "quantity" || kind == "ratio") {
    const double unit = input.contains("unit_factor") ? input["unit_factor"].get<double>() : 1;
    if (now != 0) {
      for (const double factor : {1.3, 0.7, 1.02, 0.02, 50.0}) moves.emplace_back(now * factor);
    } else {
      for (const double amount : {0.5, 1.0, 0.05, 50.0}) moves.emplace_back(amount * unit);
    }
  } else if (kind == "count" || kind == "length") {
    for (const double other : {now + 1, 2 * now, std::floor(now / 2), now - 1, 1.0, 2.0, 64.0}) {
      if (other != now || !has_number) moves.emplace_back(other);
    }
  } else if (kind == "flag") {
    for (const bool other : {true, false}) moves.emplace_back(other);
  } else if (kind == "choice") {
    for (const Json& other : input["choices"]) moves.push_back(other);
  }
  return moves;
}

// The report without its scenario; null if the request is refused.
enum class Warnings { kCount, kDoNotCount };
inline Json FiguresOf(const Json& request, const ReportDetail& detail, Warnings warnings) {
  const Result<Scenario> scenario = ParseScenario(request);
  if (!scenario) return nullptr;
  Result<Json> report = Evaluate(*scenario, detail);
  if (!report) return nullptr;
  if (warnings == Warnings::kDoNotCount) report->erase("warnings");
  return std::move(*report);
}
inline ReportDetail AllFigures() { return {"", false, true, false}; }

inline std::vector<std::string> PlacesOf(const std::string& path) {
  const std::size_t star = path.find('*');
  if (star == std::string::npos) return {path};
  std::vector<std::string> places;
  for (const char* place : {"0", "1", "2"}) {
    for (const std::string& rest : PlacesOf(path.substr(star + 1)))
      places.push_back(path.substr(0, star) + place + rest);
  }
  return places;
}

// Tries every input not yet known to act in one scenario, and adds those that act.
inline void Try(const Assignments& assignments, const Json& inputs, const ReportDetail& detail, Warnings warnings,
                std::set<std::string>& acting) {
  Json written{{"version", 1}};
  std::vector<Assignment> parsed;
  for (const std::string& text : assignments) parsed.push_back(*ParseAssignment(text));
  Apply(written, parsed);
  const Result<Json> request = CompleteRequest(written);
  ASSERT_TRUE(request) << assignments.front();
  const Result<Scenario> scenario = ParseScenario(*request);
  for (const Issue& issue : scenario.issues)
    ADD_FAILURE() << assignments.front() << ": " << issue.path << " " << issue.message;
  if (!scenario) return;
  const Json resolved = Write(*scenario);
  const Json figures = FiguresOf(*request, detail, warnings);
  const auto acts = [&](const Json& input, const std::string& place) {
    const std::size_t dot = place.rfind('.');
    const Json* owner = Find(resolved, dot == std::string::npos ? "" : place.substr(0, dot));
    if (owner == nullptr || owner->is_null()) return false;
    for (const Json& move : MovesOf(input, Find(resolved, place))) {
      Json moved = *request;
      SetPath(moved, place, move);
      const Json other = FiguresOf(moved, detail, warnings);
      if (!other.is_null() && other != figures) return true;
    }
    return false;
  };
  for (const Json& input : inputs) {
    const std::string path = input["path"].get<std::string>();
    if (acting.contains(path)) continue;
    for (const std::string& place : PlacesOf(path)) {
      if (acts(input, place) && acting.insert(path).second) break;
    }
  }
}

// Whether the help of an input, or of an object above it, says that no figure uses it.
inline bool SaysSo(const Json& input, const Json& inputs) {
  const std::string path = input["path"].get<std::string>(), help = input["help"].get<std::string>();
  for (const char* words : {"Informational: no figure uses it", "No figure of a report uses it", "Limits nothing"}) {
    if (help.find(words) != std::string::npos) return true;
  }
  // Derived inputs accept only their derived value, so they move nothing.
  if (input.contains("derived") && help.find(" leave") != std::string::npos) return true;
  for (const Json& above : inputs) {
    const std::string owner = above["path"].get<std::string>() + ".";
    const std::string text = above["help"].get<std::string>();
    const std::size_t list = text.find("no figure uses its ");
    if (list == std::string::npos || !path.starts_with(owner)) continue;
    std::string rest = path.substr(owner.size()) + ".";
    for (std::size_t dot = rest.find('.'); dot != std::string::npos;
         rest = rest.substr(dot + 1), dot = rest.find('.')) {
      if (text.find(" " + rest.substr(0, dot), list) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace slipstick::testing
