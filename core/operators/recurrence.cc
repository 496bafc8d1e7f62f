#include "core/operators/recurrence.h"

#include "core/operators/efficiency.h"
#include "core/workload/layer.h"

namespace slipstick {

KernelTime TimeOf(const Recurrence& layer, const Device& device, Trace& trace) {
  constexpr double kShareOfPeak = 0.4, kShareOfVector = 0.3;
  const double rows = layer.rows, heads = layer.heads, columns = layer.columns, inner = layer.inner;
  const Seconds launch = *device.efficiency.launch_latency;
  const BytesPerSecond bandwidth = device.memory.bandwidth;
  const double bandwidth_efficiency = *device.efficiency.bandwidth_efficiency;
  trace.Input("launch", launch, "cluster.device.efficiency.launch");
  trace.Input("bandwidth_efficiency", bandwidth_efficiency, "cluster.device.efficiency.stream");
  const Bytes element = 2.0 * kB;
  // Channel-wise recurrences have no GEMMs: they run on the vector units, six operations per state and token.
  const bool by_channel = layer.layer.kind == LinearAttentionKind::kMamba;
  const FlopsPerSecond rate =
      by_channel ? kShareOfVector * PeakRate(device, Precision::kFp32) : kShareOfPeak * PeakRate(device, Precision::kBf16);
  const Flops pair = 2 * kFlop;
  const double pairs_per_head = RecurrencePairs(layer.layer, layer.tokens);
  FIGURE(trace, recurrence_flops, pair * rows * heads * pairs_per_head,
         (Note{"FLOPs of the recurrence", "each token with its chunk of 128 tokens and with the state; channel-wise: with the state",
               "Dao and Gu 2024, arXiv 2405.21060"}),
         pair, rows, heads, pairs_per_head);
  FIGURE(trace, recurrence_bytes, rows * (columns + inner) * element, (Note{"Bytes of the recurrence", "read and written once"}), rows,
         columns, inner, element);
  FIGURE(trace, recurrence, 3 * launch + norm(recurrence_flops / rate, recurrence_bytes / (bandwidth * bandwidth_efficiency), 3),
         (Note{"Recurrence per layer", "three kernels (convolution, chunks, states) at 0.4 of the GEMM peak; estimate"}), launch,
         recurrence_flops, rate, recurrence_bytes, bandwidth, bandwidth_efficiency);
  KernelTime kernel;
  kernel.time = recurrence;
  kernel.compute = recurrence_flops / rate;
  kernel.memory = recurrence_bytes / (bandwidth * bandwidth_efficiency);
  kernel.flops = recurrence_flops;
  kernel.bytes = recurrence_bytes;
  kernel.bound = 6 * launch > recurrence ? Bound::kLatency : kernel.compute > kernel.memory ? Bound::kCompute : Bound::kMemory;
  return kernel;
}

}  // namespace slipstick
