#include "core/exploration/search_criteria.h"

#include <algorithm>
#include <optional>

#include "core/base/listed.h"
#include "core/base/units.h"
#include "core/exploration/condition.h"
#include "core/search/mapping_space.h"
#include "core/search/serving_space.h"

namespace slipstick {
namespace {

bool StripPrefix(std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.erase(0, prefix.size());
  return true;
}

}  // namespace

std::string WithoutPart(std::string path, const std::string& part) {
  StripPrefix(path, part + ".");
  return path;
}

void ReadLimit(const std::string& text, const std::string& part, SpaceLimits& members,
               std::vector<FigureLimit>& figures, Issues& issues) {
  const std::vector<std::string_view> known = part == "training" ? TrainingSpace::Members() : ServingSpace::Members();
  const auto member_of = [&](std::string path) {
    StripPrefix(path, part + ".");
    for (const char* group : {"mapping.", "precision.", "disaggregated."}) {
      if (StripPrefix(path, group)) break;
    }
    return std::find(known.begin(), known.end(), path) != known.end() ? path : "";
  };
  const auto refuse = [&](const std::string& path) {
    issues.push_back({"limit", "Unknown limit " + path + ": choose a member of the mapping (" + Listed(known) +
                                   ") or a figure (" + SearchFigureNames(part) + ")"});
  };
  const std::size_t at = text.find('=');
  if (at != std::string::npos && at > 0 && text[at - 1] != '<' && text[at - 1] != '>') {
    const std::string member = member_of(text.substr(0, at));
    if (member.empty()) return refuse(text.substr(0, at));
    SpaceLimit& limit = members[member];
    for (const std::string& word : SplitAt(text.substr(at + 1), ',')) {
      const std::optional<Measure> number = ParseMeasure(word, member == "prefill_chunk" ? 1024 : 1000);
      limit.among.push_back(word);
      if (number) limit.numbers.push_back(number->value);
      if (word == "true" || word == "false") limit.numbers.push_back(word == "true" ? 1 : 0);
    }
    return;
  }
  Result<Condition> condition = ParseCondition(text);
  if (!condition) {
    issues.insert(issues.end(), condition.issues.begin(), condition.issues.end());
    return;
  }
  const std::string name = WithoutPart(condition->path, part);
  if (!condition->other.empty()) {
    issues.push_back({"limit", "Enter a number after " + condition->path + ", not " + condition->other});
  } else if (const std::string member = member_of(condition->path); !member.empty()) {
    if (condition->bound.dimension != Dimension{})
      issues.push_back({"limit", "Enter a number without a unit after " + condition->path});
    SpaceLimit& limit = members[member];
    if (condition->at_most) limit.high = std::min(limit.high, condition->bound.value);
    if (!condition->at_most) limit.low = std::max(limit.low, condition->bound.value);
  } else if (const SearchFigure* figure = FindSearchFigure(part, name)) {
    const Issues wrong = MatchUnit(*condition, JoinPath(part, name));
    issues.insert(issues.end(), wrong.begin(), wrong.end());
    figures.push_back({figure, condition->at_most, condition->bound.value});
  } else {
    refuse(condition->path);
  }
}

}  // namespace slipstick
