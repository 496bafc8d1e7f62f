#include "core/text/answer_text.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/type_path.h"
#include "core/base/units.h"
#include "core/evaluation/report.h"
#include "core/scenario/scenario.h"
#include "core/text/figure_text.h"
#include "core/text/names.h"
#include "core/text/table.h"

namespace slipstick {
namespace {

std::string ValueText(const Json& value) {
  if (value.is_string()) return TextOf(value);
  if (value.is_number()) return CountText(value.get<double>());
  return value.is_null() ? "–" : JsonText(value);
}

// An input in its unit; an object by its name, or by its own numbers and texts.
std::string EnteredText(const std::string& path, const Json& value) {
  if (value.is_number()) return InputText(path, value.get<double>());
  if (value.is_string() && IsQuantityAt<Scenario>(path)) {
    if (const auto measure = ParseMeasure(TextOf(value))) return InputText(path, measure->value);
  }
  if (!value.is_object()) return ValueText(value);
  if (const Json* name = FindMember(value, "name")) return ValueText(*name);
  std::string text;
  for (const auto& [key, member] : value.items()) {
    if (member.is_structured() || member.is_null()) continue;
    text += (text.empty() ? "" : ", ") + key + " " + EnteredText(path + "." + key, member);
  }
  return text;
}

// "training.mapping.tp" -> "tp", "serving.precision.weights" -> "precision.weights".
std::string BriefPath(std::string_view path) {
  path.remove_prefix(std::min(path.find('.') + 1, path.size()));
  constexpr std::string_view kMapping = "mapping.";
  if (path.starts_with(kMapping)) path.remove_prefix(kMapping.size());
  return std::string(path);
}

// Paths of the inputs that any of the configurations sets, in order of first appearance.
std::vector<std::string> InputsOf(const Json& configurations) {
  std::vector<std::string> paths;
  for (const Json& one : configurations) {
    for (const auto& [path, value] : one["overrides"].items()) {
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
    }
  }
  return paths;
}

bool IsTheSame(const Json& configurations, const std::string& path) {
  const Json* first = FindMember(configurations[0]["overrides"], path);
  return std::all_of(configurations.begin(), configurations.end(), [&](const Json& one) {
    const Json* value = FindMember(one["overrides"], path);
    return value != nullptr && first != nullptr && *value == *first;
  });
}

// The part of a report whose mappings a search varies, whatever else it varies.
std::string SearchedPart(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::string part(PartOf(path));
    if (part == "training" || part == "serving" || part == "diffusion") return part;
  }
  return "";
}

// One row per configuration: its figures, and the inputs that differ between rows; the others are listed below.
std::string ConfigurationsText(const Json& configurations, bool is_colored) {
  std::vector<std::string> differing, paths = InputsOf(configurations);
  std::string same;
  for (const std::string& path : paths) {
    if (configurations.size() > 1 && !IsTheSame(configurations, path)) {
      differing.push_back(path);
    } else {
      same += (same.empty() ? "" : ", ") + BriefPath(path) + "=" + ValueText(configurations[0]["overrides"][path]);
    }
  }
  const std::string part = SearchedPart(paths);
  std::vector<std::string> figures;
  for (const auto& [key, value] : configurations[0].items()) {
    if (key != "index" && key != "overrides") figures.push_back(key);
  }
  Table table(std::vector<Table::Align>(figures.size() + differing.size(), Table::kRight), 2);
  std::vector<Cell> head;
  for (const std::string& figure : figures)
    head.push_back({std::string(BriefTitle(part + "." + figure)), Tone::kStrong});
  for (const std::string& path : differing) head.push_back({BriefPath(path), Tone::kStrong});
  table.Add(head);
  for (const Json& one : configurations) {
    std::vector<Cell> row;
    for (const std::string& figure : figures) {
      row.push_back(
          {one[figure].is_number() ? FigureText(one[figure].get<double>(), UnitOf(part + "." + figure)) : "–"});
    }
    for (const std::string& path : differing) {
      const Json* value = FindMember(one["overrides"], path);
      row.push_back({value == nullptr ? "–" : ValueText(*value)});
    }
    table.Add(row);
  }
  const std::string_view which = configurations.size() > 1 ? "In all of them: " : "With ";
  return table.Text(is_colored) +
         (same.empty() ? "" : "  " + Toned(std::string(which) + same, Tone::kFaint, is_colored) + "\n");
}

std::string RejectedText(const Json& rejected) {
  std::string text;
  for (const auto& [reason, count] : rejected.items())
    text += (text.empty() ? "" : ", ") + CountText(count.get<double>()) + " by " + reason;
  return text;
}

// Whether a search can optimize the figure, or it is a cost.
bool IsHeadline(std::string_view path) {
  const Json* output = OutputAt(path);
  if (output == nullptr) return false;
  return FindMember(*output, "sought") != nullptr ||
         (path.starts_with("cost.") && FindMember(*output, "better") != nullptr);
}

}  // namespace

