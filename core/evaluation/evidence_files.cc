#include "core/evaluation/evidence_files.h"

#include <cmath>
#include <optional>
#include <utility>

#include "core/base/schema.h"
#include "core/evidence/run_setting.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/serving/serving.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

// A figure that publishers measure, and the core's figure to compare it with. The error of a rate is the error of its
// time.
template <class Report>
struct ComparedFigure {
  std::string_view path;
  MeasuredKind kind;
  bool is_rate;
  double (*predicted)(const Report& report);
};
constexpr ComparedFigure<TrainingReport> kTrainingFigures[] = {
    {"training.step_time_s", MeasuredKind::kStepTime, false,
     [](const TrainingReport& r) { return r.step_time.base(); }},
    {"training.time_to_train_s", MeasuredKind::kStepTime, false,
     [](const TrainingReport& r) { return r.time_to_train.base(); }},
    {"training.tokens_per_s", MeasuredKind::kStepTime, true,
     [](const TrainingReport& r) { return r.tokens_per_s.base(); }},
    {"training.tokens_per_s_per_device", MeasuredKind::kStepTime, true,
     [](const TrainingReport& r) { return r.tokens_per_s_per_device.base(); }},
    {"training.model_flops_utilization", MeasuredKind::kStepTime, true,
     [](const TrainingReport& r) { return r.model_flops_utilization.base(); }},
    {"training.hardware_flops_utilization", MeasuredKind::kStepTime, true,
     [](const TrainingReport& r) { return r.hardware_flops_utilization.base(); }},
    {"training.memory_bytes.total", MeasuredKind::kTrainingMemory, false,
     [](const TrainingReport& r) { return r.memory.Total().base(); }}};

constexpr ComparedFigure<ServingReport> kServingFigures[] = {
    {"serving.tpot_s", MeasuredKind::kTokenTime, false, [](const ServingReport& r) { return r.tpot.base(); }},
    {"serving.decode_step_s", MeasuredKind::kTokenTime, false,
     [](const ServingReport& r) { return r.decode_step.base(); }},
    {"serving.tokens_per_s", MeasuredKind::kThroughput, true,
     [](const ServingReport& r) { return r.tokens_per_s.base(); }},
    {"serving.static_latency_s", MeasuredKind::kStaticLatency, false,
     [](const ServingReport& r) { return r.static_latency.base(); }},
    {"serving.ttft_s", MeasuredKind::kFirstToken, false, [](const ServingReport& r) { return r.ttft.base(); }},
    {"serving.static_ttft_s", MeasuredKind::kFirstToken, false,
     [](const ServingReport& r) { return r.static_ttft.base(); }},
    {"serving.prefill_s", MeasuredKind::kFirstToken, false, [](const ServingReport& r) { return r.prefill.base(); }},
    {"serving.memory_bytes.total", MeasuredKind::kServingMemory, false,
     [](const ServingReport& r) { return r.memory.Total().base(); }}};

template <class Figures>
auto FigureAt(const Figures& figures, std::string_view path) {
  const auto found =
      std::find_if(std::begin(figures), std::end(figures), [&](const auto& figure) { return figure.path == path; });
  return found == std::end(figures) ? nullptr : &*found;
}

template <class Figures, class Report>
std::optional<EvidenceFigure> FigureIn(const Figures& figures, const Report& report, std::string_view path) {
  const auto* of = FigureAt(figures, path);
  return of == nullptr ? std::nullopt : std::optional(EvidenceFigure{of->kind, of->predicted(report)});
}

// Required members: a run that nobody can look up is no evidence.
constexpr std::pair<std::string_view, std::string_view> kWhoMeasured[] = {
    {"publisher", "Enter who measured: runs of one publisher are left out together"},
    {"campaign", "Enter what was measured, and when"},
    {"source", "Enter the citation: a title and an address"}};

Json RequestOf(const Json& row, const Json* models, const std::string& tuning) {
  Json request{{"version", 1}};
  const std::string name = TextAt(row, "model");
  const Json* own = models == nullptr ? nullptr : FindMember(*models, name);
  if (row.contains("model"))
    request["model"] = own != nullptr ? *own : name.empty() ? row["model"] : Json{{"preset", name}};
  for (const char* part : {"cluster", "training", "serving", "diffusion"}) request[part] = row.value(part, Json());
  if (!tuning.empty() && request["serving"].is_object() && !request["serving"].contains("tuning"))
    request["serving"]["tuning"] = tuning;
  request["cost"] = nullptr;
  return request;
}

// Fills kind, setting and error; false where the core has no such figure.
bool Predict(const Scenario& scenario, std::string_view figure, double measured, MeasuredRun& run) {
  double predicted = 0;
  bool is_rate = false;
  if (const auto* of = FigureAt(kTrainingFigures, figure); of != nullptr && scenario.training) {
    const TrainingReport report =
        EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {false, false});
    run.kind = of->kind, predicted = of->predicted(report), is_rate = of->is_rate;
    run.setting = SettingOf(scenario.model, scenario.cluster, *scenario.training, report);
    run.predicted = run.kind == MeasuredKind::kStepTime ? report.step_time.base() : predicted;
  } else if (const auto* served = FigureAt(kServingFigures, figure); served != nullptr && scenario.serving) {
    const ServingReport report = EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, false);
    run.kind = served->kind, predicted = served->predicted(report), is_rate = served->is_rate;
    run.setting = SettingOf(run.kind, scenario.model, scenario.cluster, *scenario.serving, report);
    run.predicted = predicted;
  } else if (figure == kImageOrClipFigure && scenario.diffusion) {
    const DiffusionReport report = EvaluateDiffusion(*scenario.diffusion, scenario.cluster);
    run.kind = MeasuredKind::kImageOrClip, run.predicted = predicted = report.latency.base();
    run.setting = SettingOf(scenario.cluster, *scenario.diffusion, report);
  }
  if (!(predicted > 0 && measured > 0)) return false;
  run.log_error = (is_rate ? -1 : 1) * std::log(measured / predicted);
  return true;
}

