#include "core/training_stage/element_wise.h"

#include "core/base/figure.h"
#include "core/operators/efficiency.h"
#include "core/training_stage/state_bytes.h"
#include "core/workload/layer.h"

namespace slipstick {
namespace {

// Memory traffic of an elementwise pass.
struct PassTraffic {
  Bytes forward, backward;
};
PassTraffic TrafficOf(const TrainingContext& context, const LayerWork& work, const RowPass& pass) {
  const Ratio rows = pass.rows == ProductRows::kTokens             ? context.shape.tokens
                     : pass.rows == ProductRows::kSequenceParallel ? context.shape.sequence_parallel_tokens
                                                                   : work.routed_rows;
  const Ratio hidden = context.model.hidden, widths = pass.columns / hidden;
  return {Figure("Memory traffic of the pass, forward", rows * widths * hidden * (pass.forward * kB),
                 "each operand once", kElementwiseSource),
          Figure("Memory traffic of the pass, backward", rows * widths * hidden * (pass.backward * kB), "",
                 kElementwiseSource)};
}

// Bytes per element that unfused kernels move for the biases of experts in 16 bits, with a clamped activation, counted
// in NVIDIA/Megatron-LM, megatron/core/transformer/moe/experts.py and fusions/fused_bias_geglu.py: between the two
// GEMMs both halves are clamped and concatenated (8 passes of 2 bytes, 12 backward); the outputs are weighted and added
// in fp32 (28 bytes, 40 backward).
struct BiasTraffic {
  double inner_forward, inner_backward, output_forward, output_backward;
};
BiasTraffic TrafficOfBiases(const TrainingContext& context) {
  const Biases biases = context.model.biases;
  const bool has_biases = biases == Biases::kMlp || biases == Biases::kAll;
  const bool in_16_bits = BytesPerElement(NativePrecision(context.device(), context.run.precision)) >= 2;
  return has_biases && in_16_bits && context.framework().experts.unfused_biases ? BiasTraffic{16, 24, 28, 40}
                                                                                : BiasTraffic{};
}

// Passes over routed rows: their permutation, by separate kernels at memory bandwidth even where the framework fuses
// other passes, and expert biases unless a fused kernel adds them.
struct RoutedPasses {
  Seconds forward, backward;
};
RoutedPasses TimeRouted(const TrainingContext& context, const LayerWork& work) {
  const Ratio permute = context.framework().experts.permute_traffic, width = RoutedWidth(context.model),
              expert = work.expert_columns;
  const auto [inner_forward, inner_backward, output_forward, output_backward] = TrafficOfBiases(context);
  const Ratio biased_forward = Figure("Bytes per routed row of unfused biases, forward",
                                      inner_forward * expert + output_forward * width, "", kElementwiseSource);
  const Ratio biased_backward = Figure("Bytes per routed row of unfused biases, backward",
                                       inner_backward * expert + output_backward * width, "", kElementwiseSource);
  const Seconds permutation =
      Figure("Permutation of routed rows", permute * work.even_rows * width * kB / context.stream_rate, "",
             kElementwiseSource);
  const BytesPerSecond rate = min(context.elementwise_rate, context.stream_rate);
  return {permutation + biased_forward * work.routed_rows * kB / rate,
          2 * permutation + biased_backward * work.routed_rows * kB / rate};
}

}  // namespace

Elementwise TimeElementwise(const TrainingContext& context, const LayerWork& work) {
  PassTraffic all;
  Bytes light, between;  // of norms and activation functions; between the GEMMs of the routed experts
  for (const RowPass& pass : work.row_passes) {
    if (pass.rows == ProductRows::kRouted && !(work.routed_rows > 0)) continue;
    const PassTraffic traffic = TrafficOf(context, work, pass);
    all.forward += traffic.forward, all.backward += traffic.backward;
    if (pass.is_light) light += traffic.forward;
    if (pass.rows == ProductRows::kRouted) between += traffic.forward;
  }
  const BytesPerSecond rate = context.elementwise_rate;
  Seconds forward = all.forward / rate, backward = all.backward / rate, routed = between / rate;
  if (work.routed_rows > 0) {
    const RoutedPasses passes = TimeRouted(context, work);
    forward += passes.forward, backward += passes.backward, routed += passes.forward;
  }
  return {Figure("Elementwise passes, forward", forward, "", kElementwiseSource),
          Figure("Elementwise passes, backward", backward, "", kElementwiseSource),
          Figure("Norms and activation functions, forward", light / rate, "repeated by the lightest recomputation",
                 kElementwiseSource),
          routed};
}

namespace {

// Time to unpack the quantized weights of a layer for the GEMMs of one pass.
Seconds UnpackTime(const TrainingContext& context, const LayerWork& work) {
  if (!UnpacksWeights(context)) return {};
  const double gemm_bytes = BytesPerElement(NativePrecision(context.device(), context.run.precision));
  const Ratio weights = Figure("Frozen weights of a layer", work.weights.Base(), "on one device");
  const Seconds streamed = Figure("Quantized weights of a layer, read and written",
                                  (FrozenBytes(context) + gemm_bytes) * weights * kB / context.stream_rate,
                                  "read packed, written in the format of the GEMMs");
  const Ratio operations = context.framework().compute.unpack_operations;
  if (operations <= 0) return streamed;
  return Figure("Quantized weights of a layer, unpacked",
                max(streamed, operations * kFlop * weights / PeakRate(context.device(), Precision::kFp32)),
                "in every pass, at the rate of the memory or of the arithmetic");
}

}  // namespace

Adapters TimeAdapters(const TrainingContext& context, const LayerWork& work) {
  if (context.run.trainable != Trainable::kLora) return {};
  const Ratio rank = context.framework().lora_rank, traffic = context.framework().compute.adapter_traffic;
  const BytesPerSecond element_rate = context.elementwise_rate;
  const FlopsPerSecond peak_rate = PeakRate(context.device(), context.matrix_precision);
  Adapters thin;
  for (const LayerProduct& product : work.products) {
    const Ratio rows = product.rows, inputs = product.inputs, outputs = product.outputs;
    if (!IsAdapted(context.framework(), TraitsOf(product.id).role) || !(rows > 0) || !(outputs > 0)) continue;
    thin.forward +=
        Figure("Adapter, forward",
               max(traffic * rows * (2 * inputs + 6 * outputs + 4 * rank) * kB / element_rate,
                   2 * kFlop * rows * rank * (inputs + outputs) / peak_rate),
               "down to its rank, and up again onto the frozen product: its memory traffic or its arithmetic");
    thin.backward += Figure("Adapter, backward",
                            max(traffic * rows * (8 * inputs + 4 * outputs + 8 * rank) * kB / element_rate,
                                4 * kFlop * rows * rank * (inputs + outputs) / peak_rate),
                            "gradients of inputs and weights of both products");
  }
  const Seconds unpacked = UnpackTime(context, work);
  constexpr std::string_view kNote = "thin GEMMs; quantized weights unpacked";
  return {Figure("Adapters of a layer, forward", unpacked + thin.forward, kNote),
          Figure("Adapters of a layer, backward", unpacked + thin.backward, kNote)};
}

}  // namespace slipstick