std::string SearchText(std::string_view json, bool is_colored) {
  const Json answer = *ParseJson(json);
  const auto count = [&answer](const char* key) { return CountText(answer[key].get<double>()); };
  std::string text = count("space") + " configurations, " + count("feasible") + " of them feasible";
  const std::string rejected = RejectedText(answer["rejected"]);
  text += (rejected.empty() ? "" : "; rejected: " + rejected) + "\n";
  if (answer["best"].empty()) return text;
  text += "\n" + Toned("Best", Tone::kStrong, is_colored) + "\n" + ConfigurationsText(answer["best"], is_colored);
  const Json* front = FindMember(answer, "pareto");
  if (front != nullptr && !front->empty()) {
    text += "\n" + Toned("Pareto frontier", Tone::kStrong, is_colored) + "\n" + ConfigurationsText(*front, is_colored);
  }
  return text;
}

std::string AdviceText(std::string_view json, bool is_colored) {
  const Json answer = *ParseJson(json);
  const std::string& figure = TextOf(answer["figure"]);
  std::string text = std::string(BriefTitle(figure)) +
                     " now: " + FigureText(answer["value"].get<double>(), UnitOf(figure)) +
                     (answer["feasible"] == false ? ", were it feasible" : "") + "\n";
  for (const auto& [list, title] :
       {std::pair("changes", "What one change brings"), std::pair("pairs", "Two together")}) {
    if (answer[list].empty()) continue;
    Table table({Table::kRight, Table::kRight, Table::kLeft, Table::kLeft});
    for (const Json& change : answer[list]) {
      table.Add({{"× " + CountText(change["gain"].get<double>()), Tone::kStrong},
                 {FigureText(change["figures"][figure].get<double>(), UnitOf(figure))},
                 {TextOf(change["title"])},
                 {TextOf(change["effort"]), Tone::kFaint}});
    }
    text += "\n" + Toned(title, Tone::kStrong, is_colored) + "\n" + table.Text(is_colored);
  }
  return text;
}

std::string CompareText(std::string_view json, bool is_colored) {
  const Json answer = *ParseJson(json);
  const Json& columns = answer["columns"];
  std::vector<Table::Align> aligned(columns.size() + 1, Table::kRight);
  aligned[0] = Table::kLeft;
  Table table(aligned);
  const auto add = [&table](std::string_view title, const Json& values, Tone tone, const auto& text_of) {
    std::vector<Cell> row{{std::string(title), tone}};
    for (const Json& value : values) row.push_back({text_of(value), tone});
    table.Add(row);
  };
  add("", columns, Tone::kStrong, ValueText);
  for (const Json& input : answer["inputs"]) {
    const std::string& path = TextOf(input["path"]);
    add(path, input["values"], Tone::kFaint, [&path](const Json& value) { return EnteredText(path, value); });
  }
  std::string_view part;
  for (const Json& figure : answer["figures"]) {
    const std::string& path = TextOf(figure["path"]);
    if (!IsHeadline(path)) continue;
    if (!path.starts_with(part) || part.empty()) {
      part = PartOf(path);
      table.Add({});
      table.Add({{std::string(part), Tone::kStrong}});
    }
    add(OutputTitle(path), figure["values"], Tone::kPlain, [&path](const Json& value) {
      return value.is_number() ? FigureText(value.get<double>(), UnitOf(path)) : ValueText(value);
    });
  }
  std::string remarks;
  for (const char* kind : {"infeasible", "warnings"}) {
    for (const Json& one : answer[kind])
      remarks += "\n" + Toned(TextOf(one["column"]) + ": " + TextOf(one["message"]), Tone::kBad, is_colored);
  }
  return table.Text(is_colored) + remarks + (remarks.empty() ? "" : "\n");
}

