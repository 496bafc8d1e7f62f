#include "core/training/stage.h"

#include <algorithm>

#include "core/operators/efficiency.h"
#include "core/training/schedule_types.h"

namespace slipstick {
namespace {

// Multiply-adds of a layer's forward pass on one device, attention cut by the causal mask.
double ArithmeticOf(const LayerWork& work) {
  double sum = work.attention.pairs * (work.attention.query_width + work.attention.value_width);
  for (const LayerProduct& product : work.products) sum += product.groups * product.rows * product.Elements();
  return sum;
}

std::vector<Count> PlaceByCost(Count layers, Count stages, const PlacementLoads& loads) {
  std::vector<Count> counts(static_cast<std::size_t>(stages), 0);
  const double total = loads.layer * static_cast<double>(layers) + loads.head;
  double load = 0;
  Count stage = 0;
  for (Count layer = 0; layer < layers; ++layer) {
    ++counts[static_cast<std::size_t>(stage)];
    load += loads.layer;
    if (load >= total * static_cast<double>(stage + 1) / static_cast<double>(stages) && stage + 1 < stages) ++stage;
  }
  return counts;
}

}  // namespace

LayerKind KindOf(const Model& model, double sequence, Count layer) {
  LayerKind kind;
  if (model.moe && layer >= model.moe->dense_layers &&
      (layer - model.moe->dense_layers) % model.moe->moe_every == model.moe->moe_every - 1) {
    kind.feed_forward = FeedForward::kExperts;
  }
  const bool local = model.window.tokens > 0 && static_cast<double>(model.window.tokens) < sequence;
  if (model.IsLinearAttention(layer)) {
    kind.mixer = Mixer::kRecurrence;
  } else if (local && (model.window.global_every == 0 || (layer + 1) % model.window.global_every != 0)) {
    kind.mixer = Mixer::kWindow;
  }
  return kind;
}

LayerKind MtpKind(const TrainingContext& context) { return KindOf(context.model, context.shape.sequence, context.model.layers - 1); }

std::vector<Count> PlaceLayers(Count layers, Count stages, Count chunks, PipelineSchedule schedule, const PlacementLoads& loads,
                               bool by_cost) {
  const Count visits = stages * chunks;
  if (by_cost) return PlaceByCost(layers, visits, loads);
  std::vector<Count> counts(static_cast<std::size_t>(visits), layers / visits);
  if (layers % visits == 0) return counts;
  // Greedy: each layer goes to the least loaded stage, and there to the least loaded chunk. For equal layers this minimizes the
  // load of the most loaded stage.
  std::fill(counts.begin(), counts.end(), 0);
  std::vector<double> stage_load(static_cast<std::size_t>(stages), 0);
  stage_load[0] += loads.embedding;
  stage_load[static_cast<std::size_t>(StageOf(visits - 1, stages, schedule))] += loads.head;
  for (Count layer = 0; layer < layers; ++layer) {
    const auto least = static_cast<Count>(std::min_element(stage_load.begin(), stage_load.end()) - stage_load.begin());
    stage_load[static_cast<std::size_t>(least)] += loads.layer;
    const auto load_of = [&](Count visit) {
      const double ends = (visit == 0 ? loads.embedding : 0) + (visit + 1 == visits ? loads.head : 0);
      return static_cast<double>(counts[static_cast<std::size_t>(visit)]) * loads.layer + ends;
    };
    Count emptiest = -1;
    for (Count visit = 0; visit < visits; ++visit) {
      if (StageOf(visit, stages, schedule) != least) continue;
      if (emptiest < 0 || load_of(visit) < load_of(emptiest)) emptiest = visit;
    }
    ++counts[static_cast<std::size_t>(emptiest)];
  }
  return counts;
}

LayerWorks WorksOf(const TrainingContext& context) {
  LayerWorks works;
  for (Count layer = 0; layer < context.model.layers; ++layer) {
    works.present[KindOf(context.model, context.shape.sequence, layer)] = true;
  }
  for (const LayerKind kind : kLayerKinds) {
    if (works.present[kind]) works.of[kind] = WorkOf(context.model, context.run, context.shape, kind);
  }
  return works;
}

std::vector<LayerCounts> CountKinds(const TrainingContext& context, const std::vector<Count>& layers) {
  std::vector<LayerCounts> counts(layers.size());
  Count layer = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    for (Count i = 0; i < layers[stage]; ++i, ++layer) {
      counts[stage].of[KindOf(context.model, context.shape.sequence, layer)] += 1;
    }
  }
  return counts;
}

