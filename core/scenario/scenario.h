// A scenario: model, cluster, and the questions asked of them (training, serving, cost), checked as a whole.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/schema.h"
#include "core/diffusion/diffusion.h"
#include "core/economics/cost_inputs.h"
#include "core/economics/partition.h"
#include "core/engine_step/serving_load.h"
#include "core/evidence/own_measurement.h"
#include "core/hardware/cluster.h"
#include "core/post_training/post_training.h"
#include "core/scenario/version.h"
#include "core/search/chosen.h"
#include "core/training_stage/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

struct Scenario {
  Count version = kNewestVersion;
  Model model;
  Cluster cluster;
  std::optional<Partition> partition;  // of the device's dies; absent: none
  std::optional<TrainingRun> training = TrainingRun{};
  std::optional<ServingLoad> serving = ServingLoad{};
  std::optional<CostInputs> cost = CostInputs{};
  std::optional<PostTraining> post_training;  // reinforcement learning, based on the training and serving parts
  std::optional<DiffusionRun> diffusion;      // images or clips, by a separate model
  std::vector<OwnMeasurement> measured;  // by the user; the constants that explain them are already in the scenario
  std::vector<Chosen> chosen;            // choices for `auto` mappings, and software that follows the devices
  bool tried_near_batches = false;       // when its training mapping was chosen, because the batch is not stated
  std::vector<std::string> warnings;     // about the request
  std::vector<NamedUnit> units_assumed;  // texts for which a unit was assumed
};
FIELDS_OF(Scenario);

}  // namespace slipstick
