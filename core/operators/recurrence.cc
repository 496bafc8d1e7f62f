#include "core/operators/recurrence.h"

#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/workload/layer.h"

namespace slipstick {

namespace {

// Multiply-adds per token and head.
double PairsPerHead(const Recurrence& layer, Trace& trace) {
  const double pairs = RecurrencePairs(layer.layer, layer.tokens);
  if (!trace.on()) return pairs;
  const auto head_dim = static_cast<double>(layer.layer.head_dim), state = static_cast<double>(layer.layer.state);
  const double tokens = layer.tokens;
  constexpr Note kNote{"Multiply-adds per token and head", "within a chunk of 128 tokens, and with the state",
                       "Dao and Gu 2024, arXiv 2405.21060"};
  trace.Input("head_dim", head_dim, "model.linear.head_dim");
  trace.Input("state", state, "model.linear.state");
  if (layer.layer.kind == LinearAttentionKind::kMamba) {
    trace.Record("pairs_per_head", "3 * head_dim * state", pairs, kNote, "head_dim, state", head_dim, state);
  } else {
    trace.Record("pairs_per_head", "min(tokens, 128) * (state + head_dim) + 2 * head_dim * state", pairs, kNote,
                 "tokens, state, head_dim", tokens, state, head_dim);
  }
  return pairs;
}

}  // namespace

KernelTime TimeOf(const Recurrence& layer, const Device& device, Trace& trace) {
  const RecurrenceTable& table = device.architecture->recurrence;
  const double rows = layer.rows, recurrent_heads = layer.heads, recurrent_columns = layer.columns,
               recurrent_inner = layer.inner;
  const Seconds launch = *device.efficiency.launch_latency;
  const Stream stream = SlowestStream(device, trace);
  const BytesPerSecond bandwidth = stream.bandwidth;
  const double bandwidth_efficiency = *device.efficiency.bandwidth_efficiency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("bandwidth_efficiency", bandwidth_efficiency, "cluster.device.efficiency.stream");
  // Channel-wise recurrences have no GEMMs: they run on the vector units, six operations per state and token.
  const bool by_channel = layer.layer.kind == LinearAttentionKind::kMamba;
  const FlopsPerSecond peak_rate = PeakRate(device, by_channel ? Precision::kFp32 : Precision::kBf16, trace);
  const double peak_share = by_channel ? table.vector_efficiency : table.gemm_efficiency, overlap = table.overlap;
  CONSTANTS(trace, KernelTable(device, "recurrence"), table.source, peak_share, overlap);
  FIGURE(trace, rate, peak_share * peak_rate,
         (Note{"Rate of the recurrence", "of GEMMs, or of the vector units; estimate"}), peak_share, peak_rate);
  const double pairs_per_head = PairsPerHead(layer, trace);
  FIGURE(trace, recurrence_flops, 2 * kFlop * rows * recurrent_heads * pairs_per_head,
         (Note{"FLOPs of the recurrence",
               "each token with its chunk of 128 tokens and with the state; channel-wise: with the state",
               "Dao and Gu 2024, arXiv 2405.21060"}),
         rows, recurrent_heads, pairs_per_head);
  FIGURE(trace, recurrence_bytes, rows * (recurrent_columns + recurrent_inner) * 2 * kB,
         (Note{"Bytes of the recurrence", "read and written once"}), rows, recurrent_columns, recurrent_inner);
  FIGURE(trace, recurrence,
         3 * launch + norm(recurrence_flops / rate, recurrence_bytes / (bandwidth * bandwidth_efficiency), overlap),
         (Note{"Recurrence per layer", "three kernels (convolution, chunks, states) ; estimate"}), launch,
         recurrence_flops, rate, recurrence_bytes, bandwidth, bandwidth_efficiency, overlap);
  trace.Alias("flops", recurrence_flops, "recurrence_flops");
  trace.Alias("bytes", recurrence_bytes, "recurrence_bytes");
  KernelTime kernel;
  kernel.time = recurrence;
  kernel.compute = recurrence_flops / rate;
  kernel.memory = recurrence_bytes / (bandwidth * bandwidth_efficiency);
  kernel.flops = recurrence_flops;
  kernel.bytes = recurrence_bytes;
  kernel.bound = 6 * launch > recurrence          ? Bound::kLatency
                 : kernel.compute > kernel.memory ? Bound::kCompute
                                                  : stream.bound;
  return kernel;
}

}  // namespace slipstick
