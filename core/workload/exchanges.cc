#include "core/workload/exchanges.h"

#include "core/base/figure.h"
#include "core/base/units.h"

namespace slipstick {

Bytes ResidualBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace) {
  const double hidden = static_cast<double>(model.hidden), sent_rows = rows;
  trace.Alias("sent_rows", sent_rows, rows_are);
  FIGURE(trace, residual_bytes, sent_rows * hidden * 2 * kB, (Note{"Rows of the residual stream", "in 16 bit"}),
         sent_rows, hidden);
  return residual_bytes;
}

Bytes SentBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace) {
  if (!model.compressed) return ResidualBytes(model, rows, rows_are, trace);
  const double hidden = static_cast<double>(model.hidden), sent_rows = rows,
               streams = static_cast<double>(model.compressed->streams);
  trace.Alias("sent_rows", sent_rows, rows_are);
  trace.Input("streams", streams, "model.compressed.streams");
  FIGURE(trace, residual_bytes, sent_rows * streams * hidden * 2 * kB,
         (Note{"Rows of all residual streams", "in 16 bit"}), sent_rows, streams, hidden);
  return residual_bytes;
}

Bytes RoutedBytes(const Model& model, double rows, std::string_view rows_are, Trace& trace) {
  const double routed_width = RoutedWidth(model, trace), sent_rows = rows;
  trace.Alias("sent_rows", sent_rows, rows_are);
  FIGURE(trace, residual_bytes, sent_rows * routed_width * 2 * kB, (Note{"Rows for the experts", "in 16 bit"}),
         sent_rows, routed_width);
  return residual_bytes;
}

Bytes QueryBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace) {
  const double sent_tokens = tokens, query_heads = core.heads, query_width = core.query_width;
  trace.Alias("sent_tokens", sent_tokens, tokens_are);
  FIGURE(trace, query_bytes, sent_tokens * query_heads * query_width * 2 * kB, (Note{"Queries", "in 16 bit"}),
         sent_tokens, query_heads, query_width);
  return query_bytes;
}

Bytes KeyValueBytes(const MixerCore& core, double tokens, std::string_view tokens_are, Trace& trace) {
  const double sent_tokens = tokens, core_kv_heads = core.kv_heads, query_width = core.query_width,
               value_width = core.value_width;
  trace.Alias("sent_tokens", sent_tokens, tokens_are);
  FIGURE(trace, kv_bytes, sent_tokens * (core_kv_heads * (query_width + value_width)) * 2 * kB,
         (Note{"Keys and values", "in 16 bit"}), sent_tokens, core_kv_heads, query_width, value_width);
  return kv_bytes;
}

Ratio OwnersReached(Ratio owners, Ratio top_k) {
  return Figure("Owners that hold an expert of a token", owners * (1 - pow(1 - 1 / owners, top_k)),
                "with experts spread evenly");
}

double OwnersReached(std::string_view symbol, double owners, std::string_view owners_are, double top_k, Trace& trace) {
  const double reached = OwnersReached(owners, top_k);
  trace.Alias("owners", owners, owners_are);
  trace.Record(symbol, "owners * (1 - pow(1 - 1 / owners, top_k))", reached,
               Note{"Owners that hold an expert of a token", "with experts spread evenly"}, "owners, top_k", owners,
               top_k);
  return reached;
}

double DispatchedElement(Precision format) {
  return format == Precision::kFp8 ? 1 + kFp32BlockScale : min(2.0, BytesPerElement(format));
}

}  // namespace slipstick
