// Which layers lie on which pipeline stage, and what each stage holds.
#pragma once

#include <numeric>
#include <vector>

#include "core/training/context.h"
#include "core/training/layer_time.h"
#include "core/training/layer_work.h"

namespace slipstick {

// Layers of a stage (or of a chunk of one) by kind.
struct LayerCounts {
  ByKind<double> of;
  [[nodiscard]] double Total() const { return std::accumulate(of.begin(), of.end(), 0.0); }
};

struct Stage {
  LayerCounts layers;
  bool embedding = false, head = false;
  double dense_parameters = 0, expert_parameters = 0;  // on one device
  double adapter_parameters = 0;
  double tables = 0;  // of the dense ones: embedding and head
  [[nodiscard]] double Parameters() const { return dense_parameters + expert_parameters; }
};

// What a placement needs to know of a layer and of the ends, in any one unit of load.
struct PlacementLoads {
  double layer = 1, embedding = 0, head = 0;
};

// Layers of each virtual stage in the order the micro-batch visits them. Equal where the stages divide the layers; otherwise
// a layer at a time to the stage with the least load, or in order until a stage has its share of the whole (by cost).
std::vector<Count> PlaceLayers(Count layers, Count stages, Count chunks, PipelineSchedule schedule, const PlacementLoads& loads,
                               bool by_cost);

// The pipeline stage that holds a virtual stage: chunks go round the stages, and back in a V where the schedule folds.
Count StageOf(Count virtual_stage, Count stages, PipelineSchedule schedule);

// The works of the layer kinds that a model has; kinds it lacks stay empty.
struct LayerWorks {
  ByKind<LayerWork> of;
  ByKind<bool> present;
};
LayerWorks WorksOf(const TrainingContext& context);

// The kind of a layer by its place, from 0. A window as long as the sequence is none.
LayerKind KindOf(const Model& model, double sequence, Count layer);
// MTP modules hold a layer like the model's last.
LayerKind MtpKind(const TrainingContext& context);

// The kinds of all layers, counted for each virtual stage.
std::vector<LayerCounts> CountKinds(const TrainingContext& context, const std::vector<Count>& layers);

// Stages with their parameters. MTP modules lie on the last.
std::vector<Stage> PlanStages(const TrainingContext& context, const LayerWorks& works, const std::vector<LayerCounts>& virtual_stages);

// Layers on stages, and what each stage holds.
struct StagePlan {
  std::vector<LayerCounts> virtual_stages;
  std::vector<Stage> stages;
};
// Layers and ends are weighed by their arithmetic, which no device changes: a faster one must not place a layer worse.
StagePlan PlanLayers(const TrainingContext& context, const LayerWorks& works);

// Whether a stage is like the one before it but for its place: neither holds an end, and their layers are the same.
bool RepeatsPrevious(const std::vector<Stage>& stages, std::size_t index);

}  // namespace slipstick
