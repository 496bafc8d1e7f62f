#include "core/exploration/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "core/base/schema.h"
#include "core/evaluation/evaluate.h"
#include "core/evaluation/own_measurements.h"
#include "core/exploration/numbers.h"
#include "core/scenario/parse_scenario.h"

namespace slipstick {
namespace {

struct Swing {
  std::string path;
  double value = 0, low = 0, high = 0;     // of the input
  double low_figure = 0, high_figure = 0;  // an invalid end repeats the middle value
};

// Whether a figure comes from the request-by-request simulation.
bool IsSimulated(std::string_view figure) {
  return figure.starts_with("serving.simulated") || figure.find("_percentiles_s") != std::string_view::npos;
}

// Removes other parts. Parts are independent, except that prices need the cost part, and post-training needs all. The
// request simulation, which takes longest, moves only its own figures.
void DropIdleParts(std::string_view figure, Scenario& scenario) {
  const std::string_view part = PartOf(figure);
  if (part != "training" && part != "serving" && part != "cost") return;
  scenario.post_training.reset();
  if (part != "training") scenario.training.reset();
  if (part != "serving") scenario.serving.reset();
  if (scenario.serving && !IsSimulated(figure)) scenario.serving->simulate.reset();
  if (part != "cost" && figure.find("usd") == std::string_view::npos) scenario.cost.reset();
}

std::optional<double> FigureWith(const Json& resolved, const std::string& path, const Json& value,
                                 std::string_view figure) {
  Json request = resolved;
  SetPath(request, path, value);
  const Result<Scenario> scenario = ParseScenario(request);
  if (!scenario) return std::nullopt;
  return NumberAt(*Evaluate(*scenario, ReportDetail::Figures()), figure);
}

Json KnownOrNull(double elasticity) { return std::isnan(elasticity) ? Json(nullptr) : Json(elasticity); }

// The inputs that the figure's explanation leads to, ranked, with unknown elasticities last.
Json Exact(const Json& resolved, const Elasticities& exact) {
  std::vector<std::pair<std::string, double>> ranked(exact.begin(), exact.end());
  const auto strength = [](const auto& one) { return std::isnan(one.second) ? -1 : std::abs(one.second); };
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](const auto& a, const auto& b) { return strength(a) > strength(b); });
  Json list = Json::array();
  for (const auto& [path, elasticity] : ranked) {
    if (const std::optional<double> value = NumberAt(resolved, path))
      list.push_back(Json{{"path", path}, {"value", *value}, {"exact_elasticity", KnownOrNull(elasticity)}});
  }
  return list;
}

// The inputs that move the figure when each changes by ±`share`.
Json Stepped(const Json& resolved, std::string_view figure, double middle, double share, const Elasticities& exact) {
  std::vector<Swing> swings;
  VisitNumbers(resolved, "", [&](const std::string& path, const Json& number) {
    const double value = number.get<double>();
    if (!(value > 0) || path == "version") return;
    Swing swing{path, value, value * (1 - share), value * (1 + share), middle, middle};
    const bool is_whole = number.is_number_integer();
    if (is_whole) swing.low = std::floor(swing.low), swing.high = std::ceil(swing.high);
    const auto json = [&](double v) { return is_whole ? Json(static_cast<Count>(v)) : Json(v); };
    const std::optional<double> low = FigureWith(resolved, path, json(swing.low), figure);
    const std::optional<double> high = FigureWith(resolved, path, json(swing.high), figure);
    if (!low && !high) return;  // neither end is a valid scenario
    if (low) swing.low_figure = *low;
    if (high) swing.high_figure = *high;
    if (!low) swing.low = value;
    if (!high) swing.high = value;
    if (swing.low_figure != middle || swing.high_figure != middle) swings.push_back(swing);
  });
  std::stable_sort(swings.begin(), swings.end(), [](const Swing& a, const Swing& b) {
    return std::abs(a.high_figure - a.low_figure) > std::abs(b.high_figure - b.low_figure);
  });
  Json list = Json::array();
  for (const Swing& swing : swings) {
    const auto known = exact.find(swing.path);  // not found: no explanation leads to the input
    const bool elastic = swing.low > 0 && swing.low_figure > 0 && swing.high_figure > 0;
    list.push_back(Json{
        {"path", swing.path},
        {"value", swing.value},
        {"low", swing.low},
        {"high", swing.high},
        {"low_figure", swing.low_figure},
        {"high_figure", swing.high_figure},
        {"elasticity", elastic ? Json(std::log(swing.high_figure / swing.low_figure) / std::log(swing.high / swing.low))
                               : Json(nullptr)},
        {"exact_elasticity", known != exact.end() ? KnownOrNull(known->second) : Json(nullptr)}});
  }
  return list;
}

}  // namespace

Answer SensitivityAnswer(std::string_view request, const std::vector<std::string>& assignments, std::string_view figure,
                         double share) {
  if (!(share >= 0 && share < 1)) return WrongRequest({{"share", "Enter a share of at least 0 and below 1"}});
  if (figure.empty()) return WrongRequest({{"figure", "Name a figure of the report, such as serving.tpot_s"}});
  if (!IsReportPath(figure)) return WrongRequest({UnknownOutput("figure", figure)});
  Result<Json> base = ReadMeasuredRequest(request, assignments);
  if (!base) return WrongRequest(std::move(base.issues));
  Result<Scenario> scenario = ParseScenario(*base);
  if (!scenario) return WrongRequest(scenario.issues);
  DropIdleParts(figure, *scenario);
  const Result<Json> report = Evaluate(*scenario, ReportDetail::Figures());
  const std::optional<double> middle = NumberAt(*report, figure);
  if (!middle) return WrongRequest({{std::string(figure), "The report has no such number"}});

  const Json resolved = Write(*scenario);
  const Elasticities exact = ElasticitiesOf(*scenario, figure);
  Json list = share > 0 ? Stepped(resolved, figure, *middle, share, exact) : Exact(resolved, exact);
  return {JsonText(Json{{"figure", figure}, {"value", *middle}, {"share", share}, {"inputs", std::move(list)}}), {}};
}

}  // namespace slipstick
