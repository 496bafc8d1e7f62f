#include "core/workload/exchanges.h"

#include "core/base/figure.h"
#include "core/base/units.h"

namespace slipstick {

Bytes ResidualBytes(Ratio rows, Ratio hidden) {
  return Figure("Rows of the residual stream", rows * hidden * 2 * kB, "in 16 bit");
}

Bytes SentBytes(Ratio rows, Ratio streams, Ratio hidden) {
  return Figure("Rows of all residual streams", rows * streams * hidden * 2 * kB, "in 16 bit");
}

Bytes RoutedBytes(Ratio rows, Ratio routed_width) {
  return Figure("Rows for the experts", rows * routed_width * 2 * kB, "in 16 bit");
}

Bytes QueryBytes(Ratio tokens, Ratio heads, Ratio query_width) {
  return Figure("Queries", tokens * heads * query_width * 2 * kB, "in 16 bit");
}

Bytes KeyValueBytes(Ratio tokens, Ratio kv_heads, Ratio query_width, Ratio value_width) {
  return Figure("Keys and values", tokens * (kv_heads * (query_width + value_width)) * 2 * kB, "in 16 bit");
}

Ratio OwnersReached(Ratio owners, Ratio top_k) {
  return Figure("Owners that hold an expert of a token", owners * (1 - pow(1 - 1 / owners, top_k)),
                "with experts spread evenly");
}

double DispatchedElement(Precision format) {
  return format == Precision::kFp8 ? 1 + kFp32BlockScale : min(2.0, BytesPerElement(format));
}

}  // namespace slipstick
