// The features of a run that indicate how wrong a prediction may be.
#pragma once

#include "core/diffusion/diffusion.h"
#include "core/evidence/measured_run.h"
#include "core/hardware/cluster.h"
#include "core/serving/serving.h"
#include "core/training/training_report.h"
#include "core/training_stage/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

// The string views in a setting refer to the cluster and the run.
RunSetting SettingOf(const Model& model, const Cluster& cluster, const TrainingRun& run, const TrainingReport& report);
// Shares of time are shares of the prefill for time to first token, otherwise of a decode step.
RunSetting SettingOf(MeasuredKind kind, const Model& model, const Cluster& cluster, const ServingLoad& load,
                     const ServingReport& report);
RunSetting SettingOf(const Cluster& cluster, const DiffusionRun& run, const DiffusionReport& report);

// Whether rules replace measured efficiencies of the device's GEMMs or memory.

}  // namespace slipstick
