// Evaluates a training run: time of a step and of the run, memory of every pipeline stage.
#pragma once

#include <functional>
#include <string>

#include "core/base/issue.h"
#include "core/hardware/cluster.h"
#include "core/training/training_report.h"
#include "core/training_stage/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

// Reports contradictions between run, model and cluster, with the nearest valid values; fills run.devices and
// mapping.dp.
void ValidateAndFillDefaults(TrainingRun& run, const Model& model, const Cluster& cluster, const std::string& path,
                             Issues& issues);

class TrainingMemo;

// What EvaluateTraining computes besides the main figures.
struct TrainingDetail {
  bool operators = true;  // and collectives
  bool timeline = true;
  // Memory and time of every stage, the time of a run that does not fit, and the nearest change that makes it fit. A
  // search needs none of these.
  bool advice = true;
  // For a search: sub-results that its mappings share (memo.h); made for this same model, cluster and run.
  TrainingMemo* memo = nullptr;
  // For a search: called with a report that has the run's memory and a lower bound on its step time. If it returns
  // true, the evaluation ends there, marked as `pruned`.
  const std::function<bool(const TrainingReport& bound)>* can_prune = nullptr;
};
// The run must be valid (ValidateAndFillDefaults without issues). A run that does not fit is reported in `infeasible`.
TrainingReport EvaluateTraining(const Model& model, const Cluster& cluster, const TrainingRun& run,
                                const TrainingDetail& detail, Tape* tape = nullptr);

}  // namespace slipstick
