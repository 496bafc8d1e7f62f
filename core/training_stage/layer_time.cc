#include "core/training_stage/layer_time.h"

#include <string_view>

#include "core/base/figure.h"
#include "core/operators/efficiency.h"
#include "core/training_stage/attention_core.h"
#include "core/training_stage/exchange.h"
#include "core/training_stage/product_time.h"
#include "core/training_stage/state_bytes.h"
#include "core/workload/layer.h"

namespace slipstick {
namespace {

constexpr std::string_view kElementwiseSource =
    "operands counted once per pass; the share of the bandwidth is fitted per framework to published step times";

struct Elementwise {
  Seconds forward, backward;
  Seconds norms;   // the part of forward spent in norms and activation functions
  Seconds routed;  // the part of forward spent on routed rows
};

struct BothPasses {
  Seconds forward, backward;
};

// Memory traffic of an elementwise pass.
struct PassTraffic {
  Bytes forward, backward;
};
PassTraffic TrafficOf(const TrainingContext& context, const LayerWork& work, const RowPass& pass) {
  const Ratio rows = pass.rows == ProductRows::kTokens             ? context.shape.tokens
                     : pass.rows == ProductRows::kSequenceParallel ? context.shape.sequence_parallel_tokens
                                                                   : work.routed_rows;
  const Ratio hidden = context.model.hidden, widths = pass.columns / hidden;
  return {Figure("Memory traffic of the pass, forward", AtWidth(context, rows * widths * hidden * (pass.forward * kB)),
                 "each operand once", kElementwiseSource),
          Figure("Memory traffic of the pass, backward",
                 AtWidth(context, rows * widths * hidden * (pass.backward * kB)), "", kElementwiseSource)};
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
BothPasses TimeRouted(const TrainingContext& context, const LayerWork& work) {
  const Ratio permute = context.framework().experts.permute_traffic, width = RoutedWidth(context.model),
              expert = work.expert_columns;
  const auto [inner_forward, inner_backward, output_forward, output_backward] = TrafficOfBiases(context);
  const Ratio biased_forward = Figure("Bytes per routed row of unfused biases, forward",
                                      inner_forward * expert + output_forward * width, "", kElementwiseSource);
  const Ratio biased_backward = Figure("Bytes per routed row of unfused biases, backward",
                                       inner_backward * expert + output_backward * width, "", kElementwiseSource);
  const Seconds permutation =
      Figure("Permutation of routed rows",
             AtWidth(context, permute * work.even_rows * width * kB) / context.stream_rate, "", kElementwiseSource);
  const BytesPerSecond rate = min(context.elementwise_rate, context.stream_rate);
  return {permutation + biased_forward * work.routed_rows * kB / rate,
          2 * permutation + biased_backward * work.routed_rows * kB / rate};
}

// Norms, residuals, rotary embedding, activation functions, routing: every operand once, at the framework's elementwise
// rate.
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
    const BothPasses passes = TimeRouted(context, work);
    forward += passes.forward, backward += passes.backward, routed += passes.forward;
  }
  return {Figure("Elementwise passes, forward", forward, "", kElementwiseSource),
          Figure("Elementwise passes, backward", backward, "", kElementwiseSource),
          Figure("Norms and activation functions, forward", light / rate, "repeated by the lightest recomputation",
                 kElementwiseSource),
          routed};
}

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

// Low-rank adapters beside the frozen GEMMs: two thin GEMMs each, and their gradients; memory-bandwidth-bound up to a
// rank of about 200.
BothPasses TimeAdapters(const TrainingContext& context, const LayerWork& work) {
  if (context.run.trainable != Trainable::kLora) return {};
  const Ratio rank = context.framework().lora_rank, traffic = context.framework().compute.adapter_traffic;
  const BytesPerSecond element_rate = context.elementwise_rate;
  const FlopsPerSecond peak_rate = PeakRate(context.device(), context.matrix_precision);
  BothPasses thin;
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

// Kernels and their launches overlap; this is the exposed part of the launches.
Seconds HostWait(Seconds device_time, Seconds launch_time) {
  return Figure("Wait for launches", norm(device_time, launch_time, 4) - device_time,
                "kernels and their launches overlap; the fourth norm says how far");
}

// Host time of a layer's launches, forward and backward.
Seconds LayerLaunches(const TrainingContext& context, bool has_experts) {
  const FrameworkCompute& framework = context.framework().compute;
  const Seconds plain = has_experts ? framework.moe_layer_launch : framework.layer_launch;
  const bool is_adapted = context.run.trainable == Trainable::kLora && framework.adapter_launch > Seconds{};
  if (!HasPipelinedLaunches(context) && !is_adapted) return plain;
  const Seconds of_adapters = is_adapted ? framework.adapter_launch : Seconds{},
                per_rank = HasPipelinedLaunches(context) ? *framework.pipelined_launch : Seconds{};
  return Figure("Launches of a layer", plain + of_adapters + per_rank * context.shape.tensor,
                "more for low-rank adapters, and per TP rank under this framework's pipeline");
}

// Sets the host waits of `time`, and its weight-gradient pass if the schedule has one; the other parts of `time` must
// be complete. `weight_gradients`: the part of the backward pass that a schedule may postpone. `backward_launches`:
// launches of the backward pass relative to one without recomputation. A third of a layer's launches belong to the
// forward pass.
void AddHostWaits(const TrainingContext& context, const LayerWork& work, Seconds weight_gradients,
                  Ratio backward_launches, LayerTime& time) {
  const Seconds launches = LayerLaunches(context, work.routed_rows > 0), forward_launches = launches / 3;
  const Seconds backward_launch = Figure("Launches of the backward pass", 2 * launches / 3 * backward_launches,
                                         "two thirds of the layer's; more where it repeats the forward pass");
  time.forward.host = time.backward.host = time.weight_gradient = {};
  const Seconds forward_busy = Figure("Forward pass of a layer", time.forward.Total(), "launch waits apart");
  const Seconds backward_busy =
      Figure("Backward pass of a layer with its recomputation", time.Backward(), "launch waits apart");
  if (SplitsBackward(context) && weight_gradients > Seconds{}) {
    // Each pass waits for its own launches; otherwise a shorter pass could lengthen the other one.
    const Seconds weight_wait = HostWait(weight_gradients, forward_launches);
    const Seconds input_wait = HostWait(backward_busy - weight_gradients, backward_launch - forward_launches);
    time.backward.host = Figure("Wait for launches, backward", input_wait + weight_wait);
    time.weight_gradient = Figure("Weight gradients of a layer", weight_gradients + weight_wait, "a pass of their own");
  } else {
    time.backward.host = HostWait(backward_busy, backward_launch);
  }
  time.forward.host = HostWait(forward_busy, forward_launches);
}

void RecordCoreAndElementwise(LayerOperators* operators, const TrainingContext& context, const CoreTime& core,
                              const Elementwise& elementwise) {
  RecordOperator(operators, context, "attention core", "", core.forward, core.forward.time);
  RecordOperator(operators, context, "attention core", ", backward", core.backward, core.backward.time);
  // Counted in unfused bytes, a fusing compiler exceeds the memory bandwidth; report the bytes that can really move.
  const BytesPerSecond moved = min(context.elementwise_rate, context.stream_rate);
  const auto stream = [&](Seconds time) {
    return KernelTime{time, {}, {}, context.stream_bound, {}, time * moved, time * moved, time * moved};
  };
  RecordOperator(operators, context, "element-wise", "", stream(elementwise.forward), elementwise.forward);
  RecordOperator(operators, context, "element-wise", ", backward", stream(elementwise.backward), elementwise.backward);
}

// GEMMs of the backward pass per GEMM of the forward pass: frozen weights need no weight gradient.
double BackwardProducts(const TrainingContext& context) { return context.run.trainable == Trainable::kLora ? 1 : 2; }

Flops AllFlops(const LayerTime& time) {
  return Figure("FLOPs of a layer or of the LM head", time.forward_flops + time.backward_flops + time.recomputed_flops,
                "all passes of a micro-batch");
}

// Whether full recomputation omits the MLP's second GEMM. It cannot with experts, because the gradient of the routing
// weights needs their output, nor with an adapter, whose products run after that GEMM.
bool StopsBeforeLast(const TrainingContext& context, bool has_experts) {
  const bool is_adapted =
      context.run.trainable == Trainable::kLora && IsAdapted(context.framework(), ProductRole::kMlp);
  return context.framework().compute.stops_recomputing && !has_experts && !is_adapted;
}

struct LayerParts {
  const Sums& products;
  const CoreTime& core;
  const Elementwise& elementwise;
  const Exchange& tensor;
};

// Adds what selective recomputation repeats, for a layer whose other passes are complete. A framework's selection keeps
// results of dense GEMMs and of attention, and repeats all of the routed experts.
void AddRecompute(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan,
                  const LayerParts& parts, LayerTime& time) {
  const auto& [products, core, elementwise, tensor] = parts;
  // Flash attention always recomputes its scores.
  const Ratio repeats_core = context.run.flash_attention ? Ratio(0) : plan.core,
              repeats_latents = RepeatsLatents(context.model, work, plan) ? plan.latents : Ratio(0);
  Seconds selected = plan.share * time.forward.compute;
  Flops selected_flops = plan.share * time.forward_flops;
  if (plan.framework_selection && work.routed_rows > 0) {
    selected += (1 - plan.share) * (products.routed + elementwise.routed);
    selected_flops += (1 - plan.share) * products.routed_flops;
  }
  time.recompute.compute =
      Figure("Selective recomputation",
             plan.norms * elementwise.norms + repeats_latents * products.latents + repeats_core * core.forward.time +
                 min(selected, time.forward.compute - time.unneeded),
             "in the backward pass; never more than a full one");
  if (plan.framework_selection && tensor.repeated_link > Seconds{}) {
    time.recompute.tp = tensor.repeated;
    time.recompute.tp_link = tensor.repeated_link;
  }
  time.recomputed_flops = Figure("FLOPs repeated in the backward pass of a layer",
                                 min(selected_flops, time.forward_flops - time.unneeded_flops) +
                                     repeats_core * core.forward.flops + repeats_latents * products.latent_flops);
}

}  // namespace

LayerTime TimeLayer(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan,
                    LayerOperators* operators) {
  Sums products;
  for (const LayerProduct& product : work.products) TimeProduct(context, product, products, operators);
  const CoreTime core = TimeCore(context, work.attention);
  const Elementwise elementwise = TimeElementwise(context, work);
  const BothPasses adapters = TimeAdapters(context, work);
  if (operators != nullptr) RecordCoreAndElementwise(operators, context, core, elementwise);
  const bool has_experts = work.routed_rows > 0;
  const Exchange tensor = TensorExchange(context, has_experts ? Ratio(1) : ResidualAdditions(context.model));
  const ContextExchange ring = ExchangeContext(context, work.attention, core.forward.time, core.backward.time);
  const Exchange experts = has_experts ? ExchangeExperts(context, work) : Exchange{};

  const Seconds forward = Figure("Forward compute of a layer",
                                 Figure("GEMMs of a layer, forward", products.forward) + core.forward.time +
                                     elementwise.forward + adapters.forward,
                                 "one micro-batch");
  const Seconds weight_gradients = Figure("GEMMs of a layer, weight gradients", products.weight_gradient);
  const Seconds backward = Figure("Backward compute of a layer",
                                  Figure("GEMMs of a layer, input gradients", products.input_gradient) +
                                      weight_gradients + core.backward.time + elementwise.backward + adapters.backward,
                                  "one micro-batch");
  LayerTime time;
  time.forward = {forward, tensor.exposed, ring.forward.exposed, experts.exposed,
                  {},      tensor.link,    ring.forward.link,    experts.link};
  time.backward = {backward, tensor.exposed, ring.backward.exposed, experts.exposed,
                   {},       tensor.link,    ring.backward.link,    experts.link};
  const Flops product_flops = Figure("FLOPs of a layer's GEMMs, forward", products.forward_flops);
  time.forward_flops =
      Figure("FLOPs of a layer, forward", product_flops + core.forward.flops, "as its kernels execute them");
  time.backward_flops = Figure("FLOPs of a layer, backward",
                               BackwardProducts(context) * product_flops + core.backward.flops, "recomputation apart");
  if (StopsBeforeLast(context, has_experts)) time.unneeded = products.last, time.unneeded_flops = products.last_flops;
  AddRecompute(context, work, plan, {products, core, elementwise, tensor}, time);
  time.all_flops = AllFlops(time);
  AddHostWaits(context, work, weight_gradients, 1, time);
  time.weight_gradient_compute = weight_gradients;
  return time;
}

LayerTime WithFullRecompute(const TrainingContext& context, const LayerWork& work, LayerTime time) {
  constexpr std::string_view kUnneeded =
      "without a last GEMM whose output no gradient needs, where the framework stops";
  time.recompute = time.forward;
  time.recompute.host = {};
  time.recompute.compute = Figure("Full recomputation", time.forward.compute - time.unneeded, kUnneeded);
  time.recomputed_flops = Figure("FLOPs of full recomputation", time.forward_flops - time.unneeded_flops, kUnneeded);
  time.all_flops = AllFlops(time);
  AddHostWaits(context, work, time.weight_gradient_compute, context.framework().compute.backward_launches, time);
  return time;
}

LayerTime TimeEmbedding(const TrainingContext& context) {
  const Model& model = context.model;
  Ratio columns = model.hidden;
  if (model.layer_embeddings.width > 0)
    columns = Figure("Columns of a token's rows", columns + Ratio(model.layers) * Ratio(model.layer_embeddings.width),
                     "of the embedding and of every layer's");
  const Seconds all = Figure("Embedding", 12 * kB * context.shape.tokens * columns / context.elementwise_rate,
                             "gather, then scatter-add in the backward pass");
  LayerTime time;
  time.forward.compute = Figure("Embedding, forward", all / 3, "the gather");
  time.backward.compute = Figure("Embedding, backward", 2 * all / 3, "the scatter-add reads and writes");
  return time;
}

LayerTime TimeHead(const TrainingContext& context) {
  const LayerWidths widths = WidthsOf(context.model, context.shape.tensor, context.shape.expert_tensor);
  const LayerProduct product{HeadProduct(context.model, widths), context.shape.tokens};
  Sums sums;
  TimeProduct(context, product, sums, nullptr);
  const FrameworkCompute& compute = context.framework().compute;
  const Ratio logits = Figure("Logits on one device", context.shape.tokens * product.outputs);
  // In place, logits in 16 bits are written, read for their largest value and their sum, and read once more while their
  // gradient is written over them (NVIDIA/TransformerEngine, transformer_engine/pytorch/triton/cross_entropy.py).
  // With an fp32 copy, logits are written (2) and copied (6), the loss makes its three passes (12), and its gradient is
  // cast to 16 bits (6).
  const Ratio in_place = context.framework().memory.fp32_logits ? 2 + 6 + 12 + 6 : 4 * 2,
              traffic = context.run.loss_in_place ? min(compute.logit_traffic, in_place) : compute.logit_traffic;
  const Seconds loss =
      Figure("Softmax and loss", traffic * kB * logits / context.stream_rate, "passes over the logits");
  LayerTime time;
  time.forward.compute =
      Figure("LM head and loss, forward", sums.forward + compute.loss_forward * loss, "", kElementwiseSource);
  time.backward.compute =
      Figure("LM head and loss, backward",
             sums.input_gradient + sums.weight_gradient + (1 - compute.loss_forward) * loss, "", kElementwiseSource);
  if (SplitsBackward(context)) time.weight_gradient = sums.weight_gradient;
  time.forward_flops = Figure("FLOPs of the LM head, forward", sums.forward_flops);
  time.backward_flops = Figure("FLOPs of the LM head, backward", BackwardProducts(context) * time.forward_flops);
  time.all_flops = AllFlops(time);
  return time;
}

LayerPass& LayerPass::operator+=(const LayerPass& other) {
  compute += other.compute, tp += other.tp, cp += other.cp, ep += other.ep, host += other.host;
  tp_link += other.tp_link, cp_link += other.cp_link, ep_link += other.ep_link;
  return *this;
}

LayerPass operator*(LayerPass pass, Ratio times) {
  for (Seconds LayerPass::* part : {&LayerPass::compute, &LayerPass::tp, &LayerPass::cp, &LayerPass::ep,
                                    &LayerPass::host, &LayerPass::tp_link, &LayerPass::cp_link, &LayerPass::ep_link}) {
    pass.*part *= times;
  }
  return pass;
}

}  // namespace slipstick
