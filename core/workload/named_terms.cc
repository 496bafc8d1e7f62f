#include "core/workload/named_terms.h"

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "core/base/bind_inputs.h"
#include "core/workload/exchanges.h"

namespace slipstick {
namespace {

// What the node of a value stands for is what the name stands for from here on.
template <class Q>
Q Known(std::string_view symbol, Q value, Trace& trace) {
  trace.Alias(symbol, value, "the node of " + std::string(symbol));
  return value;
}

// A result that has no node, of which the caller knows the name.
template <class Q>
Q WithoutNode(std::string_view symbol, Q value, Trace& trace) {
  return Q::FromBase(Known(symbol, value, trace).base());
}

constexpr std::pair<std::string_view, Ratio LayerWidths::*> kWidths[] = {
    {"rank_heads", &LayerWidths::heads},
    {"rank_kv_heads", &LayerWidths::kv_heads},
    {"rank_window_kv_heads", &LayerWidths::window_kv_heads},
    {"rank_mlp", &LayerWidths::mlp},
    {"rank_shared", &LayerWidths::shared},
    {"rank_expert", &LayerWidths::expert},
    {"rank_shared_kv_mlp", &LayerWidths::shared_kv_mlp},
    {"rank_layer_inputs", &LayerWidths::layer_inputs},
    {"recurrent_heads", &LayerWidths::recurrent_heads},
    {"recurrent_key_heads", &LayerWidths::recurrent_key_heads},
    {"recurrent_inner", &LayerWidths::recurrent_inner},
    {"recurrent_columns", &LayerWidths::recurrent_columns},
    {"rank_vocab", &LayerWidths::vocab}};

void NameWidths(const Model& named, const LayerWidths& widths, Trace& trace) {
  for (const auto& [symbol, width] : kWidths) Known(symbol, widths.*width, trace);
  if (named.HasWindows()) Known("window_head_dim", named.WindowHeadDim(), trace);
}

LayerWidths Carried(LayerWidths widths, Trace& trace) {
  for (const auto& [symbol, width] : kWidths) widths.*width = trace.Carry(symbol, widths.*width);
  return widths;
}

}  // namespace

const Model& Named(const Model& model, Trace& trace) {
  if (!trace.on()) return model;
  std::deque<Model>& known =
      trace.Kept<std::deque<Model>>("models", [] { return std::make_shared<std::deque<Model>>(); });
  for (const Model& one : known) {
    if (one == model) return one;
  }
  Model& named = known.emplace_back(model);
  BindInputs(named, "model", trace);
  return named;
}

ParameterCount CountParameters(const Model& model, Trace& trace) {
  const ParameterCount plain = CountParameters(model);
  if (!trace.on()) return plain;
  const Trace::Scope scope(trace, "parameters");
  const ParameterCount count = CountParameters(Named(model, trace));
  Known("all_matrices", count.matrices, trace);
  Known("active_matrices", count.active_matrices, trace);
  Known("total_parameters", count.total, trace);
  Known("mtp_parameters", count.mtp, trace);
  return plain;
}

LayerCounts CountLayers(const Model& model, Trace& trace) {
  const LayerCounts plain = CountLayers(model);
  if (!trace.on()) return plain;
  const Model& named = Named(model, trace);
  const LayerCounts counts = CountLayers(named);
  Known("layers", Ratio(named.layers), trace);
  Known("recurrent_layers", counts.recurrent, trace);
  Known("attention_layers", counts.attention, trace);
  Known("window_layers", counts.window, trace);
  Known("shared_kv_layers", counts.shared_kv, trace);
  Known("shared_kv_window_layers", counts.shared_kv_window, trace);
  Known("mlp_layers", counts.moe + counts.dense, trace);
  Known("moe_layers", counts.moe, trace);
  Known("dense_layers", counts.dense, trace);
  return plain;
}

LayersByKv SplitBySharedKv(const LayerCounts& layers, Trace& trace) {
  LayerCounts named = layers;
  named.attention = trace.Carry("attention_layers", layers.attention);
  named.window = trace.Carry("window_layers", layers.window);
  named.shared_kv = trace.Carry("shared_kv_layers", layers.shared_kv);
  named.shared_kv_window = trace.Carry("shared_kv_window_layers", layers.shared_kv_window);
  const LayersByKv by_kv = SplitBySharedKv(named);
  return {WithoutNode("own_full_layers", by_kv.own_full, trace),
          WithoutNode("own_window_layers", by_kv.own_window, trace),
          WithoutNode("shared_kv_full_layers", by_kv.shared_full, trace)};
}

double OwnDenseLayers(const LayerCounts& layers, Trace& trace) {
  LayerCounts named = layers;
  named.dense = trace.Carry("dense_layers", layers.dense);
  named.shared_kv = trace.Carry("shared_kv_layers", layers.shared_kv);
  return Known("own_dense_layers", OwnDenseLayers(named), trace);
}

LayerWidths WholeWidths(const Model& model, Trace& trace) {
  if (trace.on()) NameWidths(Named(model, trace), WholeWidths(Named(model, trace)), trace);
  return WholeWidths(model);
}

LayerWidths WidthsOf(const Model& model, double tp, double expert_tp, Trace& trace) {
  if (trace.on()) {
    const Model& named = Named(model, trace);
    const Ratio expert_ranks = trace.Carry("expert_tp", Ratio(expert_tp));
    NameWidths(named, WidthsOf(named, trace.Carry("tp", Ratio(tp)), expert_ranks), trace);
  }
  return WidthsOf(model, tp, expert_tp);
}

LayerWidths SharedKvWidths(const LayerWidths& widths, Trace& trace) {
  trace.Alias("rank_mlp", widths.shared_kv_mlp, "rank_shared_kv_mlp");
  return SharedKvWidths(widths);
}

void BindHeadDim(std::string_view symbol, double head_dim, bool is_local, Trace& trace) {
  is_local ? trace.Alias(symbol, head_dim, "window_head_dim") : trace.Input(symbol, head_dim, "model.head_dim");
}

MatrixProduct ProductOf(ProductId id, const Model& model, const LayerWidths& widths, Trace& trace) {
  if (!trace.on()) return ProductOf(id, model, widths);
  const MatrixProduct product = ProductOf(id, Named(model, trace), Carried(widths, trace));
  return {id, WithoutNode("outputs", product.outputs, trace), WithoutNode("inputs", product.inputs, trace)};
}

MatrixElements ElementsOf(const MatrixProducts& products, const Model& model, const LayerWidths& widths,
                          std::string_view symbol, Trace& trace) {
  const MatrixElements plain = ElementsOf(products);
  if (!trace.on()) return plain;
  MatrixProducts named;
  const LayerWidths carried = Carried(widths, trace);
  for (const MatrixProduct& product : products) named.Add(ProductOf(product.id, Named(model, trace), carried));
  const MatrixElements elements = ElementsOf(named);
  Known(symbol, elements.all_tokens, trace);
  Known("expert", elements.expert, trace);
  return plain;
}

double SmallElements(const Model& model, Mixer mixer, const LayerWidths& widths, Trace& trace) {
  return Known("small_mixer", SmallElements(Named(model, trace), mixer, Carried(widths, trace)), trace);
}

double SmallElements(const Model& model, FeedForward feed_forward, const LayerWidths& widths, Trace& trace) {
  return Known("small_mlp", SmallElements(Named(model, trace), feed_forward, Carried(widths, trace)), trace);
}

double ExpertBiases(const Model& model, const LayerWidths& widths, Trace& trace) {
  return Known("expert_biases", ExpertBiases(Named(model, trace), Carried(widths, trace)), trace);
}

double NormElements(const Model& model, Trace& trace) {
  return Known("norm_elements", NormElements(Named(model, trace)), trace);
}

std::array<RowPass, kRowPasses> RowPassesOf(const Model& model, LayerKind kind, const LayerWidths& widths,
                                            Trace& trace) {
  if (!trace.on()) return RowPassesOf(model, kind, widths);
  const Trace::Scope scope(trace, "element_wise");
  const auto bytes = [&trace](const RowPass& pass, std::string_view symbol, Ratio element) {
    if (element.node() == nullptr)
      trace.Constant(symbol, element, "element_wise." + std::string(pass.name),
                     "operands in 16 bits, each read or written once");
    return WithoutNode(symbol, element, trace);
  };
  std::array<RowPass, kRowPasses> passes = RowPassesOf(Named(model, trace), kind, Carried(widths, trace));
  for (RowPass& pass : passes) {
    const Trace::Scope pass_scope(trace, pass.name);
    pass.columns = WithoutNode("columns", pass.columns, trace);
    pass.forward = bytes(pass, "forward_element", pass.forward);
    pass.backward = bytes(pass, "backward_element", pass.backward);
  }
  return passes;
}

double NormsBeforeAdditions(const Model& model, Trace& trace) {
  return Known("own_norms", NormsBeforeAdditions(Named(model, trace)), trace);
}

double IndexShare(const Model& model, Trace& trace) {
  return Known("index_share", IndexShare(Named(model, trace)), trace);
}

double HeavyShare(const Model& model, Trace& trace) {
  return Known("heavy_share", HeavyShare(Named(model, trace)), trace);
}

CompressedKeys KeysOfCompressed(const Model& model, double attended, Trace& trace) {
  const CompressedKeys keys = KeysOfCompressed(Named(model, trace), trace.Carry("attended", Ratio(attended)));
  return {WithoutNode("all_keys", keys.all, trace), WithoutNode("causal_keys", keys.causal, trace)};
}

double LayerRows(const Model& model, Trace& trace) {
  return Known("layer_rows", LayerRows(Named(model, trace)), trace);
}

double RoutedWidth(const Model& model, Trace& trace) {
  return Known("routed_width", RoutedWidth(Named(model, trace)), trace);
}

MixerCore CoreOf(const Model& model, Mixer mixer, const LayerWidths& widths, Trace& trace) {
  if (!trace.on()) return CoreOf(model, mixer, widths);
  const MixerCore core = CoreOf(Named(model, trace), mixer, Carried(widths, trace));
  return {WithoutNode("query_heads", core.heads, trace), WithoutNode("core_kv_heads", core.kv_heads, trace),
          WithoutNode("query_width", core.query_width, trace), WithoutNode("value_width", core.value_width, trace),
          WithoutNode("core_columns", core.columns, trace)};
}

Bytes ResidualBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace) {
  const Ratio hidden = Named(model, trace).hidden;
  return Known("residual_bytes", ResidualBytes(trace.Carry(rows_are, Ratio(rows)), hidden), trace);
}

