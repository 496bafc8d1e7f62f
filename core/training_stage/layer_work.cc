#include "core/training_stage/layer_work.h"

#include <string_view>

#include "core/base/sum.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/workload/named_terms.h"

namespace slipstick {
namespace {

AttentionWork CoreWork(const Model& model, const TrainingRun& run, const Device& device, const TrainingShape& shape,
                       Mixer mixer, const LayerWidths& widths, Trace& trace) {
  AttentionWork core{CoreOf(model, mixer, widths, trace)};
  const double sequence = shape.sequence, cp = shape.context, sequences = shape.micro_batch, query_heads = core.heads;
  trace.Alias("sequences", sequences, "micro_batch");
  FIGURE(trace, queries, sequence / cp, (Note{"Tokens of a sequence on one device"}), sequence, cp);
  core.sequences = sequences;
  core.queries = queries;
  const double rows = sequences * query_heads * queries;
  if (mixer == Mixer::kRecurrence) {
    // The KV length at which attention would have the recurrence's arithmetic.
    core.is_recurrence = true;
    core.keys = RecurrencePairs(*model.linear_attention, core.queries) / (core.query_width + core.value_width);
    core.pairs = core.all_pairs = rows * core.keys;
    return core;
  }
  if (model.compressed) {
    // The causal mask and the selection as so many keys of full attention.
    const double attended = shape.attended;
    const CompressedKeys seen = KeysOfCompressed(model, attended, trace);
    const double all_keys = seen.all, causal_keys = seen.causal;
    FIGURE(trace, all_pairs, sequences * query_heads * queries * all_keys,
           (Note{"Scores without a mask", "all heads and sequences"}), sequences, query_heads, queries, all_keys);
    FIGURE(trace, pairs, sequences * query_heads * queries * causal_keys,
           (Note{"Scores under the causal mask", "of the window and of entries, with those of the indexer"}), sequences,
           query_heads, queries, causal_keys);
    core.keys = all_keys;
    core.all_pairs = all_pairs;
    core.pairs = pairs;
    return core;
  }
  core.keys = sequence;
  FIGURE(trace, all_pairs, sequences * query_heads * queries * sequence,
         (Note{"Scores without a mask", "all heads and sequences"}), sequences, query_heads, queries, sequence);
  core.all_pairs = all_pairs;
  const double tile = device.architecture->attention.tile;
  CONSTANTS(trace, KernelTable(device, "attention"), SourceOf(device, device.architecture->attention.step.source),
            tile);
  const double attended = run.framework.compute.skips_masked_tiles ? shape.attended : sequence;
  if (!run.framework.compute.skips_masked_tiles) trace.Alias("attended", attended, "sequence");
  FIGURE(trace, document_pairs, sequences * query_heads * queries * attended,
         (Note{"Scores within documents, without a mask", "all heads and sequences"}), sequences, query_heads, queries,
         attended);
  FIGURE(trace, causal_pairs, document_pairs * 0.5 * (1 + min(tile / attended, 1.0)),
         (Note{"Scores that the causal mask leaves", "the tiles on the diagonal are computed in full"}), document_pairs,
         tile, attended);
  core.pairs = causal_pairs;
  if (IsLocal(mixer)) {
    const auto sliding_window = static_cast<double>(model.window.tokens);
    FIGURE(trace, window_pairs, min(causal_pairs, sequences * query_heads * queries * (sliding_window + tile)),
           (Note{"Scores in the window", "at its edge a tile of queries needs one more tile of keys"}), causal_pairs,
           sequences, query_heads, queries, sliding_window, tile);
    core.pairs = window_pairs;
  }
  trace.Alias("pairs", core.pairs, IsLocal(mixer) ? "window_pairs" : "causal_pairs");
  return core;
}

// Share of rows above the experts' capacity (over the mean load). Loads over the mean are taken as uniform between 2 -
// imbalance and imbalance; above an imbalance of 2, as uniform between 0 and imbalance for 2 / imbalance of the
// experts, and 0 for the others.
double DroppedShare(double imbalance, double capacity) {
  if (capacity <= 0 || capacity >= imbalance) return 0;
  if (imbalance <= 1) return 1 - capacity;
  const double used = min(1.0, 2 / imbalance), least = max(0.0, 2 - imbalance), over = max(0.0, capacity - least);
  return max(0.0, 1 - used * (capacity - over * over / (2 * (imbalance - least))));
}

// DroppedShare in words; both symbols in every form of it.
std::string_view DroppedFormula(double imbalance, double capacity) {
  if (capacity <= 0) return "min(0, capacity_factor * imbalance)";
  if (capacity >= imbalance) return "max(0, imbalance - capacity_factor)";
  if (imbalance <= 1) return "1 - capacity_factor + 0 * imbalance";
  return "max(0, 1 - min(1, 2 / imbalance) * (capacity_factor - pow(max(0, capacity_factor - max(0, 2 - imbalance)), "
         "2) / "
         "(2 * (imbalance - max(0, 2 - imbalance)))))";
}

void RouteTokens(const Model& model, const TrainingRun& run, const TrainingShape& shape, LayerWork& work,
                 Trace& trace) {
  const Moe& moe = *model.moe;
  const auto top_k = static_cast<double>(moe.top_k);
  const double imbalance = moe.imbalance.value_or(run.framework.experts.imbalance);
  const double capacity_factor = moe.capacity_factor, own_tokens = shape.sequence_parallel_tokens, ep = shape.expert;
  const double expert_tp = shape.expert_tensor;
  trace.Input("imbalance", imbalance, moe.imbalance ? "model.moe.imbalance" : "training.framework.experts.imbalance");
  FIGURE(trace, even_rows, own_tokens * top_k * expert_tp,
         (Note{"Rows of the device's experts under even routing",
               "under expert TP each rank gets the rows of the whole group"}),
         own_tokens, top_k, expert_tp);
  FIGURE(trace, rows_limit, capacity_factor + (1 - ceil(min(1.0, capacity_factor))) * imbalance,
         (Note{"Limit of an expert's rows over the mean", "its capacity; none where the capacity factor is 0"}),
         capacity_factor, imbalance);
  FIGURE(trace, routed_rows, even_rows * min(imbalance, rows_limit), (Note{"Rows of the busiest device's experts"}),
         even_rows, imbalance, rows_limit);
  const double copies = OwnersReached("copies", ep, "ep", top_k, trace);
  FIGURE(trace, dispatched_tokens, own_tokens * copies,
         (Note{"Copies of its tokens that a device sends", "one per rank that holds any of their experts"}), own_tokens,
         copies);
  work.dropped_share = DroppedShare(imbalance, capacity_factor);
  trace.Record("dropped_share", DroppedFormula(imbalance, capacity_factor), work.dropped_share,
               Note{"Share of the routed rows above the experts' capacity", "none without a capacity factor"},
               "capacity_factor, imbalance", capacity_factor, imbalance);
  work.even_rows = even_rows;
  work.routed_rows = routed_rows;
  work.dispatched_tokens = dispatched_tokens;
}

// Weights of a product, in its scope.
double ParametersOf(const LayerProduct& product, Trace& trace) {
  const double groups = product.groups, outputs = product.outputs, inputs = product.inputs;
  FIGURE_OVER_GROUPS(trace, parameters, (outputs * inputs), (Note{"Weights of the GEMM on one device"}), outputs,
                     inputs);
  return parameters;
}

// Rows of a product; binds them, and its groups, in its scope.
LayerProduct WithRows(const Model& model, const TrainingShape& shape, const MatrixProduct& product,
                      const LayerWork& work, Trace& trace) {
  switch (TraitsOf(product.id).rows) {
    case ProductRows::kTokens:
      trace.Alias("rows", shape.tokens, "tokens");
      return {product, shape.tokens};
    case ProductRows::kSequenceParallel:
      trace.Alias("rows", shape.sequence_parallel_tokens, "own_tokens");
      return {product, shape.sequence_parallel_tokens};
    case ProductRows::kRouted:
      break;
  }
  const double experts = static_cast<double>(model.moe->experts), ep = shape.expert, routed_rows = work.routed_rows;
  FIGURE(trace, groups, experts / ep, (Note{"Experts on one device"}), experts, ep);
  FIGURE(trace, rows, routed_rows / groups, (Note{"Rows of an expert", "mean over the busiest device"}), routed_rows,
         groups);
  return {product, rows, groups};
}

void AddProducts(const Model& model, const TrainingShape& shape, const LayerWidths& widths,
                 const MatrixProducts& products, LayerWork& work, Trace& trace) {
  for (const MatrixProduct& product : products) {
    const Trace::Scope scope(trace, TraitsOf(product.id).name);
    if (trace.on()) ProductOf(product.id, model, widths, trace);
    work.products.push_back(WithRows(model, shape, product, work, trace));
  }
}

// Where only some layers have an MLP, every layer is given the mean; where those have experts, the others have none.
double ShareWithMlp(const Model& model, FeedForward feed_forward, LayerWidths& widths, Trace& trace) {
  if (model.moe && model.mlp_layers > 0) {
    const double mlp_share = feed_forward == FeedForward::kExperts ? 1 : 0;
    trace.Input("mlp_share", mlp_share, "model.mlp_layers");
    widths.mlp = 0;
    trace.Input("rank_mlp", widths.mlp, "model.mlp_layers");
    return mlp_share;
  }
  const auto layers = static_cast<double>(model.layers), mlp_layers = static_cast<double>(model.mlp_layers);
  const double rank_mlp = widths.mlp;
  FIGURE(trace, with_mlp, mlp_layers + max(0.0, 1 - mlp_layers) * layers,
         (Note{"Layers with an MLP", "all where 0 are stated"}), mlp_layers, layers);
  FIGURE(trace, mlp_share, with_mlp / layers, (Note{"Share of the layers with an MLP"}), with_mlp, layers);
  FIGURE(trace, mean_mlp, rank_mlp * mlp_share,
         (Note{"Mean inner width of a layer's MLP", "on one device; every layer is given the mean"}), rank_mlp,
         mlp_share);
  widths.mlp = mean_mlp;
  trace.Alias("rank_mlp", mean_mlp, "mean_mlp");
  return mlp_share;
}

void CountLayerParameters(const Model& model, const TrainingShape& shape, LayerKind kind, const LayerWidths& widths,
                          double mlp_share, LayerWork& work, Trace& trace) {
  ListedSum<double> dense(trace), experts(trace);
  for (const LayerProduct& product : work.products) {
    const auto& [name, role, _] = TraitsOf(product.id);
    const bool is_expert = role == ProductRole::kExperts;
    const Trace::Scope scope(trace, name);
    const double parameters = ParametersOf(product, trace);
    (is_expert ? work.expert_parameters : work.dense_parameters) += parameters;
    (is_expert ? experts : dense).Add(name, parameters, 1, "parameters");
  }
  if (kind.feed_forward == FeedForward::kExperts) {
    const double all_experts = static_cast<double>(model.moe->experts), ep = shape.expert,
                 expert_biases = ExpertBiases(model, widths, trace);
    trace.Input("all_experts", all_experts, "model.moe.experts");
    FIGURE(trace, rank_biases, all_experts / ep * expert_biases,
           (Note{"Biases of the routed experts", "on one device"}), all_experts, ep, expert_biases);
    experts.Add("expert_biases", rank_biases, 1, "rank_biases");
    work.expert_parameters += rank_biases;
  }
  const double norms_per_layer = static_cast<double>(model.norms.per_layer), norm_elements = NormElements(model, trace);
  const double small_mixer = SmallElements(model, kind.mixer, widths, trace);
  const double small_mlp = SmallElements(model, kind.feed_forward, widths, trace);
  FIGURE(trace, small_parameters, small_mixer + small_mlp, (Note{"Parameters outside the GEMMs and norms"}),
         small_mixer, small_mlp);
  // A layer without an MLP has no norm for it.
  FIGURE(trace, norm_parameters, (norms_per_layer - (1 - mlp_share)) * norm_elements,
         (Note{"Weights of the norms", "with their biases, if they have them"}), norms_per_layer, mlp_share,
         norm_elements);
  dense.Add("norm_parameters", norm_parameters);
  dense.Add("small_parameters", small_parameters);
  work.dense_parameters += norm_parameters + small_mixer + small_mlp;
  dense.Record("dense_parameters", work.dense_parameters,
               {"Weights of the layer without its routed experts", "on one device"});
  experts.Record("expert_parameters", work.expert_parameters,
                 {"Weights of the layer's routed experts", "on one device"});
}

}  // namespace

double AdapterElements(const Model& model, const MatrixProducts& products, const LayerWidths& widths,
                       const Framework& framework, std::string_view symbol, Trace& trace) {
  ListedSum<double> parameters(trace);
  const auto lora_rank = static_cast<double>(framework.lora_rank);
  trace.Input("lora_rank", lora_rank, "training.framework.lora_rank");
  bool is_adapted = false;
  for (const MatrixProduct& product : products) {
    const auto& [name, role, _] = TraitsOf(product.id);
    if (!IsAdapted(framework, role)) continue;
    is_adapted = true;
    const Trace::Scope scope(trace, name);
    if (trace.on()) ProductOf(product.id, model, widths, trace);
    const double inputs = product.inputs, outputs = product.outputs;
    FIGURE(trace, adapter, lora_rank * (inputs + outputs), (Note{"Weights of the low-rank adapter"}), lora_rank, inputs,
           outputs);
    parameters.Add(name, adapter, 1, "adapter");
  }
  if (!is_adapted) trace.Input(symbol, 0.0, "training.framework.lora_targets");
  return is_adapted ? parameters.Total(symbol, Note{"Weights of the adapters of this part of a layer"}) : 0;
}

LayerWork WorkOf(const Model& model, const TrainingRun& run, const TrainingShape& shape, const Device& device,
                 LayerKind kind, Trace& trace) {
  LayerWork work;
  LayerWidths widths = WidthsOf(model, shape.tensor, shape.expert_tensor, trace);
  if (SharesKv(kind.mixer)) widths = SharedKvWidths(widths, trace);
  const bool has_adapters = run.trainable == Trainable::kLora;
  const double mlp_adapters = has_adapters
                                  ? AdapterElements(model, FeedForwardProducts(model, kind.feed_forward, widths),
                                                    widths, run.framework, "mlp_adapters", trace)
                                  : 0;
  const double mlp_share = ShareWithMlp(model, kind.feed_forward, widths, trace);
  const bool has_experts = kind.feed_forward == FeedForward::kExperts;
  work.attention = CoreWork(model, run, device, shape, kind.mixer, widths, trace);
  work.mlp_columns = has_experts ? widths.shared : widths.mlp;
  work.expert_columns = has_experts ? widths.expert : Ratio(0);
  if (has_experts) RouteTokens(model, run, shape, work, trace);
  const MatrixProducts mixer = MixerProducts(model, kind.mixer, widths);
  work.products.reserve(12);
  AddProducts(model, shape, widths, mixer, work, trace);
  const MatrixProducts feed_forward = FeedForwardProducts(model, kind.feed_forward, widths);
  AddProducts(model, shape, widths, feed_forward, work, trace);
  work.row_passes = RowPassesOf(model, kind, widths, trace);
  if (has_adapters) {
    const double mixer_adapters = AdapterElements(model, mixer, widths, run.framework, "mixer_adapters", trace);
    FIGURE(trace, adapter_parameters, mixer_adapters + mlp_share * mlp_adapters,
           (Note{"Weights of a layer's adapters", "where only some layers have an MLP, the mean"}), mixer_adapters,
           mlp_share, mlp_adapters);
    work.adapter_parameters = adapter_parameters;
  }
  CountLayerParameters(model, shape, kind, widths, mlp_share, work, trace);
  return work;
}

LayerWork WorkOf(const Model& model, const TrainingRun& run, const TrainingShape& shape, const Device& device,
                 LayerKind kind) {
  Trace off = Trace::Off();
  return WorkOf(model, run, shape, device, kind, off);
}

}  // namespace slipstick
