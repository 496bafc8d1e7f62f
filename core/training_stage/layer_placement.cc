// Which layers a pipeline stage gets: in the model's order, balanced if the number of stages does not divide them.
#include <algorithm>
#include <vector>

#include "core/operators/efficiency.h"
#include "core/training_stage/schedule_types.h"
#include "core/training_stage/stage.h"

namespace slipstick {
namespace {

// Multiply-adds of a layer's forward pass on one device, attention cut by the causal mask. Experts have the rows of
// even routing: the imbalance is unknown when layers are placed.
double ArithmeticOf(const LayerWork& work) {
  double sum = work.attention.pairs * (work.attention.query_width + work.attention.value_width);
  for (const LayerProduct& product : work.products) {
    const bool is_routed = TraitsOf(product.id).rows == ProductRows::kRouted && work.routed_rows > 0;
    sum +=
        (is_routed ? work.even_rows / work.routed_rows : Ratio(1)) * product.groups * product.rows * product.Elements();
  }
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
  if (model.moe && model.HasMlp(layer) && layer >= model.moe->dense_layers &&
      (layer - model.moe->dense_layers) % model.moe->moe_every == model.moe->moe_every - 1) {
    kind.feed_forward = FeedForward::kExperts;
  }
  const bool local =
      model.window.tokens > 0 && (static_cast<double>(model.window.tokens) < sequence || model.HasWindowHeads());
  if (model.IsLinearAttention(layer)) {
    kind.mixer = Mixer::kRecurrence;
  } else if (local && (model.window.global_every == 0 || (layer + 1) % model.window.global_every != 0)) {
    kind.mixer = Mixer::kWindow;
  }
  if (layer >= model.layers - model.shared_kv.layers)
    kind.mixer = IsLocal(kind.mixer) ? Mixer::kSharedKvWindow : Mixer::kSharedKv;
  return kind;
}

LayerKind MtpKind(const TrainingContext& context) {
  return KindOf(context.model, context.shape.sequence, context.model.layers - 1);
}

std::vector<Count> PlaceLayers(Count layers, Count stages, Count chunks, PipelineSchedule schedule,
                               const PlacementLoads& loads, bool by_cost) {
  const Count visits = stages * chunks;
  if (by_cost) return PlaceByCost(layers, visits, loads);
  std::vector<Count> counts(static_cast<std::size_t>(visits), layers / visits);
  if (layers % visits == 0) return counts;
  // Greedy: each layer goes to the least loaded stage, and there to the least loaded chunk. For equal layers this
  // minimizes the load of the most loaded stage.
  std::fill(counts.begin(), counts.end(), 0);
  std::vector<double> stage_load(static_cast<std::size_t>(stages), 0);
  stage_load[0] += loads.embedding;
  stage_load[static_cast<std::size_t>(StageOf(visits - 1, stages, schedule))] += loads.head;
  std::vector<std::vector<Count>> visits_of(static_cast<std::size_t>(stages));
  for (Count visit = 0; visit < visits; ++visit)
    visits_of[static_cast<std::size_t>(StageOf(visit, stages, schedule))].push_back(visit);
  for (Count layer = 0; layer < layers; ++layer) {
    const auto least =
        static_cast<std::size_t>(std::min_element(stage_load.begin(), stage_load.end()) - stage_load.begin());
    stage_load[least] += loads.layer;
    const auto load_of = [&](Count visit) {
      const double ends = (visit == 0 ? loads.embedding : 0) + (visit + 1 == visits ? loads.head : 0);
      return static_cast<double>(counts[static_cast<std::size_t>(visit)]) * loads.layer + ends;
    };
    Count emptiest = visits_of[least].front();
    for (const Count visit : visits_of[least]) {
      if (load_of(visit) < load_of(emptiest)) emptiest = visit;
    }
    ++counts[static_cast<std::size_t>(emptiest)];
  }
  return counts;
}

std::vector<KindCounts> CountKinds(const TrainingContext& context, const std::vector<Count>& layers) {
  std::vector<KindCounts> counts(layers.size());
  Count layer = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    for (Count i = 0; i < layers[stage]; ++i, ++layer) {
      const LayerKind kind = KindOf(context.model, context.shape.sequence, layer);
      counts[stage].of[kind] += 1;
      if (i < context.run.recompute_layers) counts[stage].leading[kind] += 1;
    }
  }
  return counts;
}

namespace {

// Whether the layers fill the virtual stages evenly only if embedding and head count as one layer each.
bool EndsMakeEven(const TrainingContext& context) {
  const TrainingMapping& mapping = context.run.mapping;
  const Count layers = context.model.layers, visits = mapping.pp * mapping.virtual_stages;
  return context.framework().ends_as_layers && layers % visits != 0 && (layers + 2) % visits == 0;
}

}  // namespace

StagePlan PlanLayers(const TrainingContext& context, const LayerWorks& works) {
  const Model& model = context.model;
  const TrainingMapping& mapping = context.run.mapping;
  const double hidden = static_cast<double>(model.hidden), vocabulary = static_cast<double>(model.vocab);
  PlacementLoads loads{0, 0, 0};
  if (context.framework().places_by_cost) {
    loads.layer = 4 * hidden * hidden + 3 * hidden * static_cast<double>(model.ffn);
    loads.head = hidden * vocabulary;
  } else if (EndsMakeEven(context)) {
    loads = {1, 1, 1};
  } else if (model.layers % (mapping.pp * mapping.virtual_stages) != 0) {
    const KindCounts all = CountKinds(context, {model.layers}).front();
    for (const LayerKind kind : kLayerKinds) {
      loads.layer += all.of[kind] / static_cast<double>(model.layers) * ArithmeticOf(works.of[kind]);
    }
    // The head stays in 16 bits.
    const double wide = BytesPerElement(context.matrix_precision);
    const double head_rate = wide / BytesPerElement(NativePrecision(context.device(), context.run.precision));
    const double modules = MtpModules(model, context.run);
    const double head = context.shape.tokens * hidden * vocabulary / context.shape.tensor * head_rate;
    loads.head = head * (1 + modules) + modules * loads.layer;
  }
  StagePlan plan;
  plan.virtual_stages = CountKinds(context, PlaceLayers(model.layers, mapping.pp, mapping.virtual_stages,
                                                        mapping.schedule, loads, context.framework().places_by_cost));
  plan.stages = PlanStages(context, works, plan.virtual_stages);
  return plan;
}

}  // namespace slipstick
