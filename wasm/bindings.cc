// The boundary between the page and the core: JSON text in, JSON text out.
#include <emscripten.h>
#include <emscripten/bind.h>

#include <string>

#include "core/advice/advice_job.h"
#include "core/api/api.h"
#include "core/exploration/calibrate.h"
#include "core/exploration/dependence.h"
#include "core/exploration/design.h"
#include "core/exploration/search_figures.h"
#include "core/exploration/search_shard.h"
#include "core/exploration/sensitivity.h"
#include "core/exploration/solve.h"
#include "core/exploration/sweep.h"
#include "core/import/import_config.h"
#include "core/replay/replay_job.h"
#include "core/sizing/size.h"
#include "core/studies/cost_study.h"
#include "core/studies/coverage.h"
#include "core/studies/paper_study.h"

// Passes the progress of a long call to the module's owner, if it listens.
EM_JS(void, TellProgress, (double tried, double of, double low, double high), {
  if (Module["onprogress"]) Module["onprogress"](tried, of, low, high);
});

namespace {

// Leaves out the timeline: it is most of a report and has its own call.
std::string Evaluate(const std::string& request, const std::string& explain) {
  return slipstick::EvaluateAnswer(request, {}, explain, false).text;
}
std::string Timeline(const std::string& request) { return slipstick::TimelineAnswer(request).text; }
std::string Kernel(const std::string& request) { return slipstick::KernelAnswer(request).text; }
std::string Evidence(const std::string& request, const std::string& figure) {
  return slipstick::EvidenceAnswer(request, {}, figure).text;
}
std::string Measurements(const std::string& id, const std::string& file) {
  return slipstick::MeasurementsAnswer(id, file).text;
}
std::string Calibrate(const std::string& spec) { return slipstick::CalibrateAnswer(spec).text; }
std::string PublishedCoverage() { return slipstick::CoverageAnswer().text; }
std::string Describe() { return slipstick::DescribeAnswer().text; }
std::string ImportModel(const std::string& config) { return slipstick::ImportModelAnswer(config).text; }
std::string Presets(const std::string& kind) { return slipstick::PresetsAnswer(kind).text; }

std::string Sweep(const std::string& spec, int from, int to) { return slipstick::SweepRowsAnswer(spec, from, to).text; }
std::string Solve(const std::string& request, const std::string& range, const std::string& until) {
  return slipstick::SolveAnswer(request, {}, range, until).text;
}
std::string SolveFor(const std::string& spec) {
  const auto tell = [](const slipstick::SolveProgress& progress) {
    TellProgress(static_cast<double>(progress.tried), static_cast<double>(progress.of), progress.low, progress.high);
  };
  return slipstick::SolveSpecAnswer(spec, tell).text;
}
std::string Size(const std::string& spec) { return slipstick::SizeSpecAnswer(spec).text; }
std::string Sensitivity(const std::string& request, const std::string& figure, double share) {
  return slipstick::SensitivityAnswer(request, {}, figure, share).text;
}
std::string Dependence(const std::string& request, const std::string& input, int from, int to) {
  return slipstick::DependenceAnswer(request, {}, input, static_cast<std::size_t>(from), static_cast<std::size_t>(to))
      .text;
}

std::string Design(const std::string& request, const std::string& figure) {
  return slipstick::DesignAnswer(request, {}, slipstick::Json{{"objective", figure}}).text;
}
std::string StudyPoint(const std::string& id, int point) { return slipstick::StudyPointAnswer(id, point).text; }
std::string StudyOfPoints(const std::string& id, const std::string& points) {
  return slipstick::StudyOfPointsAnswer(id, points).text;
}
std::string Study(const std::string& id) { return slipstick::StudyAnswer(id).text; }
std::string Objectives() { return slipstick::JsonText(slipstick::SearchObjectives()); }
std::string MergeSearch(const std::string& shards) { return slipstick::MergeShardsText(shards).text; }
std::string CostStudy(const std::string& request) { return slipstick::CostStudyAnswer(request).text; }

}  // namespace

EMSCRIPTEN_BINDINGS(slipstick) {
  emscripten::function("evaluate", &Evaluate);
  emscripten::function("timeline", &Timeline);
  emscripten::function("kernel", &Kernel);
  emscripten::function("evidence", &Evidence);
  emscripten::function("measurements", &Measurements);
  emscripten::function("calibrate", &Calibrate);
  emscripten::function("coverage", &PublishedCoverage);
  emscripten::function("describe", &Describe);
  emscripten::function("presets", &Presets);
  emscripten::function("importModel", &ImportModel);
  emscripten::function("sweep", &Sweep);
  emscripten::function("solve", &Solve);
  emscripten::function("solveFor", &SolveFor);
  emscripten::function("size", &Size);
  emscripten::function("sensitivity", &Sensitivity);
  emscripten::function("dependence", &Dependence);
  emscripten::function("costStudy", &CostStudy);
  emscripten::function("design", &Design);
  emscripten::function("study", &Study);
  emscripten::function("studyPoint", &StudyPoint);
  emscripten::function("studyOfPoints", &StudyOfPoints);
  emscripten::function("searchObjectives", &Objectives);
  emscripten::function("mergeSearch", &MergeSearch);
  emscripten::class_<slipstick::ShardSearch>("Search")
      .constructor<std::string>()
      .function("issues", &slipstick::ShardSearch::issues)
      .function("step", &slipstick::ShardSearch::Step)
      .function("report", &slipstick::ShardSearch::Report)
      .function("shard", &slipstick::ShardSearch::Shard);
  emscripten::class_<slipstick::AdviceSteps>("Advice")
      .constructor<std::string>()
      .function("issues", &slipstick::AdviceSteps::issues)
      .function("step", &slipstick::AdviceSteps::Step)
      .function("report", &slipstick::AdviceSteps::Report);
  emscripten::class_<slipstick::ReplaySteps>("Replay")
      .constructor<std::string, std::string>()
      .function("issues", &slipstick::ReplaySteps::issues)
      .function("step", &slipstick::ReplaySteps::Step)
      .function("report", &slipstick::ReplaySteps::Report);
  emscripten::class_<slipstick::DesignSteps>("Design")
      .constructor<std::string>()
      .function("issues", &slipstick::DesignSteps::issues)
      .function("step", &slipstick::DesignSteps::Step)
      .function("report", &slipstick::DesignSteps::Report);
}
