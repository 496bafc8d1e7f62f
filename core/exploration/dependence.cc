#include "core/exploration/dependence.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/base/schema.h"
#include "core/evaluation/evaluate.h"
#include "core/evaluation/own_measurements.h"
#include "core/exploration/numbers.h"
#include "core/scenario/parse_scenario.h"

namespace slipstick {
namespace {

constexpr double kMoved = 1e-6, kNudge = 0.05;
constexpr Count kSmallCount = 4096;

bool IsBelow(std::string_view path, std::string_view input) {
  return input.empty() || path == input || (path.starts_with(input) && path[input.size()] == '.');
}

std::vector<Json> NudgesOf(const Json& number) {
  if (!number.is_number_integer()) return {number.get<double>() * (1 + kNudge), number.get<double>() * (1 - kNudge)};
  const Count count = number.get<Count>();
  if (count > kSmallCount) {
    const Count step = static_cast<Count>(kNudge * static_cast<double>(count));
    return {count + step, count - step};
  }
  std::vector<Json> nudges{count + 1, count * 2};
  if (count > 0) nudges.emplace_back(count - 1);
  return nudges;
}

// All numbers of the parts whose figures are compared, except rows of tables.
std::unordered_map<std::string, double> FiguresOf(const Scenario& scenario) {
  const auto parts = {"training", "serving", "cost"};
  const Json report = *Evaluate(scenario, ReportDetail::Figures({parts.begin(), parts.end()}));
  std::unordered_map<std::string, double> figures;
  for (const char* part : parts) {
    if (const Json* at = FindMember(report, part); at != nullptr) {
      VisitNumbers(*at, part,
                   [&](const std::string& path, const Json& number) { figures[path] = number.get<double>(); });
    }
  }
  return figures;
}

std::vector<std::string> MovedBy(const Json& request, const std::unordered_map<std::string, double>& before) {
  const Result<Scenario> scenario = ParseScenario(request);
  std::vector<std::string> moved;
  if (!scenario) return moved;
  for (const auto& [path, value] : FiguresOf(*scenario)) {
    const auto old = before.find(path);
    if (old != before.end() && std::abs(value - old->second) > kMoved * std::abs(old->second)) moved.push_back(path);
  }
  return moved;
}

}  // namespace

Answer DependenceAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view input,
                        std::size_t from, std::size_t to) {
  Result<Json> base = ReadMeasuredRequest(request, assignments);
  if (!base) return WrongRequest(std::move(base.issues));
  const Result<Scenario> scenario = ParseScenario(*base);
  if (!scenario) return WrongRequest(scenario.issues);
  const auto before = FiguresOf(*scenario);
  const Json resolved = Write(*scenario);
  std::vector<std::pair<std::string, Json>> numbers;
  VisitNumbers(resolved, "", [&](const std::string& path, const Json& number) {
    if (path != "version" && IsBelow(path, input)) numbers.emplace_back(path, number);
  });
  Json inputs = Json::array();
  for (std::size_t i = from; i < std::min(to, numbers.size()); ++i) {
    const auto& [path, number] = numbers[i];
    std::vector<std::string> figures;
    for (const Json& nudged : NudgesOf(number)) {
      Json changed = resolved;
      SetPath(changed, path, nudged);
      for (std::string& figure : MovedBy(changed, before)) figures.push_back(std::move(figure));
    }
    std::sort(figures.begin(), figures.end());
    figures.erase(std::unique(figures.begin(), figures.end()), figures.end());
    inputs.push_back(ObjectOf({{"path", path}, {"figures", figures}}));
  }
  return {JsonText(ObjectOf({{"of", numbers.size()}, {"inputs", std::move(inputs)}})), {}};
}

}  // namespace slipstick