std::vector<Stage> PlanStages(const TrainingContext& context, const LayerWorks& works, const std::vector<LayerCounts>& virtual_stages) {
  const Model& model = context.model;
  const auto stages = static_cast<Count>(context.shape.pipeline);
  std::vector<Stage> plan(static_cast<std::size_t>(stages));
  const auto visits = static_cast<Count>(virtual_stages.size());
  const auto stage_of = [&](Count visit) -> Stage& {
    return plan[static_cast<std::size_t>(StageOf(visit, stages, context.run.mapping.schedule))];
  };
  for (Count visit = 0; visit < visits; ++visit) {
    for (const LayerKind kind : kLayerKinds) {
      stage_of(visit).layers.of[kind] += virtual_stages[static_cast<std::size_t>(visit)].of[kind];
    }
  }
  stage_of(0).embedding = true;
  stage_of(visits - 1).head = true;

  const auto hidden = static_cast<double>(model.hidden);
  const double norm = NormElements(model);
  const double table = static_cast<double>(model.vocab) * hidden / context.shape.tensor;
  for (Stage& stage : plan) {
    for (const LayerKind kind : kLayerKinds) {
      stage.dense_parameters += stage.layers.of[kind] * works.of[kind].dense_parameters;
      stage.expert_parameters += stage.layers.of[kind] * works.of[kind].expert_parameters;
      stage.adapter_parameters += stage.layers.of[kind] * works.of[kind].adapter_parameters;
    }
    if (stage.embedding) {
      stage.tables += table;
      if (model.positions.encoding == Position::kLearned) {
        stage.tables += hidden * (model.positions.rows > 0 ? static_cast<double>(model.positions.rows) : context.shape.sequence);
      }
      if (model.norms.after_embedding) stage.dense_parameters += 2 * hidden;
    }
    if (stage.head) {
      if (!model.tied_embeddings || !stage.embedding) stage.tables += table;  // a tied table is held by both ends of a pipeline
      stage.dense_parameters += norm;
      if (model.mtp_layers > 0) {
        const auto modules = static_cast<double>(model.mtp_layers);
        const LayerWork& layer = works.of[MtpKind(context)];
        stage.dense_parameters += modules * (layer.dense_parameters + 2 * hidden * hidden / context.shape.tensor + 3 * norm);
        stage.expert_parameters += modules * layer.expert_parameters;
      }
    }
    stage.dense_parameters += stage.tables;
  }
  return plan;
}

StagePlan PlanLayers(const TrainingContext& context, const LayerWorks& works) {
  const Model& model = context.model;
  const TrainingMapping& mapping = context.run.mapping;
  const double hidden = static_cast<double>(model.hidden), vocabulary = static_cast<double>(model.vocab);
  PlacementLoads loads{0, 0, 0};
  if (context.framework().places_by_cost) {
    loads.layer = 4 * hidden * hidden + 3 * hidden * static_cast<double>(model.ffn);
    loads.head = hidden * vocabulary;
  } else if (model.layers % (mapping.pp * mapping.virtual_stages) != 0) {
    const LayerCounts all = CountKinds(context, {model.layers}).front();
    for (const LayerKind kind : kLayerKinds) {
      loads.layer += all.of[kind] / static_cast<double>(model.layers) * ArithmeticOf(works.of[kind]);
    }
    // The head stays in 16 bits.
    const double wide = BytesPerElement(context.matrix_precision);
    const double head_rate = wide / BytesPerElement(NativePrecision(context.device(), context.run.precision));
    const auto modules = static_cast<double>(model.mtp_layers);
    const double head = context.shape.tokens * hidden * vocabulary / context.shape.tensor * head_rate;
    loads.head = head * (1 + modules) + modules * loads.layer;
  }
  StagePlan plan;
  plan.virtual_stages = CountKinds(
      context, PlaceLayers(model.layers, mapping.pp, mapping.virtual_stages, mapping.schedule, loads, context.framework().places_by_cost));
  plan.stages = PlanStages(context, works, plan.virtual_stages);
  return plan;
}

bool RepeatsPrevious(const std::vector<Stage>& stages, std::size_t index) {
  if (index == 0) return false;
  const Stage &stage = stages[index], &previous = stages[index - 1];
  return !stage.embedding && !stage.head && !previous.embedding && !previous.head && stage.layers.of == previous.layers.of;
}

}  // namespace slipstick
