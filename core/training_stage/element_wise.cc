#include "core/training_stage/element_wise.h"

#include "core/base/sum.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/training_stage/state_bytes.h"
#include "core/workload/layer.h"

namespace slipstick {
namespace {

// Memory traffic of an elementwise pass.
struct PassTraffic {
  Bytes forward, backward;
};
PassTraffic TrafficOf(const TrainingContext& context, const LayerWork& work, const RowPass& pass, Trace& trace) {
  const double rows = pass.rows == ProductRows::kTokens             ? context.shape.tokens
                      : pass.rows == ProductRows::kSequenceParallel ? context.shape.sequence_parallel_tokens
                                                                    : work.routed_rows;
  const double hidden = static_cast<double>(context.model.hidden), columns = pass.columns;
  trace.Alias("rows", rows,
              pass.rows == ProductRows::kTokens             ? "tokens"
              : pass.rows == ProductRows::kSequenceParallel ? "own_tokens"
                                                            : "routed_rows");
  FIGURE(trace, widths, columns / hidden, (Note{"Elements per row over the hidden size"}), columns, hidden);
  const Bytes forward_element = pass.forward * kB, backward_element = pass.backward * kB;
  FIGURE(trace, forward_bytes, rows * widths * hidden * forward_element,
         (Note{"Memory traffic of the pass, forward",
               "each operand once; widths: elements per row over the hidden size", kElementwiseSource}),
         rows, widths, hidden, forward_element);
  FIGURE(trace, backward_bytes, rows * widths * hidden * backward_element,
         (Note{"Memory traffic of the pass, backward", "", kElementwiseSource}), rows, widths, hidden,
         backward_element);
  return {forward_bytes, backward_bytes};
}

// Bytes per element that unfused kernels move for the biases of experts in 16 bits, with a clamped activation, counted
// in NVIDIA/Megatron-LM, megatron/core/transformer/moe/experts.py and fusions/fused_bias_geglu.py: between the two
// GEMMs both halves are clamped and concatenated (8 passes of 2 bytes, 12 backward); the outputs are weighted and added
// in fp32 (28 bytes, 40 backward).
struct BiasTraffic {
  double inner_forward, inner_backward, output_forward, output_backward;
};
BiasTraffic TrafficOfBiases(const TrainingContext& context, Trace& trace) {
  const Biases biases = context.model.biases;
  const bool has_biases = biases == Biases::kMlp || biases == Biases::kAll;
  const bool in_16_bits = BytesPerElement(NativePrecision(context.device(), context.run.precision)) >= 2;
  const bool unfused = context.framework().experts.unfused_biases;
  const bool counts = has_biases && in_16_bits && unfused;
  const BiasTraffic traffic = counts ? BiasTraffic{16, 24, 28, 40} : BiasTraffic{};
  const auto [inner_forward, inner_backward, output_forward, output_backward] = traffic;
  if (counts) {
    CONSTANTS(trace, "training.framework.experts.unfused_biases", "bytes per element that unfused kernels move",
              inner_forward, inner_backward, output_forward, output_backward);
    return traffic;
  }
  const std::string_view input = !has_biases   ? "model.biases"
                                 : !in_16_bits ? "training.precision"
                                               : "training.framework.experts.unfused_biases";
  for (const std::string_view symbol : {"inner_forward", "inner_backward", "output_forward", "output_backward"}) {
    trace.Input(symbol, 0.0, input);
  }
  return traffic;
}

// Permutation of routed rows, and expert biases where no fused kernel adds them.
PassTraffic RoutedTraffic(const TrainingContext& context, const LayerWork& work, Trace& trace) {
  const FrameworkExperts& experts = context.framework().experts;
  const double routed_width = RoutedWidth(context.model, trace), expert = work.expert_columns, rows = work.routed_rows;
  const double permute = experts.permute_traffic, even_rows = work.even_rows;
  const auto [inner_forward, inner_backward, output_forward, output_backward] = TrafficOfBiases(context, trace);
  trace.Input("permute", permute, "training.framework.experts.permute_traffic");
  trace.Alias("expert", expert, "rank_expert");
  trace.Alias("rows", rows, "routed_rows");
  FIGURE(trace, biased_forward, inner_forward * expert + output_forward * routed_width,
         (Note{"Bytes per routed row of unfused biases, forward", "", kElementwiseSource}), inner_forward, expert,
         output_forward, routed_width);
  FIGURE(trace, biased_backward, inner_backward * expert + output_backward * routed_width,
         (Note{"Bytes per routed row of unfused biases, backward", "", kElementwiseSource}), inner_backward, expert,
         output_backward, routed_width);
  FIGURE(trace, routed_forward_bytes, (permute * even_rows * routed_width + biased_forward * rows) * kB,
         (Note{"Permutation of routed rows and expert biases, forward", "", kElementwiseSource}), permute, even_rows,
         routed_width, biased_forward, rows);
  FIGURE(trace, routed_backward_bytes, (2 * permute * even_rows * routed_width + biased_backward * rows) * kB,
         (Note{"Permutation of routed rows and expert biases, backward", "", kElementwiseSource}), permute, even_rows,
         routed_width, biased_backward, rows);
  return {routed_forward_bytes, routed_backward_bytes};
}

}  // namespace

Elementwise TimeElementwise(const TrainingContext& context, const LayerWork& work, Trace& trace) {
  Trace::Scope scope(trace, "element_wise");
  ListedSum<Bytes> forward(trace), backward(trace), light(trace);
  for (const RowPass& pass : work.row_passes) {
    if (pass.rows == ProductRows::kRouted && !(work.routed_rows > 0)) continue;
    const Trace::Scope pass_scope(trace, pass.name);
    const PassTraffic traffic = TrafficOf(context, work, pass, trace);
    forward.Add(pass.name, traffic.forward, 1, "forward_bytes");
    backward.Add(pass.name, traffic.backward, 1, "backward_bytes");
    if (pass.is_light) light.Add(pass.name, traffic.forward, 1, "forward_bytes");
  }
  if (work.routed_rows > 0) {
    const PassTraffic routed = RoutedTraffic(context, work, trace);
    forward.Add("routed_rows", routed.forward, 1, "routed_forward_bytes");
    backward.Add("routed_rows", routed.backward, 1, "routed_backward_bytes");
  }
  const Bytes forward_bytes =
      forward.Total("forward_bytes", {"Elementwise memory traffic, forward", "", kElementwiseSource});
  const Bytes backward_bytes =
      backward.Total("backward_bytes", {"Elementwise memory traffic, backward", "", kElementwiseSource});
  const Bytes light_bytes =
      light.Total("light_bytes", {"Memory traffic of norms and activation functions, forward", "", kElementwiseSource});
  const BytesPerSecond element_rate = context.elementwise_rate;
  FIGURE(trace, forward_time, forward_bytes / element_rate,
         (Note{"Elementwise passes, forward", "", kElementwiseSource}), forward_bytes, element_rate);
  FIGURE(trace, backward_time, backward_bytes / element_rate,
         (Note{"Elementwise passes, backward", "", kElementwiseSource}), backward_bytes, element_rate);
  FIGURE(
      trace, norms_time, light_bytes / element_rate,
      (Note{"Norms and activation functions, forward", "repeated by the lightest recomputation", kElementwiseSource}),
      light_bytes, element_rate);
  trace.Alias("element_wise_forward", forward_time, "forward_time");
  trace.Alias("element_wise_backward", backward_time, "backward_time");
  trace.Alias("element_wise_norms", norms_time, "norms_time");
  return {forward_time, backward_time, norms_time};
}

namespace {

// Quantized weights of a layer, unpacked for the GEMMs of one pass.
Seconds UnpackTime(const TrainingContext& context, const LayerWork& work, Trace& trace) {
  const double frozen_bytes = FrozenBytes(context);
  if (!UnpacksWeights(context)) {
    trace.Input("unpacked", Seconds(), "training.frozen_precision");
    return {};
  }
  const double dense_parameters = work.dense_parameters, expert_parameters = work.expert_parameters;
  const double gemm_bytes = BytesPerElement(NativePrecision(context.device(), context.run.precision));
  const BytesPerSecond stream_rate = context.stream_rate;
  trace.Input("frozen_bytes", frozen_bytes, InputOfFrozenBytes(context));
  trace.Input("gemm_bytes", gemm_bytes, "training.precision");
  const double layer_weights = Sum<double>(
      trace, "layer_weights", Note{"Frozen weights of a layer on one device"},
      {{"dense_parameters", dense_parameters}, {"expert_parameters", expert_parameters, expert_parameters > 0}});
  FIGURE(trace, streamed, (frozen_bytes + gemm_bytes) * layer_weights * kB / stream_rate,
         (Note{"Quantized weights of a layer, read and written", "read packed, written in the format of the GEMMs"}),
         frozen_bytes, gemm_bytes, layer_weights, stream_rate);
  const double unpack_operations = context.framework().compute.unpack_operations;
  if (unpack_operations <= 0) {
    trace.Alias("unpacked", streamed, "streamed");
    return streamed;
  }
  trace.Input("unpack_operations", unpack_operations, "training.framework.compute.unpack_operations");
  const FlopsPerSecond peak_rate = PeakRate(context.device(), Precision::kFp32, trace);
  FIGURE(
      trace, unpacked, max(streamed, unpack_operations * kFlop * layer_weights / peak_rate),
      (Note{"Quantized weights of a layer, unpacked", "in every pass, at the rate of the memory or of the arithmetic"}),
      streamed, unpack_operations, layer_weights, peak_rate);
  return unpacked;
}

}  // namespace

Adapters TimeAdapters(const TrainingContext& context, const LayerWork& work, Trace& trace) {
  if (context.run.trainable != Trainable::kLora) {
    for (const std::string_view symbol : {"adapters_forward", "adapters_backward"})
      trace.Input(symbol, Seconds(), "training.trainable");
    return {};
  }
  ListedSum<Seconds> forward(trace), backward(trace);
  const double rank = static_cast<double>(context.framework().lora_rank),
               adapter_traffic = context.framework().compute.adapter_traffic;
  const BytesPerSecond element_rate = context.elementwise_rate;
  const FlopsPerSecond peak_rate = PeakRate(context.device(), context.matrix_precision, trace);
  for (const LayerProduct& product : work.products) {
    const auto& [name, role, _] = TraitsOf(product.id);
    if (!IsAdapted(context.framework(), role) || !(product.rows > 0) || !(product.outputs > 0)) continue;
    const Trace::Scope scope(trace, name);
    trace.Input("rank", rank, "training.framework.lora_rank");
    trace.Input("adapter_traffic", adapter_traffic, "training.framework.compute.adapter_traffic");
    const double rows = product.rows, inputs = product.inputs, outputs = product.outputs;
    FIGURE(trace, adapter_forward,
           max(adapter_traffic * rows * (2 * inputs + 6 * outputs + 4 * rank) * kB / element_rate,
               2 * kFlop * rows * rank * (inputs + outputs) / peak_rate),
           (Note{"Adapter, forward",
                 "down to its rank, and up again onto the frozen product: its memory traffic or its arithmetic"}),
           adapter_traffic, rows, inputs, outputs, rank, element_rate, peak_rate);
    FIGURE(trace, adapter_backward,
           max(adapter_traffic * rows * (8 * inputs + 4 * outputs + 8 * rank) * kB / element_rate,
               4 * kFlop * rows * rank * (inputs + outputs) / peak_rate),
           (Note{"Adapter, backward", "gradients of inputs and weights of both products"}), adapter_traffic, rows,
           inputs, outputs, rank, element_rate, peak_rate);
    forward.Add(name, adapter_forward, 1, "adapter_forward");
    backward.Add(name, adapter_backward, 1, "adapter_backward");
  }
  const Seconds thin_forward = forward.Total("thin_forward", {"Thin GEMMs of the layer's adapters, forward"});
  const Seconds thin_backward = backward.Total("thin_backward", {"Thin GEMMs of the layer's adapters, backward"});
  const Seconds unpacked = UnpackTime(context, work, trace);
  FIGURE(trace, adapters_forward, unpacked + thin_forward,
         (Note{"Adapters of a layer, forward", "thin GEMMs; quantized weights unpacked"}), unpacked, thin_forward);
  FIGURE(trace, adapters_backward, unpacked + thin_backward,
         (Note{"Adapters of a layer, backward", "thin GEMMs; quantized weights unpacked"}), unpacked, thin_backward);
  return {adapters_forward, adapters_backward};
}

}  // namespace slipstick
