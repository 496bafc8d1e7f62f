#include "core/operators/recurrence.h"

#include "core/base/figure.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kSource = "Dao and Gu 2024, arXiv 2405.21060";

Ratio PairsPerHead(const Recurrence& layer) {
  const Ratio with_state = layer.head_dim * layer.state;
  return Figure(
      "Multiply-adds per token and head",
      layer.by_channel ? 3 * with_state : min(layer.tokens, 128) * (layer.state + layer.head_dim) + 2 * with_state,
      "within a chunk of 128 tokens, and with the state", kSource);
}

}  // namespace

KernelTime TimeOf(const Recurrence& layer, const Device& device) {
  const RecurrenceTable& table = device.architecture->recurrence;
  const Seconds launch = *device.efficiency.launch_latency;
  const Stream stream = SlowestStream(device);
  // Channel-wise recurrences have no GEMMs: they run on the vector units, six operations per state and token.
  const FlopsPerSecond rate = Figure("Rate of the recurrence",
                                     (layer.by_channel ? table.vector_efficiency : table.gemm_efficiency) *
                                         PeakRate(device, layer.by_channel ? Precision::kFp32 : Precision::kBf16),
                                     "of GEMMs, or of the vector units; estimate");
  KernelTime kernel;
  kernel.flops =
      Figure("FLOPs of the recurrence", 2 * kFlop * layer.rows * layer.heads * PairsPerHead(layer),
             "each token with its chunk of 128 tokens and with the state; channel-wise: with the state", kSource);
  kernel.bytes =
      Figure("Bytes of the recurrence", layer.rows * (layer.columns + layer.inner) * 2 * kB, "read and written once");
  kernel.compute = kernel.flops / rate;
  kernel.memory = kernel.bytes / (stream.bandwidth * *device.efficiency.bandwidth_efficiency);
  kernel.time = Figure("Recurrence per layer", 3 * launch + norm(kernel.compute, kernel.memory, table.overlap),
                       "three kernels (convolution, chunks, states); estimate");
  kernel.bound = 6 * launch > kernel.time         ? Bound::kLatency
                 : kernel.compute > kernel.memory ? Bound::kCompute
                                                  : stream.bound;
  return kernel;
}

}  // namespace slipstick
