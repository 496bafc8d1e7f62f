#include "core/training_stage/stage.h"

#include "core/base/figure.h"
#include "core/training_stage/schedule_types.h"

namespace slipstick {

LayerWorks WorksOf(const TrainingContext& context) {
  LayerWorks works;
  for (Count layer = 0; layer < context.model.layers; ++layer) {
    works.present[KindOf(context.model, context.shape.sequence, layer)] = true;
  }
  for (const LayerKind kind : kLayerKinds) {
    if (works.present[kind]) works.of[kind] = WorkOf(context.model, context.run, context.shape, context.device(), kind);
  }
  return works;
}

KindCounts& KindCounts::operator+=(const KindCounts& other) {
  for (const LayerKind kind : kLayerKinds) {
    of[kind] += other.of[kind];
    leading[kind] += other.leading[kind];
  }
  return *this;
}

Ratio FullLayers(const RecomputeChoice& recompute, const KindCounts& layers, LayerKind kind) {
  return recompute.is_leading ? layers.leading[kind] : recompute.full_share * layers.of[kind];
}

namespace {

// Records the inputs on which the number of layers of each kind depends.
void RestOnPlacement(const TrainingContext& context, Stage& stage) {
  if (context.shape.pipeline.node() == nullptr) return;
  const Model& model = context.model;
  std::vector<Ground> grounds{{Ratio(model.layers), 1}, {context.shape.pipeline, -1}};
  const auto in_steps = [&grounds](auto number) { grounds.push_back(InSteps(Ratio(number))); };
  in_steps(context.shape.chunks);
  in_steps(context.shape.sequence);
  for (const Tally counted : {model.window.tokens, model.window.global_every, model.window.kv_heads,
                              model.window.head_dim, model.hidden, model.vocab, model.shared_kv.layers}) {
    in_steps(counted);
  }
  in_steps(MtpModules(model, context.run));
  if (model.moe) {
    in_steps(model.moe->dense_layers);
    in_steps(model.moe->moe_every);
  }
  if (model.linear_attention) in_steps(model.linear_attention->layers);
  for (const LayerKind kind : kLayerKinds) {
    Ratio &placed = stage.layers.of[kind], &leading = stage.layers.leading[kind];
    if (placed == 0) continue;
    placed = Procedure("Layers of a kind on a stage", placed, grounds,
                       "in the model's order; where the stages do not divide the layers, embedding and head count as "
                       "one layer each if that makes the stages equal; else the arithmetic is balanced, embedding and "
                       "head included");
    leading = Procedure("Layers of a kind that are recomputed", leading,
                        {InSteps(placed), InSteps(context.shape.chunks), InSteps(Ratio(context.run.recompute_layers))},
                        "the first of each virtual stage");
  }
  const auto grouped = [&](std::string_view title, Ratio found, std::string_view note) {
    return Procedure(
        title, found,
        {InSteps(stage.layers.Total()), InSteps(context.shape.chunks), InSteps(Ratio(context.run.recompute_layers))},
        note);
  };
  stage.checkpoints = grouped("Checkpoints of a micro-batch", stage.checkpoints,
                              "a group's input; a group ends with its virtual stage");
  stage.largest_group = grouped("Layers of the largest group", stage.largest_group, "restored together");
}

void AddVirtualStage(const KindCounts& added, Ratio group, Stage& stage) {
  stage.layers += added;
  stage.checkpoints += ceil(added.Total() / group);
  stage.largest_group = max(stage.largest_group, min(group, added.Total()));
}

// Parameters of the embedding, position and head tables.
Ratio TablesOf(const TrainingContext& context, const Stage& stage) {
  const Model& model = context.model;
  const Ratio hidden = model.hidden, tp = context.shape.tensor;
  const Ratio vocabulary = Figure("Weights of a vocabulary table", Ratio(model.vocab) * hidden / tp, "on one device");
  Ratio tables = 0;
  if (stage.embedding) {
    tables += vocabulary;
    if (model.layer_embeddings.width > 0) {
      tables +=
          Figure("Weights of the layers' embeddings",
                 Ratio(model.layers) * LayerRows(model) * Ratio(model.layer_embeddings.width) / tp, "on one device");
    }
    if (model.positions.encoding == Position::kLearned) {
      const Ratio positions =
          Figure("Rows of the position table", StatedOr(model.positions.rows, context.shape.sequence),
                 "the sequence length where none are stated");
      tables += Figure("Weights of the position table", hidden * positions);
    }
  }
  // If a table is tied, both ends of a pipeline hold it.
  if (stage.head && (!model.tied_embeddings || !stage.embedding)) tables += vocabulary;
  return Figure("Weights of a stage's embedding, position and head tables", tables, "on one device");
}

// Adds the norms at the ends, and the norm of the projection that is added to the rows of the layers' tables.
void AddEndNorms(const TrainingContext& context, Stage& stage) {
  const Model& model = context.model;
  const Ratio norm = NormElements(model);
  if (stage.embedding) {
    if (model.layer_embeddings.width > 0) stage.weights.dense += Ratio(model.layer_embeddings.width);
    if (model.norms.after_embedding) stage.weights.dense += norm;
  }
  if (stage.head) stage.weights.dense += norm;
}

void AddMtpModules(const TrainingContext& context, const LayerWorks& works, Stage& stage) {
  const Ratio modules = MtpModules(context.model, context.run), hidden = context.model.hidden;
  const LayerWork& layer = works.of[MtpKind(context)];
  stage.weights.dense += Figure(
      "Weights of the MTP modules",
      modules * (layer.weights.dense + 2 * hidden * hidden / context.shape.tensor + 3 * NormElements(context.model)),
      "a layer, the projection of two hidden states, three norms each");
  stage.weights.experts += Figure("Weights of the MTP modules' experts", modules * layer.weights.experts);
}

void CountWeights(const TrainingContext& context, const LayerWorks& works, Stage& stage) {
  for (const LayerKind kind : kLayerKinds) {
    const Ratio layers = stage.layers.of[kind];
    if (layers == 0) continue;
    stage.weights += layers * works.of[kind].weights;
  }
  AddEndNorms(context, stage);
  if (stage.head && MtpModules(context.model, context.run) > 0) AddMtpModules(context, works, stage);
  stage.tables = TablesOf(context, stage);
  constexpr std::string_view kNote = "on one device";
  stage.weights.dense = Figure("Weights of a stage without routed experts", stage.weights.dense + stage.tables, kNote);
  stage.weights.experts = Figure("Weights of a stage's routed experts", stage.weights.experts, kNote);
  stage.weights.adapters = Figure("Weights of a stage's adapters", stage.weights.adapters, kNote);
}

}  // namespace

Ratio EndWeights(const TrainingContext& context, bool embedding, bool head) {
  Stage end;
  end.embedding = embedding;
  end.head = head;
  AddEndNorms(context, end);
  return end.weights.dense + TablesOf(context, end);
}

std::vector<Stage> PlanStages(const TrainingContext& context, const LayerWorks& works,
                              const std::vector<KindCounts>& virtual_stages) {
  const auto stages = static_cast<Count>(context.shape.pipeline);
  std::vector<Stage> plan(static_cast<std::size_t>(stages));
  const auto visits = static_cast<Count>(virtual_stages.size());
  const auto stage_of = [&](Count visit) -> Stage& {
    return plan[static_cast<std::size_t>(StageOf(visit, stages, context.run.mapping.schedule))];
  };
  for (Count visit = 0; visit < visits; ++visit)
    AddVirtualStage(virtual_stages[static_cast<std::size_t>(visit)], context.run.recompute_layers, stage_of(visit));
  stage_of(0).embedding = true;
  stage_of(visits - 1).head = true;
  for (Stage& stage : plan) {
    RestOnPlacement(context, stage);
    CountWeights(context, works, stage);
  }
  return plan;
}

DeviceStages StagesOn(const TrainingContext& context, const std::vector<Stage>& stages, std::size_t index) {
  const bool is_mirrored = context.run.mapping.schedule == PipelineSchedule::kDualPipe && stages.size() > 1;
  return {stages[index], is_mirrored ? &stages[stages.size() - 1 - index] : nullptr};
}

HeldWeights WeightsOn(const DeviceStages& device) {
  HeldWeights weights = device.own.weights;
  if (device.mirrored != nullptr) weights += device.mirrored->weights;
  return weights;
}

bool RepeatsPrevious(const std::vector<Stage>& stages, std::size_t index) {
  if (index == 0) return false;
  const Stage &stage = stages[index], &previous = stages[index - 1];
  return !stage.embedding && !stage.head && !previous.embedding && !previous.head &&
         stage.layers.of == previous.layers.of && stage.layers.leading == previous.layers.leading &&
         stage.checkpoints == previous.checkpoints && stage.largest_group == previous.largest_group;
}

}  // namespace slipstick
