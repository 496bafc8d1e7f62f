// What the devices of a layer send each other: how much, in which format. Training and serving choose the collectives
// and time them.
#pragma once

#include "core/base/quantity.h"
#include "core/workload/precision.h"

namespace slipstick {

// Rows of the residual stream, in 16 bit: summed over the TP ranks, or sent to the ranks of their experts.
Bytes ResidualBytes(Ratio rows, Ratio hidden);
// What a pipeline stage sends: every residual stream.
Bytes SentBytes(Ratio rows, Ratio streams, Ratio hidden);
// Rows of routed experts, which may be narrower (latent experts).
Bytes RoutedBytes(Ratio rows, Ratio routed_width);

// Context parallelism, in 16 bit: widths are those of a head.
Bytes QueryBytes(Ratio tokens, Ratio heads, Ratio query_width);
Bytes KeyValueBytes(Ratio tokens, Ratio kv_heads, Ratio query_width, Ratio value_width);

// Expected number of owners (ranks or nodes) that hold at least one of a token's top_k experts, with experts spread
// evenly: each is sent one copy of the token.
Ratio OwnersReached(Ratio owners, Ratio top_k);

// Bytes per element of a token that is sent to experts that compute in `format`, with its scales. Their results return
// in 16 bit.
double DispatchedElement(Precision format);

}  // namespace slipstick
