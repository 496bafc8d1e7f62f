#include "core/study/evaluate.h"

#include <optional>

#include "core/base/trace.h"
#include "core/serving/serving.h"
#include "core/study/report.h"
#include "core/training/training.h"

namespace slipstick {

Result<Json> Evaluate(const Scenario& scenario, const ReportDetail& detail) {
  Trace trace = detail.explain.empty() ? Trace::Off() : Trace::On();
  Json report{{"version", 1}};
  if (detail.scenario) report["scenario"] = Write(scenario);
  if (scenario.training) {
    const TrainingDetail wanted{detail.operators, detail.timeline};
    report["training"] = WriteTraining(EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, wanted, trace), std::nullopt);
  }
  if (scenario.serving) {
    const ServingReport serving = EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, detail.operators, trace);
    report["serving"] = WriteServing(serving, std::nullopt);
  }
  if (!detail.explain.empty()) report["explanations"] = WriteExplanations(trace.figures(), detail.explain);
  return report;
}

}  // namespace slipstick
