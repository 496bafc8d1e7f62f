// What the devices of a layer send each other: how much, in which format. Training and serving choose the collectives
// and time them.
#pragma once

#include <string_view>

#include "core/base/trace.h"
#include "core/workload/layer.h"
#include "core/workload/model.h"
#include "core/workload/precision.h"

namespace slipstick {

// Rows of the residual stream, in 16 bit: summed over the TP ranks, sent to the next pipeline stage or to the ranks of
// their experts. `rows_are`: the figure of the rows. Recorded as residual_bytes.
Bytes ResidualBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace);
// What a pipeline stage sends: every residual stream. Recorded as residual_bytes.
Bytes SentBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace);
// Likewise for rows of routed experts, which may be narrower (latent experts).
Bytes RoutedBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace);

// Context parallelism, in 16 bit: queries, recorded as query_bytes; keys and values, as kv_bytes. Of `tokens` tokens,
// at the widths that CoreOf binds.
Bytes QueryBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace);
Bytes KeyValueBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace);

// Expected number of owners (ranks or nodes) that hold at least one of a token's top_k experts, with experts spread
// evenly: each is sent one copy of the token.
Ratio OwnersReached(Ratio owners, Ratio top_k);
// The same, recorded as the figure `symbol`.
double OwnersReached(std::string_view symbol, double owners, std::string_view owners_are, double top_k, Trace& trace);

// Bytes per element of a token that is sent to experts that compute in `format`, with its scales. Their results return
// in 16 bit.
double DispatchedElement(Precision format);

}  // namespace slipstick
