// Where callers that name their terms meet the numbers of this folder that remember: a name `X_are` says what the trace
// knows a number by. It goes when no caller names its terms any more.
#pragma once

#include <string_view>

#include "core/base/trace.h"
#include "core/workload/layer.h"
#include "core/workload/model.h"

namespace slipstick {

// Of exchanges.h. The bytes are the figure "residual_bytes".
Bytes ResidualBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace);
Bytes SentBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace);
Bytes RoutedBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace);

// The figures "query_bytes" and "kv_bytes". Names: those that CoreOf binds.
Bytes QueryBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace);
Bytes KeyValueBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace);

// The figure `symbol`. Names: top_k.
double OwnersReached(std::string_view symbol, double owners, std::string_view owners_are, double top_k, Trace& trace);

}  // namespace slipstick