std::string ExactText(double value) { return JsonText(Json(value)); }

// The members of an object as designated initializers.
std::string MembersText(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    text += "." + key + " = " + (value.is_object() ? "{" + MembersText(value) + "}" : ExactText(value.get<double>())) +
            ", ";
  }
  return text;
}

}  // namespace

EvidenceFiles ReadEvidence(const std::vector<EvidenceFile>& files, const RunDistance& distance) {
  EvidenceFiles read;
  read.distance = distance;
  const auto kept = [&read](std::string_view text) -> std::string_view { return *read.texts.emplace(text).first; };
  for (const EvidenceFile& file : files) {
    const Result<Json> json = ParseJson(file.text);
    const Json* rows = json ? FindMember(*json, "rows") : nullptr;
    if (rows == nullptr || !rows->is_array()) {
      read.issues.push_back({file.id, "Not a file of measurements"});
      continue;
    }
    for (const auto& [key, wanted] : kWhoMeasured) {
      if (TextAt(*json, key).empty()) read.issues.push_back({file.id + " " + std::string(key), std::string(wanted)});
    }
    read.sources.push_back({kept(file.id), kept(TextAt(*json, "publisher") + ", " + TextAt(*json, "campaign"))});
    const Json* whole_runs = FindMember(*json, "whole_runs");
    for (const Json& row : *rows) {
      if (!row.is_object()) {
        read.issues.push_back({file.id, "Not a measurement: " + internal::Shown(row)});
        continue;
      }
      MeasuredRun run;
      run.id = kept(TextAt(row, "id"));
      run.source = static_cast<int>(read.sources.size()) - 1;
      const Result<Json> request =
          ReadRequest(JsonText(RequestOf(row, FindMember(*json, "models"), TextAt(*json, "tuning"))), {});
      const Result<Scenario> scenario = request ? ParseScenario(*request) : Result<Scenario>(request.issues);
      const std::string figure = TextAt(row, "figure");
      const double measured = NumberAt(row, "value").value_or(0);
      if (!scenario || !Predict(*scenario, figure, measured, run)) {
        const std::string fault = !scenario      ? scenario.issues.front().path + ": " + scenario.issues.front().message
                                  : measured > 0 ? "figure: \"" + figure + "\" cannot be compared with this scenario"
                                                 : "value: Enter a number above 0, in base units (seconds, bytes)";
        read.issues.push_back({file.id + " " + std::string(run.id), fault});
        continue;
      }
      if (whole_runs != nullptr && *whole_runs == true) run.kind = MeasuredKind::kWholeRun;
      for (std::string_view* text : {&run.setting.device, &run.setting.architecture, &run.setting.software})
        *text = kept(*text);
      read.runs.push_back(run);
    }
  }
  OrderRuns(read.runs);
  return read;
}

RunDistance CatalogueDistance() {
  Issues issues;
  RunDistance distance;
  Read(WithoutRemarks(*FindPreset(Schema<RunDistance>::preset_kind, "measured-runs")), "distance", issues, distance);
  return distance;
}

std::optional<EvidenceFigure> FigureOf(const TrainingReport& report, std::string_view path) {
  return FigureIn(kTrainingFigures, report, path);
}

std::optional<EvidenceFigure> FigureOf(const ServingReport& report, std::string_view path) {
  return FigureIn(kServingFigures, report, path);
}

Json WrittenRun(const MeasuredRun& run, std::string_view source) {
  const double ratio = std::exp(run.kind == MeasuredKind::kThroughput ? -run.log_error : run.log_error);
  return Json{{"id", run.id},
              {"source", source},
              {"kind", NameOf(run.kind)},
              {"measured", run.predicted * ratio},
              {"computed", run.predicted},
              {"error", 1 / ratio - 1}};
}

std::string EvidenceSource(const EvidenceFiles& evidence) {
  const auto quoted = [](std::string_view text) { return JsonText(Json(text)); };
  std::string text =
      "// Generated from core/presets/evidence by core/command_line/evidence_main.cc.\n"
      "#include \"core/evidence/run_distance.h\"\n\nnamespace slipstick {\nnamespace {\n\nconstexpr char kRuns[] =\n";
  for (const MeasuredRun& run : evidence.runs) text += "    " + quoted(LineOf(run)) + "\n";
  text += ";\nconstexpr MeasuredSource kSources[] = {\n";
  for (const MeasuredSource& source : evidence.sources)
    text += "    {" + quoted(source.id) + ", " + quoted(source.name) + "},\n";
  text += "};\nconstexpr RunDistance kDistance{";
  text += MembersText(Write(evidence.distance));
  return text +
         "};\n\n}  // namespace\n\n"
         "std::string_view MeasuredLines() { return {kRuns, sizeof(kRuns) - 1}; }\n"
         "std::span<const MeasuredSource> MeasuredSources() { return kSources; }\n"
         "const RunDistance& MeasuredDistance() { return kDistance; }\n\n}  // namespace slipstick\n";
}

}  // namespace slipstick
