// Where callers that name their terms meet the numbers of this folder that remember: a name `X_are` says what the trace
// knows a number by. It goes when no caller names its terms any more.
#pragma once

#include <array>
#include <string_view>

#include "core/base/trace.h"
#include "core/workload/layer.h"
#include "core/workload/layer_counts.h"
#include "core/workload/model.h"

namespace slipstick {

// The model with the nodes of its inputs, kept as long as the trace; the model itself where that is off.
const Model& Named(const Model& model, Trace& trace);

// The functions of this folder; their results, which have no nodes, are the figures that are said here. Names: those of
// the widths.

// "active_matrices", "all_matrices", "total_parameters" and "mtp_parameters" in a scope "parameters".
ParameterCount CountParameters(const Model& model, Trace& trace);
// "attention_layers", "window_layers", "recurrent_layers", "shared_kv_layers", "shared_kv_window_layers", "mlp_layers",
// "moe_layers" and "dense_layers".
LayerCounts CountLayers(const Model& model, Trace& trace);
// "own_full_layers", "own_window_layers" and "shared_kv_full_layers".
LayersByKv SplitBySharedKv(const LayerCounts& layers, Trace& trace);
double OwnDenseLayers(const LayerCounts& layers, Trace& trace);  // "own_dense_layers"

// "rank_heads", "rank_kv_heads", "rank_mlp", … . Names: tp, expert_tp.
LayerWidths WholeWidths(const Model& model, Trace& trace);
LayerWidths WidthsOf(const Model& model, double tp, double expert_tp, Trace& trace);
LayerWidths SharedKvWidths(const LayerWidths& widths, Trace& trace);  // "rank_mlp"
// A head dimension: of a local layer, as named with the widths, or of another.
void BindHeadDim(std::string_view symbol, double head_dim, bool is_local, Trace& trace);

// "outputs" and "inputs".
MatrixProduct ProductOf(ProductId id, const Model& model, const LayerWidths& widths, Trace& trace);
// `symbol` and, if there are routed experts, "expert".
MatrixElements ElementsOf(const MatrixProducts& products, const Model& model, const LayerWidths& widths,
                          std::string_view symbol, Trace& trace);
double SmallElements(const Model& model, Mixer mixer, const LayerWidths& widths, Trace& trace);  // "small_mixer"
double SmallElements(const Model& model, FeedForward feed_forward, const LayerWidths& widths,
                     Trace& trace);                                                // "small_mlp"
double ExpertBiases(const Model& model, const LayerWidths& widths, Trace& trace);  // "expert_biases"
double NormElements(const Model& model, Trace& trace);                             // "norm_elements"
// "columns", "forward_element" and "backward_element", in a scope "element_wise" and one of the pass's name.
std::array<RowPass, kRowPasses> RowPassesOf(const Model& model, LayerKind kind, const LayerWidths& widths,
                                            Trace& trace);
double NormsBeforeAdditions(const Model& model, Trace& trace);  // "own_norms"
double IndexShare(const Model& model, Trace& trace);            // "index_share"
double HeavyShare(const Model& model, Trace& trace);            // "heavy_share"
// "all_keys" and "causal_keys". Names: attended.
CompressedKeys KeysOfCompressed(const Model& model, double attended, Trace& trace);
double LayerRows(const Model& model, Trace& trace);    // "layer_rows"
double RoutedWidth(const Model& model, Trace& trace);  // "routed_width"
// "query_heads", "core_kv_heads", "query_width", "value_width" and "core_columns".
MixerCore CoreOf(const Model& model, Mixer mixer, const LayerWidths& widths, Trace& trace);

// Of exchanges.h. The bytes are the figure "residual_bytes".
Bytes ResidualBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace);
Bytes SentBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace);
Bytes RoutedBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace);

// The figures "query_bytes" and "kv_bytes". Names: those of CoreOf.
Bytes QueryBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace);
Bytes KeyValueBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace);

// The figure `symbol`. Names: top_k.
double OwnersReached(std::string_view symbol, double owners, std::string_view owners_are, double top_k, Trace& trace);

}  // namespace slipstick
