#include "core/operators/recurrence.h"

#include "core/operators/efficiency.h"
#include "core/workload/layer.h"

namespace slipstick {

KernelTime TimeOf(const Recurrence& layer, const Device& device, Trace& trace) {
  constexpr double kShareOfPeak = 0.4, kShareOfVector = 0.3;
  const double rows = layer.rows, heads = layer.heads, columns = layer.columns, inner = layer.inner;
  const Seconds launch = *device.efficiency.launch_latency;
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  const double stream = *device.efficiency.bandwidth_efficiency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("stream", stream, "cluster.device.efficiency.stream");
  const Bytes element = 2.0 * kB;
  // Channel by channel there are no products: the recurrence runs on the ordinary units, six operations a state and token.
  const bool by_channel = layer.layer.kind == LinearAttentionKind::kMamba;
  const FlopsPerSecond rate =
      by_channel ? kShareOfVector * PeakRate(device, Precision::kFp32) : kShareOfPeak * PeakRate(device, Precision::kBf16);
  const Flops pair = 2 * kFlop;
  const double pairs_a_head = RecurrencePairs(layer.layer, layer.tokens);
  FIGURE(trace, recurrence_flops, pair * rows * heads * pairs_a_head,
         (Note{"Arithmetic of the recurrence", "a token with those of its chunk of 128, and with the state; of channels: with the state",
               "Dao and Gu 2024, arXiv 2405.21060"}),
         pair, rows, heads, pairs_a_head);
  FIGURE(trace, recurrence_bytes, rows * (columns + inner) * element, (Note{"Data of the recurrence", "read and written once"}), rows,
         columns, inner, element);
  FIGURE(trace, recurrence, 3 * launch + norm(recurrence_flops / rate, recurrence_bytes / (bandwidth * stream), 3),
         (Note{"Recurrence of a layer", "convolution, chunks and states in three kernels, at 0.4 of the matrix rate; estimate"}), launch,
         recurrence_flops, rate, recurrence_bytes, bandwidth, stream);
  KernelTime kernel;
  kernel.time = recurrence;
  kernel.compute = recurrence_flops / rate;
  kernel.memory = recurrence_bytes / (bandwidth * stream);
  kernel.flops = recurrence_flops;
  kernel.bytes = recurrence_bytes;
  kernel.bound = 6 * launch > recurrence ? Bound::kLatency : kernel.compute > kernel.memory ? Bound::kCompute : Bound::kMemory;
  return kernel;
}

}  // namespace slipstick
