#include "core/training_stage/stage.h"

#include "core/base/sum.h"
#include "core/training_stage/schedule_types.h"

namespace slipstick {
namespace {

// Weights of a kind of layer, under names that tell the kinds apart.
std::string WeightsSymbol(std::string_view kind, std::string_view weights) {
  return std::string(kind) + "." + std::string(weights);
}

void BindParameters(const LayerWork& work, std::string_view kind, Trace& trace) {
  if (!trace.on()) return;
  trace.Alias(WeightsSymbol(kind, "dense"), work.dense_parameters, "dense_parameters");
  trace.Alias(WeightsSymbol(kind, "experts"), work.expert_parameters, "expert_parameters");
  trace.Alias(WeightsSymbol(kind, "adapters"), work.adapter_parameters, "adapter_parameters");
}

}  // namespace

LayerWorks WorksOf(const TrainingContext& context) {
  Trace off = Trace::Off();
  return WorksOf(context, off);
}

LayerWorks WorksOf(const TrainingContext& context, Trace& trace) {
  LayerWorks works;
  for (Count layer = 0; layer < context.model.layers; ++layer) {
    works.present[KindOf(context.model, context.shape.sequence, layer)] = true;
  }
  for (const LayerKind kind : kLayerKinds) {
    if (!works.present[kind]) continue;
    const Trace::Scope scope(trace, NameOf(kind));
    works.of[kind] = WorkOf(context.model, context.run, context.shape, context.device(), kind, trace);
    BindParameters(works.of[kind], NameOf(kind), trace);
  }
  return works;
}

std::string StageName(std::size_t stage) { return "stage " + std::to_string(stage); }

std::string PlacedSymbol(std::size_t stage, std::string_view kind) {
  return StageName(stage) + "." + std::string(kind);
}

std::string LeadingSymbol(std::size_t stage, std::string_view kind) { return PlacedSymbol(stage, LeadingName(kind)); }

std::string LeadingName(std::string_view kind) { return "leading_" + std::string(kind); }

double FullLayers(const RecomputeChoice& recompute, const KindCounts& layers, LayerKind kind) {
  return recompute.is_leading ? layers.leading[kind] : recompute.full_share * layers.of[kind];
}

namespace {

// Layers of each kind on a stage: what the placement rests on.
void ExplainPlacement(const TrainingContext& context, const Stage& stage, std::size_t index, Trace& trace) {
  if (!trace.on()) return;
  const Model& model = context.model;
  const double layers = static_cast<double>(model.layers), pp = context.shape.pipeline,
               virtual_stages = context.shape.chunks;
  const auto sliding_window = static_cast<double>(model.window.tokens),
             global_every = static_cast<double>(model.window.global_every);
  const auto window_kv_heads = static_cast<double>(model.window.kv_heads),
             window_head_dim = static_cast<double>(model.window.head_dim);
  const double sequence = context.shape.sequence, mtp_layers = static_cast<double>(model.mtp_layers);
  const auto leading = static_cast<double>(model.moe ? model.moe->dense_layers : Tally(0));
  const auto moe_every = static_cast<double>(model.moe ? model.moe->moe_every : Tally(0));
  const auto recurrent_layers = static_cast<double>(model.LinearAttentionLayers());
  const double hidden = static_cast<double>(model.hidden), vocab = static_cast<double>(model.vocab),
               shared_kv_layers = static_cast<double>(model.shared_kv.layers);
  trace.Input("shared_kv_layers", shared_kv_layers, "model.kv_shared_layers");
  const double ends_as_layers = context.framework().ends_as_layers ? 1 : 0;
  trace.Input("ends_as_layers", ends_as_layers, "training.framework.ends_as_layers");
  trace.Input("leading", leading, model.moe ? "model.moe.dense_layers" : "model.moe");
  trace.Input("moe_every", moe_every, model.moe ? "model.moe.moe_every" : "model.moe");
  trace.Input("window_kv_heads", window_kv_heads, "model.window_kv_heads");
  trace.Input("window_head_dim", window_head_dim, "model.window_head_dim");
  trace.Input("recurrent_layers", recurrent_layers, model.linear_attention ? "model.linear.layers" : "model.linear");
  for (const LayerKind kind : kLayerKinds) {
    const double placed = stage.layers.of[kind];
    if (placed == 0) continue;
    const std::string symbol = std::string(NameOf(kind)) + "_placed";
    trace.Procedure(symbol, placed,
                    Note{"Layers of a kind on a stage",
                         "in the model's order; where the stages do not divide the layers, embedding and head count as "
                         "one layer each if that makes the "
                         "stages equal; else the arithmetic is balanced, embedding and head included"},
                    "layers, pp, virtual_stages, ends_as_layers, leading, moe_every, recurrent_layers, sliding_window, "
                    "global_every, sequence, "
                    "hidden, vocab, mtp_layers, window_kv_heads, window_head_dim, shared_kv_layers",
                    layers, pp, virtual_stages, ends_as_layers, leading, moe_every, recurrent_layers, sliding_window,
                    global_every, sequence, hidden, vocab, mtp_layers, window_kv_heads, window_head_dim,
                    shared_kv_layers);
    trace.MovesBy(0, 1);
    trace.MovesBy(1, -1);
    trace.Alias(PlacedSymbol(index, NameOf(kind)), placed, symbol);
    if (context.run.recompute != Recompute::kFull) continue;
    const double leading_layers = stage.layers.leading[kind],
                 recompute_layers = static_cast<double>(context.run.recompute_layers);
    trace.Procedure("leading_layers", leading_layers,
                    Note{"Layers of a kind that are recomputed", "the first of each virtual stage"},
                    symbol + ", virtual_stages, recompute_layers", placed, virtual_stages, recompute_layers);
    trace.Alias(LeadingSymbol(index, NameOf(kind)), leading_layers, "leading_layers");
  }
}

void AddVirtualStage(const KindCounts& added, double group, Stage& stage) {
  for (const LayerKind kind : kLayerKinds) {
    stage.layers.of[kind] += added.of[kind];
    stage.layers.leading[kind] += added.leading[kind];
  }
  stage.checkpoints += ceil(added.Total() / group);
  stage.largest_group = max(stage.largest_group, min(group, added.Total()));
}

// Adds a part to the stage's weights and to their explanation.
class StageWeights {
 public:
  StageWeights(Stage& stage, Trace& trace)
      : stage_(stage), trace_(trace), dense_(trace), experts_(trace), adapters_(trace), tables_(trace) {}
  void AddLayers(std::string_view name, std::string_view kind, double layers, const LayerWork& work,
                 std::string_view layers_are) {
    stage_.dense_parameters += layers * work.dense_parameters;
    stage_.expert_parameters += layers * work.expert_parameters;
    stage_.adapter_parameters += layers * work.adapter_parameters;
    if (layers == 0 || !trace_.on()) return;
    dense_.Add(name, work.dense_parameters, layers, WeightsSymbol(kind, "dense"), layers_are);
    if (work.expert_parameters > 0)
      experts_.Add(name, work.expert_parameters, layers, WeightsSymbol(kind, "experts"), layers_are);
    if (work.adapter_parameters > 0)
      adapters_.Add(name, work.adapter_parameters, layers, WeightsSymbol(kind, "adapters"), layers_are);
  }
  void Add(std::string_view name, double weights) {
    stage_.dense_parameters += weights;
    dense_.Add(name, weights);
  }
  void AddExperts(std::string_view name, double weights) {
    stage_.expert_parameters += weights;
    experts_.Add(name, weights);
  }
  void AddTable(std::string_view name, double weights) {
    stage_.tables += weights;
    dense_.Add(name, weights);
    tables_.Add(name, weights);
  }
  void Record() const {
    if (stage_.expert_parameters == 0) trace_.Input("stage_experts", 0.0, "model.moe");
    dense_.Record("stage_dense", stage_.dense_parameters,
                  {"Weights of a stage without routed experts", "on one device"});
    experts_.Record("stage_experts", stage_.expert_parameters,
                    {"Weights of a stage's routed experts", "on one device"});
    tables_.Record("stage_tables", stage_.tables,
                   {"Weights of a stage's embedding, position and head tables", "on one device"});
    adapters_.Record("stage_adapters", stage_.adapter_parameters, {"Weights of a stage's adapters", "on one device"});
  }

