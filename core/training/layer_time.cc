#include "core/training/layer_time.h"

#include "core/base/sum.h"
#include "core/operators/efficiency.h"
#include "core/operators/gemm.h"
#include "core/training/attention_core.h"
#include "core/training/exchange.h"

namespace slipstick {
namespace {

constexpr std::string_view kElementwiseSource =
    "operands counted once per pass; the share of the bandwidth is fitted per framework to published step times";

// Sums over the GEMMs of a layer.
struct Sums {
  explicit Sums(Trace& trace) : forward(trace), input_gradient(trace), weight_gradient(trace) {}
  ListedSum<Seconds> forward, input_gradient, weight_gradient;
  Flops forward_flops;
};

Gemm ProductOf(const TrainingContext& context, const LayerProduct& product, double m, double n, double k) {
  Gemm gemm;
  gemm.m = m, gemm.n = n, gemm.k = k, gemm.groups = product.groups;
  const ProductRole role = TraitsOf(product.id).role;
  gemm.precision = role == ProductRole::kWide ? context.matrix_precision : NativePrecision(context.device(), context.run.precision);
  gemm.weights = gemm.precision;
  return gemm;
}

Seconds QuantizeTime(const TrainingContext& context, double elements) {
  const QuantizePasses& passes = context.framework().compute.quantize;
  const Precision precision = NativePrecision(context.device(), context.run.precision);
  if (BytesPerElement(precision) >= 2) return {};
  const double bytes = IsFourBitFloat(precision) ? passes.nvfp4 : precision == Precision::kMxfp8 ? passes.mxfp8 : passes.fp8;
  return bytes * kB * elements / context.elementwise_rate + 4 * kUs;
}

// Efficiency of grouped GEMMs over plain ones.
double GroupedEfficiency(const TrainingContext& context) {
  const FrameworkExperts& experts = context.framework().experts;
  return BytesPerElement(NativePrecision(context.device(), context.run.precision)) < 2 ? experts.grouped_efficiency_fp8
                                                                                       : experts.grouped_efficiency;
}

void RecordOperator(std::vector<TimedOperator>* operators, const TrainingContext& context, std::string_view name, std::string_view suffix,
                    const KernelTime& kernel, Seconds time) {
  if (operators == nullptr) return;
  TimedOperator row;
  row.name = std::string(name) + std::string(suffix);
  row.flops = kernel.flops;
  row.bytes = kernel.bytes;
  // The innermost cache belongs to one SM; every further cache carries the traffic of the last one.
  const std::size_t cache_levels = context.device().caches.size();
  row.level_bytes.assign(cache_levels, kernel.l2_bytes);
  if (cache_levels > 1) row.level_bytes.front() = kernel.l1_bytes;
  row.level_bytes.push_back(kernel.bytes);
  row.time = time;
  row.bound = kernel.bound;
  operators->push_back(std::move(row));
}

// A GEMM: forward, input gradient, weight gradient.
void TimeProduct(const TrainingContext& context, const LayerProduct& product, Sums& sums, Trace& trace,
                 std::vector<TimedOperator>* operators) {
  const Device& device = context.device();
  const double rows = product.rows, outputs = product.outputs, inputs = product.inputs;
  if (!(rows > 0) || !(outputs > 0)) return;
  const auto& [name, role, _] = TraitsOf(product.id);
  Trace::Scope scope(trace, name);
  const bool quantized = role != ProductRole::kWide;
  const double grouped_efficiency = role == ProductRole::kExperts ? GroupedEfficiency(context) : 1;
  const Gemm forward_gemm = ProductOf(context, product, rows, outputs, inputs);
  const KernelTime forward_kernel = TimeOf(forward_gemm, device, TrainingKernelParameters(forward_gemm, device), trace);
  const Seconds forward_product = forward_kernel.time;
  const Seconds forward_quantize = quantized ? QuantizeTime(context, product.groups * rows * inputs) : Seconds{};
  FIGURE(trace, forward_time, forward_product / grouped_efficiency + forward_quantize,
         (Note{"GEMM, forward", "quantization of its input included"}), forward_product, grouped_efficiency, forward_quantize);
  sums.forward.Add(name, forward_time);
  sums.forward_flops += forward_kernel.flops;
  RecordOperator(operators, context, name, "", forward_kernel, forward_time);

  const auto time_backward = [&](std::string_view direction, const Gemm& gemm) {
    Trace::Scope backward_scope(trace, direction);
    return TimeOf(gemm, device, TrainingKernelParameters(gemm, device), trace);
  };
  const Gemm input_gemm = ProductOf(context, product, rows, inputs, outputs);
  const KernelTime input_kernel = time_backward("input gradient", input_gemm);
  const Seconds input_product = input_kernel.time;
  const Seconds gradient_quantize = quantized ? QuantizeTime(context, product.groups * rows * outputs) : Seconds{};
  FIGURE(trace, input_gradient_time, input_product / grouped_efficiency + gradient_quantize, (Note{"GEMM, input gradient", ""}),
         input_product, grouped_efficiency, gradient_quantize);
  sums.input_gradient.Add(name, input_gradient_time);
  RecordOperator(operators, context, name, ", input gradient", input_kernel, input_gradient_time);

  if (context.run.trainable == Trainable::kLora) return;  // frozen
  Gemm weight_gemm = ProductOf(context, product, outputs, inputs, rows);
  weight_gemm.output_bytes = context.framework().compute.fused_accumulation ? 8 : 2;
  const KernelTime weight_kernel = time_backward("weight gradient", weight_gemm);
  const Seconds weight_product = weight_kernel.time;
  FIGURE(trace, weight_gradient_time, weight_product / grouped_efficiency, (Note{"GEMM, weight gradient", ""}), weight_product,
         grouped_efficiency);
  sums.weight_gradient.Add(name, weight_gradient_time);
  RecordOperator(operators, context, name, ", weight gradient", weight_kernel, weight_gradient_time);
}

struct Elementwise {
  Seconds forward, backward;
  Seconds norms;  // the part of forward spent in norms and activation functions
};

// Memory traffic of an elementwise pass.
struct PassTraffic {
  Bytes forward, backward;
};
PassTraffic TrafficOf(const TrainingContext& context, const LayerWork& work, const RowPass& pass, Trace& trace) {
  Trace::Scope scope(trace, pass.name);
  const double rows = pass.rows == ProductRows::kTokens             ? context.shape.tokens
                      : pass.rows == ProductRows::kSequenceParallel ? context.shape.sequence_parallel_tokens
                                                                    : work.routed_rows;
  const double hidden = static_cast<double>(context.model.hidden), widths = pass.columns / hidden;
  const Bytes forward_element = pass.forward * kB, backward_element = pass.backward * kB;
  FIGURE(
      trace, forward_bytes, rows * widths * hidden * forward_element,
      (Note{"Memory traffic of the pass, forward", "each operand once; widths: elements per row over the hidden size", kElementwiseSource}),
      rows, widths, hidden, forward_element);
  FIGURE(trace, backward_bytes, rows * widths * hidden * backward_element,
         (Note{"Memory traffic of the pass, backward", "", kElementwiseSource}), rows, widths, hidden, backward_element);
  return {forward_bytes, backward_bytes};
}

// Permutation of routed rows, and expert biases where no fused kernel adds them.
PassTraffic RoutedTraffic(const TrainingContext& context, const LayerWork& work, Trace& trace) {
  const FrameworkExperts& experts = context.framework().experts;
  const double hidden = static_cast<double>(context.model.hidden), expert = work.expert_columns, rows = work.routed_rows;
  const double permute = experts.permute_traffic, even_rows = work.even_rows;
  const Biases biases = context.model.biases;
  const bool biased =
      (biases == Biases::kMlp || biases == Biases::kAll) && BytesPerElement(NativePrecision(context.device(), context.run.precision)) >= 2;
  const double biased_forward = biased ? experts.biased_inner_forward * expert + experts.biased_output_forward * hidden : 0;
  const double biased_backward = biased ? experts.biased_inner_backward * expert + experts.biased_output_backward * hidden : 0;
  const Bytes byte = 1 * kB;
  FIGURE(trace, routed_forward_bytes, byte * (permute * even_rows * hidden + biased_forward * rows),
         (Note{"Permutation of routed rows and expert biases, forward", "", kElementwiseSource}), byte, permute, even_rows, hidden,
         biased_forward, rows);
  FIGURE(trace, routed_backward_bytes, byte * (2 * permute * even_rows * hidden + biased_backward * rows),
         (Note{"Permutation of routed rows and expert biases, backward", "", kElementwiseSource}), byte, permute, even_rows, hidden,
         biased_backward, rows);
  return {routed_forward_bytes, routed_backward_bytes};
}

// Norms, residuals, rotary embedding, activation functions, routing: every operand once, at the framework's elementwise rate.
Elementwise TimeElementwise(const TrainingContext& context, const LayerWork& work, Trace& trace) {
  Trace::Scope scope(trace, "element_wise");
  ListedSum<Bytes> forward(trace), backward(trace), light(trace);
  for (const RowPass& pass : work.row_passes) {
    const PassTraffic traffic = TrafficOf(context, work, pass, trace);
    forward.Add(pass.name, traffic.forward);
    backward.Add(pass.name, traffic.backward);
    if (pass.is_light) light.Add(pass.name, traffic.forward);
  }
  if (work.routed_rows > 0) {
    const PassTraffic routed = RoutedTraffic(context, work, trace);
    forward.Add("routed_rows", routed.forward);
    backward.Add("routed_rows", routed.backward);
  }
  const Bytes forward_bytes = forward.Total("forward_bytes", {"Elementwise memory traffic, forward", "", kElementwiseSource});
  const Bytes backward_bytes = backward.Total("backward_bytes", {"Elementwise memory traffic, backward", "", kElementwiseSource});
  const Bytes light_bytes =
      light.Total("light_bytes", {"Memory traffic of norms and activation functions, forward", "", kElementwiseSource});
  const BytesPerSecond element_rate = context.elementwise_rate;
  FIGURE(trace, forward_time, forward_bytes / element_rate, (Note{"Elementwise passes, forward", "", kElementwiseSource}), forward_bytes,
         element_rate);
  FIGURE(trace, backward_time, backward_bytes / element_rate, (Note{"Elementwise passes, backward", "", kElementwiseSource}),
         backward_bytes, element_rate);
  FIGURE(trace, norms_time, light_bytes / element_rate,
         (Note{"Norms and activation functions, forward", "repeated by the lightest recomputation", kElementwiseSource}), light_bytes,
         element_rate);
  return {forward_time, backward_time, norms_time};
}

void RecordCoreAndElementwise(std::vector<TimedOperator>* operators, const TrainingContext& context, const CoreTime& core,
                              const Elementwise& elementwise) {
  RecordOperator(operators, context, "attention core", "",
                 {core.forward, {}, {}, Bound::kCompute, core.forward_flops, core.forward_bytes, core.forward_l2, core.forward_l1},
                 core.forward);
  RecordOperator(operators, context, "attention core", ", backward",
                 {core.backward, {}, {}, Bound::kCompute, core.backward_flops, core.backward_bytes, core.backward_l2, core.backward_l1},
                 core.backward);
  // By the count of unfused bytes a fusing compiler exceeds the memory bandwidth; report what can really move.
  const BytesPerSecond moved = min(context.elementwise_rate, context.stream_rate);
  const auto stream = [&](Seconds time) { return KernelTime{time, {}, {}, Bound::kMemory, {}, time * moved, time * moved, time * moved}; };
  RecordOperator(operators, context, "element-wise", "", stream(elementwise.forward), elementwise.forward);
  RecordOperator(operators, context, "element-wise", ", backward", stream(elementwise.backward), elementwise.backward);
}

// Low-rank adapters beside the frozen GEMMs of the mixer: thin, memory-bound GEMMs.
struct Adapters {
  Seconds forward, backward;
};
Adapters TimeAdapters(const TrainingContext& context, const LayerWork& work) {
  if (context.run.trainable != Trainable::kLora) return {};
  double forward = 0, backward = 0;
  for (const LayerProduct& product : work.products) {
    if (TraitsOf(product.id).role != ProductRole::kMixer) continue;
    forward += product.rows * (2 * product.inputs + 6 * product.outputs);
    backward += product.rows * (8 * product.inputs + 4 * product.outputs);
  }
  return {0.3 * forward * kB / context.elementwise_rate, 0.3 * backward * kB / context.elementwise_rate};
}

// Kernels and their launches overlap: the exposed part of the launches.
Seconds HostWait(Seconds device_time, Seconds launch_time) { return norm(device_time, launch_time, 4) - device_time; }

// A third of a layer's launches belongs to the forward pass. `weight_gradients`: the part of the backward pass that a schedule may
// postpone.
void AddHostWaits(const TrainingContext& context, const LayerWork& work, Seconds weight_gradients, double backward_launches,
                  LayerTime& time) {
  const FrameworkCompute& framework = context.framework().compute;
  const Seconds launch = work.routed_rows > 0 ? framework.moe_layer_launch : framework.layer_launch;
  const Seconds backward_launch = 2 * launch / 3 * backward_launches;
  time.forward.host = time.backward.host = time.weight_gradient = {};
  if (SplitsBackward(context) && weight_gradients > Seconds{}) {
    // Each pass waits for its own launches: otherwise a shorter pass could lengthen the other.
    const Seconds weight_launch = launch / 3, weight_wait = HostWait(weight_gradients, weight_launch);
    time.backward.host = HostWait(time.Backward() - weight_gradients, backward_launch - weight_launch) + weight_wait;
    time.weight_gradient = weight_gradients + weight_wait;
  } else {
    time.backward.host = HostWait(time.Backward(), backward_launch);
  }
  time.forward.host = HostWait(time.forward.Total(), launch / 3);
}

}  // namespace

LayerPass& LayerPass::operator+=(const LayerPass& other) {
  compute += other.compute, tp += other.tp, cp += other.cp, ep += other.ep, host += other.host;
  tp_link += other.tp_link, cp_link += other.cp_link, ep_link += other.ep_link;
  return *this;
}

LayerPass operator*(LayerPass pass, double times) {
  for (Seconds LayerPass::*part : {&LayerPass::compute, &LayerPass::tp, &LayerPass::cp, &LayerPass::ep, &LayerPass::host,
                                   &LayerPass::tp_link, &LayerPass::cp_link, &LayerPass::ep_link}) {
    pass.*part *= times;
  }
  return pass;
}

LayerTime TimeLayer(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan, Trace& trace,
                    std::vector<TimedOperator>* operators) {
  Sums products(trace);
  for (const LayerProduct& product : work.products) TimeProduct(context, product, products, trace, operators);
  const CoreTime core = TimeCore(context, work.attention, trace);
  const Elementwise elementwise = TimeElementwise(context, work, trace);
  const Adapters adapters = TimeAdapters(context, work);
  if (operators != nullptr) RecordCoreAndElementwise(operators, context, core, elementwise);
  const bool has_experts = work.routed_rows > 0;
  const Exchange tensor = TensorExchange(context, has_experts ? 1 : ResidualAdditions(context.model), trace);
  const ContextExchange ring = ExchangeContext(context, work.attention, core.forward, core.backward, trace);
  const Exchange experts = has_experts ? ExchangeExperts(context, work, trace) : Exchange{};

  LayerTime time;
  const Seconds products_forward = products.forward.Total("products_forward", {"GEMMs of a layer, forward"});
  const Seconds core_forward = core.forward, element_forward = elementwise.forward;
  const Seconds adapters_forward = adapters.forward;
  FIGURE(trace, forward_compute, products_forward + core_forward + element_forward + adapters_forward,
         (Note{"Forward compute of a layer", "one micro-batch"}), products_forward, core_forward, element_forward, adapters_forward);
  const Seconds input_gradients = products.input_gradient.Total("input_gradients", {"GEMMs of a layer, input gradients"});
  const Seconds weight_gradients = products.weight_gradient.Total("weight_gradients", {"GEMMs of a layer, weight gradients"});
  const Seconds core_backward = core.backward, element_backward = elementwise.backward, adapters_backward = adapters.backward;
  FIGURE(trace, backward_compute, input_gradients + weight_gradients + core_backward + element_backward + adapters_backward,
         (Note{"Backward compute of a layer", "one micro-batch"}), input_gradients, weight_gradients, core_backward, element_backward,
         adapters_backward);
  time.forward = {forward_compute, tensor.exposed, ring.forward.exposed, experts.exposed, {}, tensor.link, ring.forward.link, experts.link};
  time.backward = {backward_compute, tensor.exposed,     ring.backward.exposed, experts.exposed, {},
                   tensor.link,      ring.backward.link, experts.link};
  time.forward_flops = products.forward_flops + core.forward_flops;
  const double backward_products = context.run.trainable == Trainable::kLora ? 1 : 2;
  time.hardware_flops = time.forward_flops + backward_products * products.forward_flops + core.backward_flops;

  const Seconds repeated_norms = plan.norms ? elementwise.norms : Seconds{};
  const bool unfused = !context.run.flash_attention;
  const Seconds repeated_core = plan.core && unfused ? core.forward : Seconds{};  // flash attention recomputes its scores in any case
  const double share = plan.share;
  FIGURE(trace, recompute_time, repeated_norms + repeated_core + share * forward_compute,
         (Note{"Selective recomputation", "in the backward pass"}), repeated_norms, repeated_core, share, forward_compute);
  time.recompute.compute = recompute_time;
  time.recomputed_flops = share * time.forward_flops + (repeated_core > Seconds{} ? core.forward_flops : Flops{});
  time.hardware_flops += time.recomputed_flops;
  AddHostWaits(context, work, weight_gradients, 1, time);
  time.weight_gradient_compute = weight_gradients;
  return time;
}

LayerTime WithFullRecompute(const TrainingContext& context, const LayerWork& work, LayerTime time) {
  time.recompute = time.forward;
  time.recompute.host = {};
  time.hardware_flops += time.forward_flops - time.recomputed_flops;
  time.recomputed_flops = time.forward_flops;
  constexpr double kBackwardLaunches = 1.4;  // launches of a backward pass that repeats the forward pass, over those of one that does not
  AddHostWaits(context, work, time.weight_gradient_compute, kBackwardLaunches, time);
  return time;
}

LayerTime TimeEmbedding(const TrainingContext& context, Trace& trace) {
  Trace::Scope scope(trace, "embedding");
  const double tokens = context.shape.tokens, hidden = static_cast<double>(context.model.hidden);
  const Bytes traffic = 12 * kB;
  const BytesPerSecond element_rate = context.elementwise_rate;
  FIGURE(trace, embedding_time, traffic * tokens * hidden / element_rate,
         (Note{"Embedding", "gather, then scatter-add in the backward pass"}), traffic, tokens, hidden, element_rate);
  FIGURE(trace, forward_compute, embedding_time / 3, (Note{"Embedding, forward", "the gather"}), embedding_time);
  FIGURE(trace, backward_compute, 2 * embedding_time / 3, (Note{"Embedding, backward", "the scatter-add reads and writes"}),
         embedding_time);
  LayerTime time;
  time.forward.compute = forward_compute;
  time.backward.compute = backward_compute;
  return time;
}

LayerTime TimeHead(const TrainingContext& context, Trace& trace) {
  Trace::Scope scope(trace, "head");
  const LayerWidths widths = WidthsOf(context.model, context.shape.tensor, context.shape.expert_tensor);
  const LayerProduct product{HeadProduct(context.model, widths), context.shape.tokens};
  Sums sums(trace);
  TimeProduct(context, product, sums, trace, nullptr);
  const double logits = context.shape.tokens * product.outputs, logit_traffic = context.framework().compute.logit_traffic;
  const Bytes byte = 1 * kB;
  const BytesPerSecond element_rate = context.elementwise_rate;
  FIGURE(trace, loss_time, byte * logit_traffic * logits / element_rate, (Note{"Softmax and loss", "passes over the logits"}), byte,
         logit_traffic, logits, element_rate);
  LayerTime time;
  const Seconds product_forward = sums.forward.Total("product_forward", {"LM-head GEMM, forward"});
  const Seconds input_gradient = sums.input_gradient.Total("input_gradient", {"LM-head GEMM, input gradient"});
  const Seconds weight_gradient = sums.weight_gradient.Total("weight_gradient", {"LM-head GEMM, weight gradient"});
  FIGURE(trace, forward_compute, product_forward + 0.4 * loss_time, (Note{"LM head and loss, forward", "", kElementwiseSource}),
         product_forward, loss_time);
  FIGURE(trace, backward_compute, input_gradient + weight_gradient + 0.6 * loss_time,
         (Note{"LM head and loss, backward", "", kElementwiseSource}), input_gradient, weight_gradient, loss_time);
  time.forward.compute = forward_compute;
  time.backward.compute = backward_compute;
  if (SplitsBackward(context)) time.weight_gradient = weight_gradient;
  time.forward_flops = sums.forward_flops;
  time.hardware_flops = (context.run.trainable == Trainable::kLora ? 2 : 3) * sums.forward_flops;
  return time;
}

}  // namespace slipstick
