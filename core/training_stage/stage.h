// Placement of layers on pipeline stages.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "core/training_stage/context.h"
#include "core/training_stage/layer_work.h"
#include "core/training_stage/recompute_choice.h"

namespace slipstick {

// Layers of a pipeline stage or virtual stage by kind.
struct KindCounts {
  ByKind<Ratio> of;
  ByKind<Ratio> leading;  // of these, the first recompute_layers of each virtual stage
  [[nodiscard]] Ratio Total() const { return std::accumulate(of.begin(), of.end(), Ratio(0)); }
  KindCounts& operator+=(const KindCounts& other);
};

struct Stage {
  KindCounts layers;
  bool embedding = false, head = false;
  HeldWeights weights;
  // under uniform full recomputation: one per group of recompute_layers layers of a virtual stage
  Ratio checkpoints = 0;
  Ratio largest_group = 0;  // layers of the largest group
  Ratio tables = 0;         // the part of weights.dense in embedding, position and head tables
  [[nodiscard]] Ratio Leading() const {
    return std::accumulate(layers.leading.begin(), layers.leading.end(), Ratio(0));
  }
};

// Layers of a kind that are recomputed as a whole.
Ratio FullLayers(const RecomputeChoice& recompute, const KindCounts& layers, LayerKind kind);

// Load of a layer, of the embedding and of the head, in one common unit.
struct PlacementLoads {
  double layer = 1, embedding = 0, head = 0;
};

// Number of layers on each virtual stage, in the order in which a micro-batch visits them: equal if the number of
// virtual stages divides the layers, otherwise balanced by load. `by_cost`: fills stages in order, each up to its share
// of the total load.
std::vector<Count> PlaceLayers(Count layers, Count stages, Count chunks, PipelineSchedule schedule,
                               const PlacementLoads& loads, bool by_cost);

// Work of every kind of layer that the model has; empty for other kinds.
struct LayerWorks {
  ByKind<LayerWork> of;
  ByKind<bool> present;
};
LayerWorks WorksOf(const TrainingContext& context);

// Kind of the layer with this index, from 0. A window as long as the sequence counts as full attention.
LayerKind KindOf(const Model& model, double sequence, Count layer);
// Kind of the layer in an MTP module: the kind of the model's last layer.
LayerKind MtpKind(const TrainingContext& context);

// Layers of each virtual stage by kind, from the number of layers on each.
std::vector<KindCounts> CountKinds(const TrainingContext& context, const std::vector<Count>& layers);

// Pipeline stages with their parameters. MTP modules belong to the last stage.
std::vector<Stage> PlanStages(const TrainingContext& context, const LayerWorks& works,
                              const std::vector<KindCounts>& virtual_stages);

// Weights of the tables and norms at an end of the model, MTP modules apart.
Ratio EndWeights(const TrainingContext& context, bool embedding, bool head);

struct StagePlan {
  std::vector<KindCounts> virtual_stages;
  std::vector<Stage> stages;
};
// Balances layers, embedding and head by FLOPs, which depend on no device: a faster device must not get a worse
// placement.
StagePlan PlanLayers(const TrainingContext& context, const LayerWorks& works);

// The stages that a device holds: its own and, under DualPipe, the mirrored one for the micro-batches from the other
// end.
struct DeviceStages {
  const Stage& own;
  const Stage* mirrored = nullptr;
  [[nodiscard]] bool HasEmbedding() const { return own.embedding || (mirrored != nullptr && mirrored->embedding); }
  [[nodiscard]] bool HasHead() const { return own.head || (mirrored != nullptr && mirrored->head); }
};
DeviceStages StagesOn(const TrainingContext& context, const std::vector<Stage>& stages, std::size_t index);
HeldWeights WeightsOn(const DeviceStages& device);

// Whether a stage has the same layers as the previous one and neither holds the embedding or the head.
bool RepeatsPrevious(const std::vector<Stage>& stages, std::size_t index);

}  // namespace slipstick
