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
  std::optional<Partition> partition;  // of the device's dies; absent: as the device is
  std::optional<TrainingRun> training = TrainingRun{};
  std::optional<ServingLoad> serving = ServingLoad{};
  std::optional<CostInputs> cost = CostInputs{};
  std::optional<PostTraining> post_training;  // reinforcement learning with the training and the serving part
  std::optional<DiffusionRun> diffusion;      // images or clips by a model of its own
  std::vector<OwnMeasurement> measured;       // by the asker: the constants that explain them are in the scenario
  std::vector<Chosen> chosen;            // what `auto` mappings were settled to, and software that follows the devices
  bool tried_near_batches = false;       // when its training mapping was chosen: nobody wrote the batch
  std::vector<std::string> warnings;     // of what the request asks for
  std::vector<NamedUnit> units_assumed;  // texts whose unit nobody wrote
};
FIELDS_OF(Scenario);

}  // namespace slipstick