Bytes SentBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace) {
  const Model& named = Named(model, trace);
  const Ratio streams = named.compressed ? Ratio(named.compressed->streams) : Ratio(1);
  return Known("residual_bytes", SentBytes(trace.Carry(rows_are, Ratio(rows)), streams, named.hidden), trace);
}

Bytes RoutedBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace) {
  const Ratio routed_width = RoutedWidth(Named(model, trace));
  return Known("residual_bytes", RoutedBytes(trace.Carry(rows_are, Ratio(rows)), routed_width), trace);
}

Bytes QueryBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace) {
  return Known("query_bytes",
               QueryBytes(trace.Carry(tokens_are, Ratio(tokens)), trace.Carry("query_heads", core.heads),
                          trace.Carry("query_width", core.query_width)),
               trace);
}

Bytes KeyValueBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace) {
  return Known(
      "kv_bytes",
      KeyValueBytes(trace.Carry(tokens_are, Ratio(tokens)), trace.Carry("core_kv_heads", core.kv_heads),
                    trace.Carry("query_width", core.query_width), trace.Carry("value_width", core.value_width)),
      trace);
}

double OwnersReached(std::string_view symbol, double owners, std::string_view owners_are, double top_k, Trace& trace) {
  return Known(symbol, OwnersReached(trace.Carry(owners_are, Ratio(owners)), trace.Carry("top_k", Ratio(top_k))),
               trace);
}

}  // namespace slipstick
