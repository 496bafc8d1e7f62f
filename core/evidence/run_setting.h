// What of a run tells how wrong a prediction may be.
#pragma once

#include "core/diffusion/diffusion.h"
#include "core/evidence/measured_run.h"
#include "core/hardware/cluster.h"
#include "core/serving/serving.h"
#include "core/training/training_report.h"
#include "core/training_stage/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

// The views in a setting are those of the cluster and the run.
RunSetting SettingOf(const Model& model, const Cluster& cluster, const TrainingRun& run, const TrainingReport& report);
// The shares of time are those of the prefill for a first token, of a decode step otherwise.
RunSetting SettingOf(MeasuredKind kind, const Model& model, const Cluster& cluster, const ServingLoad& load,
                     const ServingReport& report);
RunSetting SettingOf(const Cluster& cluster, const DiffusionRun& run, const DiffusionReport& report);

// Rules stand for what the device's GEMMs or memory were measured to reach.
bool IsAssumed(const Device& device);

}  // namespace slipstick
