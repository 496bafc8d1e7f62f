// Data that the devices of a layer exchange: amounts and formats. Training and serving choose the collectives and time
// them.
#pragma once

#include "core/base/quantity.h"
#include "core/workload/precision.h"

namespace slipstick {

// Rows of the residual stream, in 16 bit, which are summed over the TP ranks or sent to the ranks of their experts.
Bytes ResidualBytes(Ratio rows, Ratio hidden);
// Bytes that a pipeline stage sends: all residual streams.
Bytes SentBytes(Ratio rows, Ratio streams, Ratio hidden);
// Rows of routed experts, which may be narrower (latent experts).
Bytes RoutedBytes(Ratio rows, Ratio routed_width);

// Context parallelism, in 16 bit; widths are per head.
Bytes QueryBytes(Ratio tokens, Ratio heads, Ratio query_width);
Bytes KeyValueBytes(Ratio tokens, Ratio kv_heads, Ratio query_width, Ratio value_width);

// Expected number of owners (ranks or nodes) that hold at least one of a token's top_k experts, if experts are spread
// evenly; each of these is sent one copy of the token.
Ratio OwnersReached(Ratio owners, Ratio top_k);

// Bytes per element of a token sent to experts that compute in `format`, including scales. The experts' results return
// in 16 bit.
double DispatchedElement(Precision format);

}  // namespace slipstick