 private:
  Stage& stage_;
  Trace& trace_;
  ListedSum<double> dense_, experts_, adapters_, tables_;
};

// Tables of the layers' embeddings, and the norm of the projection that is added to their rows.
void AddLayerTables(const TrainingContext& context, StageWeights& weights, Trace& trace) {
  const auto layers = static_cast<double>(context.model.layers),
             layer_embedding = static_cast<double>(context.model.layer_embeddings.width);
  const double layer_rows = LayerRows(context.model, trace), tp = context.shape.tensor;
  trace.Input("layer_embedding", layer_embedding, "model.layer_embedding");
  FIGURE(trace, layer_tables, layers * layer_rows * layer_embedding / tp,
         (Note{"Weights of the layers' embeddings", "on one device"}), layers, layer_rows, layer_embedding, tp);
  weights.AddTable("layer_tables", layer_tables);
  weights.Add("layer_embedding", layer_embedding);
}

// Embedding, position and head tables; norms at the ends; MTP modules.
void AddEnds(const TrainingContext& context, const LayerWorks& works, Stage& stage, StageWeights& weights,
             Trace& trace) {
  const Model& model = context.model;
  const double hidden = static_cast<double>(model.hidden), vocab = static_cast<double>(model.vocab),
               tp = context.shape.tensor;
  FIGURE(trace, table, vocab * hidden / tp, (Note{"Weights of a vocabulary table", "on one device"}), vocab, hidden,
         tp);
  const double norm_elements = NormElements(model, trace);
  if (stage.embedding) {
    weights.AddTable("table", table);
    if (model.layer_embeddings.width > 0) AddLayerTables(context, weights, trace);
    if (model.positions.encoding == Position::kLearned) {
      const double max_positions = static_cast<double>(model.positions.rows), sequence = context.shape.sequence;
      trace.Input("sequence", sequence, "training.sequence");
      FIGURE(trace, positions, max_positions + max(0.0, 1 - max_positions) * sequence,
             (Note{"Rows of the position table", "the sequence length where none are stated"}), max_positions,
             sequence);
      FIGURE(trace, position_table, hidden * positions, (Note{"Weights of the position table"}), hidden, positions);
      weights.AddTable("position_table", position_table);
    }
    if (model.norms.after_embedding) {
      trace.Alias("embedding_norm", norm_elements, "norm_elements");
      weights.Add("embedding_norm", norm_elements);
    }
  }
  if (!stage.head) return;
  if (!model.tied_embeddings || !stage.embedding) {  // a tied table is held by both ends of a pipeline
    trace.Alias("head_table", table, "table");
    weights.AddTable("head_table", table);
  }
  trace.Alias("final_norm", norm_elements, "norm_elements");
  weights.Add("final_norm", norm_elements);
  if (model.mtp_layers == 0) return;
  const auto mtp_layers = static_cast<double>(model.mtp_layers);
  const LayerWork& layer = works.of[MtpKind(context)];
  const double module_layer = layer.dense_parameters, module_experts = layer.expert_parameters;
  trace.Alias("module_layer", module_layer, WeightsSymbol(NameOf(MtpKind(context)), "dense"));
  FIGURE(trace, mtp_modules, mtp_layers * (module_layer + 2 * hidden * hidden / tp + 3 * norm_elements),
         (Note{"Weights of the MTP modules", "a layer, the projection of two hidden states, three norms each"}),
         mtp_layers, module_layer, hidden, tp, norm_elements);
  weights.Add("mtp_modules", mtp_modules);
  trace.Alias("module_experts", module_experts, WeightsSymbol(NameOf(MtpKind(context)), "experts"));
  FIGURE(trace, mtp_experts, mtp_layers * module_experts, (Note{"Weights of the MTP modules' experts"}), mtp_layers,
         module_experts);
  weights.AddExperts("mtp_experts", mtp_experts);
}

}  // namespace

std::vector<Stage> PlanStages(const TrainingContext& context, const LayerWorks& works,
                              const std::vector<KindCounts>& virtual_stages) {
  Trace off = Trace::Off();
  return PlanStages(context, works, virtual_stages, off);
}

std::vector<Stage> PlanStages(const TrainingContext& context, const LayerWorks& works,
                              const std::vector<KindCounts>& virtual_stages, Trace& trace) {
  const auto stages = static_cast<Count>(context.shape.pipeline);
  std::vector<Stage> plan(static_cast<std::size_t>(stages));
  const auto visits = static_cast<Count>(virtual_stages.size());
  const auto stage_of = [&](Count visit) -> Stage& {
    return plan[static_cast<std::size_t>(StageOf(visit, stages, context.run.mapping.schedule))];
  };
  for (Count visit = 0; visit < visits; ++visit) {
    AddVirtualStage(virtual_stages[static_cast<std::size_t>(visit)], static_cast<double>(context.run.recompute_layers),
                    stage_of(visit));
  }
  stage_of(0).embedding = true;
  stage_of(visits - 1).head = true;

  for (std::size_t i = 0; i < plan.size(); ++i) {
    Stage& stage = plan[i];
    const std::string name = trace.on() ? StageName(i) : "";
    const Trace::Scope scope(trace, name);
    ExplainPlacement(context, stage, i, trace);
    StageWeights weights(stage, trace);
    for (const LayerKind kind : kLayerKinds) {
      weights.AddLayers(NameOf(kind), NameOf(kind), stage.layers.of[kind], works.of[kind],
                        trace.on() ? PlacedSymbol(i, NameOf(kind)) : "");
    }
    AddEnds(context, works, stage, weights, trace);
    stage.dense_parameters += stage.tables;
    weights.Record();
  }
  return plan;
}

DeviceStages StagesOn(const TrainingContext& context, const std::vector<Stage>& stages, std::size_t index) {
  const bool is_mirrored = context.run.mapping.schedule == PipelineSchedule::kDualPipe && stages.size() > 1;
  return {stages[index], is_mirrored ? &stages[stages.size() - 1 - index] : nullptr};
}

double WeightsOn(const DeviceStages& device, double Stage::* part, std::string_view part_symbol,
                 std::string_view symbol, const Note& note, Trace& trace) {
  const double own = device.own.*part, mirrored = device.mirrored != nullptr ? device.mirrored->*part : 0;
  if (device.mirrored != nullptr) trace.Alias("mirrored", mirrored, part_symbol);
  return Sum<double>(trace, symbol, note, {{part_symbol, own}, {"mirrored", mirrored, device.mirrored != nullptr}});
}

bool RepeatsPrevious(const std::vector<Stage>& stages, std::size_t index) {
  if (index == 0) return false;
  const Stage &stage = stages[index], &previous = stages[index - 1];
  return !stage.embedding && !stage.head && !previous.embedding && !previous.head &&
         stage.layers.of == previous.layers.of && stage.layers.leading == previous.layers.leading &&
         stage.checkpoints == previous.checkpoints && stage.largest_group == previous.largest_group;
}

}  // namespace slipstick
