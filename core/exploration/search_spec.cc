#include "core/exploration/search_spec.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/listed.h"
#include "core/base/schema.h"
#include "core/base/type_path.h"
#include "core/base/units.h"
#include "core/evaluation/own_measurements.h"
#include "core/scenario/scenario.h"

namespace slipstick {
namespace {

constexpr std::size_t kMaxAxisValues = 10'000, kMaxCombinations = 100'000;

// lo:hi:n[:log] with units on the ends, which must have one dimension.
Result<Axis> ParseRange(const std::string& path, const std::vector<std::string>& parts) {
  const bool log = parts.size() == 4 && parts[3] == "log";
  const FieldRow* field = FieldAt<Scenario>(path);
  const double thousand = field != nullptr && field->facts.is_length ? 1024 : 1000;
  const std::optional<Measure> low = ParseMeasure(parts[0], thousand), high = ParseMeasure(parts[1], thousand),
                               steps = ParseMeasure(parts[2]);
  if (!low || !high || !steps || (parts.size() == 4 && !log) || low->dimension != high->dimension) {
    return Issues{{path, "Enter lo:hi:n or lo:hi:n:log with numbers of one unit, not " + parts[0] + ":" + parts[1] +
                             ":" + parts[2]}};
  }
  const double n = steps->value;
  if (n < 1 || n > static_cast<double>(kMaxAxisValues) || n != std::floor(n)) {
    return Issues{{path, "Enter 1 to 10,000 values per range, not " + parts[2]}};
  }
  if (log && !(low->value > 0 && high->value > 0)) return Issues{{path, "A logarithmic range must be above 0"}};
  const bool whole = field != nullptr && IsWhole(*field);
  // without a unit, the version of the request determines it
  const bool stays_text = !low->has_unit && IsQuantityAt<Scenario>(path);
  Axis axis{path, {}};
  for (int i = 0; i < static_cast<int>(n); ++i) {
    const double share = n > 1 ? i / (n - 1) : 0;
    double value =
        log ? low->value * std::pow(high->value / low->value, share) : low->value + (high->value - low->value) * share;
    if (whole) value = std::round(value);
    Json json = whole ? Json(static_cast<Count>(value)) : Json(value);
    if (stays_text) json = JsonText(json);
    if (axis.values.empty() || axis.values.back() != json) axis.values.push_back(std::move(json));
  }
  return axis;
}

}  // namespace

std::string PlainText(const Json& value) { return value.is_string() ? TextOf(value) : JsonText(value); }

std::vector<std::string> TextsOf(const Json* list) {
  std::vector<std::string> texts;
  if (list == nullptr || !list->is_array()) return texts;
  for (const Json& one : *list) texts.push_back(PlainText(one));
  return texts;
}

Result<Axis> ParseAxis(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return Issues{{"", "Enter PATH=a,b,c or PATH=lo:hi:n[:log], not " + std::string(text)}};
  const std::string path(text.substr(0, equals));
  if (Issues issues = IssuesOfVarying(path); !issues.empty()) return issues;
  const std::string values(text.substr(equals + 1));
  const std::vector<std::string> parts = SplitAt(values, ':');
  if (parts.size() == 3 || parts.size() == 4) return ParseRange(path, parts);
  Axis axis{path, {}};
  for (const std::string& value : SplitAt(values, ',')) {
    Result<Assignment> one = ParseAssignment(path + "=" + value);
    if (!one) return std::move(one.issues);
    axis.values.push_back(std::move(one->value));
  }
  if (axis.values.size() > kMaxAxisValues) return Issues{{path, "Enter at most 10,000 values"}};
  return axis;
}

Result<std::vector<std::vector<Assignment>>> CombinationsOf(const std::vector<std::string>& axes) {
  std::vector<std::vector<Assignment>> all{{}};
  for (const std::string& text : axes) {
    const Result<Axis> axis = ParseAxis(text);
    if (!axis) return axis.issues;
    if (all.size() * axis->values.size() > kMaxCombinations)
      return Issues{{"axes", "Too many technologies: at most 100,000"}};
    std::vector<std::vector<Assignment>> longer;
    for (const std::vector<Assignment>& changes : all) {
      for (const Json& value : axis->values) {
        longer.push_back(changes);
        longer.back().push_back({axis->path, value});
      }
    }
    all = std::move(longer);
  }
  return all;
}

Result<SearchSpec> ReadSearchSpec(const Json& json) {
  SearchSpec spec;
  Issues issues;
  if (!json.is_object()) return Issues{{"", "Must be an object, not " + internal::Shown(json)}};
  for (const auto& member : json.items()) {
    const std::string& key = member.key();
    const Json& value = member.value();
    const auto texts = [&](std::vector<std::string>& out) {
      if (!value.is_array()) issues.push_back({key, "Must be a list of texts"});
      out = TextsOf(&value);
    };
    if (key == "request") continue;
    if (key == "for" && value.is_string()) {
      spec.part = TextOf(value);
    } else if (key == "objective" && value.is_string()) {
      spec.objective = TextOf(value);
    } else if (key == "pareto") {
      texts(spec.pareto);
    } else if (key == "limits") {
      texts(spec.limits);
    } else if (key == "axes") {
      texts(spec.axes);
    } else if (key == "top" && value.is_number_integer() && value.get<Count>() >= 0) {
      spec.top = std::min<std::size_t>(1000, value.get<std::size_t>());
    } else if (key == "shard" && value.is_number_integer() && value.get<Count>() >= 0) {
      spec.shard = value.get<Count>();
    } else if (key == "shards" && value.is_number_integer() && value.get<Count>() >= 0) {
      spec.shards = value.get<Count>();
    } else if (key == "prune" && value.is_boolean()) {
      spec.prune = value.get<bool>();
    } else {
      issues.push_back(
          {key,
           "Unknown member or wrong type: choose for, objective, pareto, limits, axes, top, shard, shards or prune"});
    }
  }
  if (!issues.empty()) return issues;
  return spec;
}

Result<std::optional<SearchSpec>> ReadInnerSearch(const Json& spec, const char* key) {
  if (!spec.is_object() || !spec.contains(key) || spec[key].is_null()) return std::optional<SearchSpec>();
  Result<SearchSpec> inner = ReadSearchSpec(spec[key]);
  if (!inner) return std::move(inner.issues);
  return std::optional<SearchSpec>(std::move(*inner));
}

}  // namespace slipstick