std::string SolveText(std::string_view json, bool is_colored) {
  const Json answer = *ParseJson(json);
  const std::string& path = TextOf(answer["path"]);
  if (answer["value"].is_null())
    return "No value of " + path + " meets the conditions: " + TextOf(answer["reason"]) + "\n";
  const std::string value = InputText(path, answer["value"].get<double>());
  const std::string& which = TextOf(answer["which"]);
  const Json* again = FindMember(answer, "again");
  const char* limit = which == "largest" || again != nullptr ? " at most "
                      : which == "smallest"                  ? " at least "
                                                             : " anywhere in the range; at ";
  const Json* binding = FindMember(answer, "binding");
  Table table({Table::kLeft, Table::kRight, Table::kLeft}, 2);
  const auto add = [&](const Json& figure) {
    const std::string& of = TextOf(figure["path"]);
    const bool binds = binding != nullptr && *binding == figure["path"];
    table.Add({{std::string(OutputTitle(of))},
               {FigureText(figure["value"].get<double>(), UnitOf(of))},
               {binds ? "fails first" : ""}});
  };
  if (const Json* figures = FindMember(answer, "figures")) {
    for (const Json& figure : *figures) add(figure);
  } else {
    add(answer["figure"]);
  }
  if (const Json* other = FindMember(answer, "other")) add(*other);
  std::string beside;  // further values that a request with the value must write
  for (const char* written : {"mapping", "held"}) {
    const Json* inputs = FindMember(answer, written);
    if (inputs == nullptr) continue;
    for (const auto& [input, chosen] : inputs->items())
      beside += (beside.empty() ? "  With " : ", ") + input + "=" + ValueText(chosen);
  }
  std::string further = again == nullptr ? "" : ", or at least " + InputText(path, again->get<double>());
  if (const Json* largest = FindMember(answer, "largest"))
    further += ", at most " + InputText(path, largest->get<double>());
  if (const Json* fails = FindMember(answer, "fails_at"))
    further += "; not at all values in between, such as " + InputText(path, fails->get<double>());
  std::string warnings;
  if (const Json* texts = FindMember(answer, "warnings")) {
    for (const Json& warning : *texts) warnings += Toned("Warning: " + TextOf(warning), Tone::kBad, is_colored) + "\n";
  }
  return path + limit + Toned(value, Tone::kStrong, is_colored) + further + "\n" + table.Text(is_colored) + beside +
         (beside.empty() ? "" : "\n") + warnings;
}

std::string DesignText(std::string_view json, bool is_colored) {
  const Json answer = *ParseJson(json);
  const std::string& figure = TextOf(answer["figure"]);
  const auto figure_text = [&figure](const Json& value) {
    return value.is_number() ? FigureText(value.get<double>(), UnitOf(figure)) : std::string("–");
  };
  std::string text = std::string(OutputTitle(figure)) + ": " + figure_text(answer["objective"]) + ", from " +
                     figure_text(answer["start"]) + "\n";
  if (!answer["feasible"].get<bool>())
    text += Toned("No design found meets the limits.", Tone::kBad, is_colored) + "\n";
  const Json& starts = answer["starts"];
  text += answer["converged"].get<bool>() ? "Converged: no move helps. " : "Stopped before it converged. ";
  if (starts["refined"].get<int>() > 0) {
    text += CountText(starts["agree"].get<double>()) + " of " + CountText(starts["refined"].get<double>()) +
            " descents from different splits end within 1 %. ";
  }
  text += CountText(answer["evaluations"].get<double>()) + " designs evaluated.\n";
  if (answer["mapping_kept"].get<bool>())
    text += "The mapping stays as below: chosen for the new design, it would change and lose the gain.\n";
  if (const Json& bound = answer["bound"]; bound.is_object()) {
    text += std::string(answer["better"] == "larger" ? "Upper" : "Lower") +
            " bound with this mapping (every share at its maximum at once): " + figure_text(bound["objective"]) + ".\n";
  }
  Table inputs({Table::kLeft, Table::kRight}, 2);
  for (const auto& [path, value] : answer["overrides"].items()) inputs.Add({{path}, {EnteredText(path, value)}});
  text += "\n" + inputs.Text(is_colored);
  Table limits({Table::kLeft, Table::kRight, Table::kRight, Table::kRight}, 2);
  limits.Add({{"More of", Tone::kStrong},
              {"Now", Tone::kStrong},
              {"Change", Tone::kStrong},
              {"Changes it by", Tone::kStrong}});
  for (const Json& one : answer["limits"]) {
    const std::string unit = " " + TextOf(one["unit"]);
    const double change = one["change"].get<double>() / answer["objective"].get<double>() * 100;
    limits.Add({{TextOf(one["budget"])},
                {CountText(one["at"].get<double>()) + unit},
                {CountText(one["more"].get<double>()) + unit},
                {(change > 0 ? "+" : "") + CountText(change) + " %"}});
  }
  text += "\n" + limits.Text(is_colored);
  if (const Json* frontier = FindMember(answer, "frontier")) {
    const std::string& against = TextOf(answer["against"]);
    Table points({Table::kRight, Table::kRight}, 2);
    points.Add({{std::string(BriefTitle(figure)), Tone::kStrong}, {std::string(BriefTitle(against)), Tone::kStrong}});
    for (const Json& one : *frontier)
      points.Add({{figure_text(one["objective"])}, {FigureText(one["against"].get<double>(), UnitOf(against))}});
    text += "\n" + points.Text(is_colored);
  }
  return text;
}

