#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/evaluation/report.h"
#include "core/text/answer_text.h"
#include "core/text/figure_text.h"
#include "core/text/table.h"

namespace slipstick {
namespace {

// The unit of a figure, which may be from the answer of another command than evaluate.
std::string_view UnitOfStudied(std::string_view path) {
  const std::string_view unit = UnitOf(path);
  if (!unit.empty()) return unit;
  return path.ends_with("_s") ? "s" : path.ends_with("_usd") ? "$" : "";
}

std::string StudiedText(const Json* figures, std::string_view path) {
  const Json* value = figures == nullptr || !figures->is_object() ? nullptr : FindMember(*figures, path);
  return value != nullptr && value->is_number() ? FigureText(value->get<double>(), UnitOfStudied(path)) : "";
}

bool IsInfeasible(const Json& figures) {
  for (const auto& [path, value] : figures.items()) {
    if (path.ends_with(".feasible") && value == false) return true;
  }
  return false;
}

// One row per point: the chart's figure, its measured value or the value that it is plotted against, and its issues.
std::string PointsText(const Json& study, bool is_colored) {
  const Json& chart = study["chart"];
  const std::string& figure = TextOf(chart["figure"]);
  const std::string against = chart.contains("against") ? TextOf(chart["against"]) : "";
  Table table({Table::kLeft, Table::kRight, Table::kLeft}, 2);
  for (const Json& point : study["points"]) {
    const Json* measured = FindMember(point, "measured");
    const std::string found = StudiedText(measured, figure), other = StudiedText(&point["figures"], against);
    std::string note = !found.empty() ? "measured: " + found : other.empty() ? "" : "at " + other;
    if (IsInfeasible(point["figures"])) note += note.empty() ? "infeasible" : ", infeasible";
    if (!point["issues"].empty()) note = TextOf(point["issues"][0]["message"]);
    table.Add(
        {{TextOf(point["label"])}, {StudiedText(&point["figures"], figure), Tone::kStrong}, {note, Tone::kFaint}});
  }
  return Toned(TextOf(chart["title"]), Tone::kStrong, is_colored) + "\n" + table.Text(is_colored);
}

std::string ChecksText(const Json& checks, bool is_colored) {
  std::size_t held = 0;
  std::string failed;
  for (const Json& check : checks) {
    if (check["holds"] == true) {
      ++held;
      continue;
    }
    failed += Toned("  Does not hold: " + TextOf(check["text"]), Tone::kBad, is_colored);
    if (const Json* why = FindMember(check, "missed")) failed += " (" + TextOf(*why) + ")";
    if (const Json* source = FindMember(check, "source")) failed += "\n    Where it comes from: " + TextOf(*source);
    failed += "\n";
  }
  return CountText(static_cast<double>(held)) + " of " + CountText(static_cast<double>(checks.size())) +
         " checks hold.\n" + failed;
}

}  // namespace

std::string StudyText(std::string_view json, bool is_colored) {
  const Json study = *ParseJson(json);
  std::string text = Toned(TextOf(study["title"]), Tone::kStrong, is_colored) + "\n" + TextOf(study["question"]) +
                     "\n\n" + PointsText(study, is_colored) + "\n" + ChecksText(study["expectations"], is_colored);
  for (const auto& [member, title] :
       {std::pair("paper", "Paper"), std::pair("paper_says", "The paper says"), std::pair("our_reading", "Our reading"),
        std::pair("differs", "How it is done here")}) {
    if (const Json* words = FindMember(study, member)) text += "\n" + std::string(title) + ": " + TextOf(*words) + "\n";
  }
  return text + "\n" + Toned("All figures: --json", Tone::kFaint, is_colored) + "\n";
}

}  // namespace slipstick
