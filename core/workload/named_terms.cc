#include "core/workload/named_terms.h"

#include "core/base/bind_inputs.h"
#include "core/workload/exchanges.h"

namespace slipstick {
namespace {

// What the node of a value stands for is what the name stands for from here on.
template <class Q>
Q Named(std::string_view symbol, Q value, Trace& trace) {
  trace.Alias(symbol, value, "the node of " + std::string(symbol));
  return value;
}

Ratio HiddenOf(const Model& model, Trace& trace) {
  Ratio hidden(model.hidden);
  BindInputs(hidden, "model.hidden", trace);
  return hidden;
}

}  // namespace

Bytes ResidualBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace) {
  return Named("residual_bytes", ResidualBytes(trace.Carry(rows_are, Ratio(rows)), HiddenOf(model, trace)), trace);
}

Bytes SentBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace) {
  Ratio streams = 1;
  if (model.compressed) {
    streams = model.compressed->streams;
    BindInputs(streams, "model.compressed.streams", trace);
  }
  return Named("residual_bytes", SentBytes(trace.Carry(rows_are, Ratio(rows)), streams, HiddenOf(model, trace)), trace);
}

Bytes RoutedBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace) {
  const Ratio routed_width = trace.Carry("routed_width", Ratio(RoutedWidth(model, trace)));
  return Named("residual_bytes", RoutedBytes(trace.Carry(rows_are, Ratio(rows)), routed_width), trace);
}

Bytes QueryBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace) {
  return Named("query_bytes",
               QueryBytes(trace.Carry(tokens_are, Ratio(tokens)), trace.Carry("query_heads", Ratio(core.heads)),
                          trace.Carry("query_width", Ratio(core.query_width))),
               trace);
}

Bytes KeyValueBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace) {
  return Named("kv_bytes",
               KeyValueBytes(trace.Carry(tokens_are, Ratio(tokens)), trace.Carry("core_kv_heads", Ratio(core.kv_heads)),
                             trace.Carry("query_width", Ratio(core.query_width)),
                             trace.Carry("value_width", Ratio(core.value_width))),
               trace);
}

double OwnersReached(std::string_view symbol, double owners, std::string_view owners_are, double top_k, Trace& trace) {
  return Named(symbol, OwnersReached(trace.Carry(owners_are, Ratio(owners)), trace.Carry("top_k", Ratio(top_k))),
               trace);
}

}  // namespace slipstick