std::string SensitivityText(std::string_view json, bool is_colored) {
  const Json answer = *ParseJson(json);
  const std::string& figure = TextOf(answer["figure"]);
  const auto figure_text = [&figure](const Json& value) { return FigureText(value.get<double>(), UnitOf(figure)); };
  const double share = answer["share"].get<double>();
  const bool has_steps = share > 0;
  std::vector<Cell> heads{{"Input", Tone::kStrong}, {"Now", Tone::kStrong}};
  if (has_steps) {
    heads.push_back({"− " + CountText(share * 100) + " %", Tone::kStrong});
    heads.push_back({"+ " + CountText(share * 100) + " %", Tone::kStrong});
  }
  heads.push_back({"Elasticity", Tone::kStrong});
  Table table({Table::kLeft, Table::kRight, Table::kRight, Table::kRight, Table::kRight});
  table.Add(heads);
  for (const Json& input : answer["inputs"]) {
    const std::string& path = TextOf(input["path"]);
    std::vector<Cell> row{{path}, {InputText(path, input["value"].get<double>()), Tone::kFaint}};
    // An end that the input cannot have repeats its value.
    const auto end_text = [&](const char* end, const char* reached) {
      return input[end] == input["value"] ? std::string("–") : figure_text(input[reached]);
    };
    if (has_steps) row.push_back({end_text("low", "low_figure")}), row.push_back({end_text("high", "high_figure")});
    const Json& exact = input["exact_elasticity"];
    row.push_back({exact.is_number() ? NumberText(std::round(exact.get<double>() * 1000) / 1000) : "unknown"});
    table.Add(row);
  }
  return std::string(OutputTitle(figure)) + " now: " + figure_text(answer["value"]) + "\n\n" + table.Text(is_colored);
}

std::string DescribeText(std::string_view json, bool is_colored) {
  const Json answer = *ParseJson(json);
  Table inputs({Table::kLeft, Table::kRight, Table::kLeft}), outputs({Table::kLeft, Table::kLeft});
  for (const Json& input : answer["inputs"]) {
    const std::string& path = TextOf(input["path"]);
    const Json *standard = FindMember(input, "default"), *choices = FindMember(input, "choices");
    std::string help = TextOf(input["help"]), names;
    if (choices != nullptr) {
      for (const Json& choice : *choices) names += (names.empty() ? ": " : ", ") + TextOf(choice);
    }
    inputs.Add({{path}, {standard == nullptr ? "" : EnteredText(path, *standard), Tone::kFaint}, {help + names}});
  }
  for (const Json& output : answer["outputs"]) outputs.Add({{TextOf(output["path"])}, {TextOf(output["title"])}});
  std::string text;
  if (!inputs.empty())
    text += Toned("Inputs, their defaults and meanings", Tone::kStrong, is_colored) + "\n" + inputs.Text(is_colored);
  if (!outputs.empty())
    text += Toned("Figures of the report", Tone::kStrong, is_colored) + "\n" + outputs.Text(is_colored);
  return text.empty() ? "No input and no figure has all of these words.\n" : text;
}

std::string PresetsText(std::string_view json, bool is_colored) {
  Table table({Table::kLeft, Table::kLeft, Table::kLeft});
  const Json presets = *ParseJson(json);
  for (const Json& preset : presets) {
    const Json* name = FindMember(preset, preset.contains("name") ? "name" : "title");
    table.Add({{TextOf(preset["id"]), Tone::kStrong},
               {name == nullptr ? "" : TextOf(*name)},
               {TextOf(preset["kind"]), Tone::kFaint}});
  }
  return table.Text(is_colored);
}

}  // namespace slipstick
