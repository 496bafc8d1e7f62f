#include "core/training_stage/layer_time.h"

#include <string>

#include "core/base/sum.h"
#include "core/training_stage/attention_core.h"
#include "core/training_stage/element_wise.h"
#include "core/training_stage/exchange.h"
#include "core/training_stage/launch_waits.h"
#include "core/training_stage/product_time.h"

namespace slipstick {
namespace {

void RecordCoreAndElementwise(LayerOperators* operators, const TrainingContext& context, const CoreTime& core,
                              const Elementwise& elementwise) {
  RecordOperator(operators, context, "attention core", "",
                 {core.forward,
                  {},
                  {},
                  core.forward_bound,
                  core.forward_flops,
                  core.forward_bytes,
                  core.forward_l2,
                  core.forward_l1},
                 core.forward);
  RecordOperator(operators, context, "attention core", ", backward",
                 {core.backward,
                  {},
                  {},
                  core.backward_bound,
                  core.backward_flops,
                  core.backward_bytes,
                  core.backward_l2,
                  core.backward_l1},
                 core.backward);
  // By the count of unfused bytes a fusing compiler exceeds the memory bandwidth; report what can really move.
  const BytesPerSecond moved = min(context.elementwise_rate, context.stream_rate);
  const auto stream = [&](Seconds time) {
    return KernelTime{time, {}, {}, context.stream_bound, {}, time * moved, time * moved, time * moved};
  };
  RecordOperator(operators, context, "element-wise", "", stream(elementwise.forward), elementwise.forward);
  RecordOperator(operators, context, "element-wise", ", backward", stream(elementwise.backward), elementwise.backward);
}

// What a layer's recomputation repeats: 1 or 0.
void BindRepeated(double repeats_norms, double repeats_latents, double repeats_core, Trace& trace) {
  trace.Input("repeats_norms", repeats_norms, "training.recompute");
  trace.Input("repeats_latents", repeats_latents, "training.recompute");
  trace.Input("repeats_core", repeats_core, "training.recompute");
  trace.Alias("repeats_norms", repeats_norms, "chosen_norms");
  trace.Alias("repeats_latents", repeats_latents, "chosen_latents");
  trace.Alias("repeats_core", repeats_core, "chosen_core");
}

// Times of groups with one rank.
void BindAbsent(const TrainingContext& context, bool has_experts, Trace& trace) {
  if (!trace.on()) return;
  const Seconds none;
  const auto absent = [&](const std::string& group, double degree) {
    for (const std::string direction : {"forward_", "backward_"}) {
      RecordNone({direction + group, direction + group + "_link"}, "(" + group + " - 1)",
                 Note{"Communication of a layer", "none in a group of one rank"}, group, degree, trace);
    }
  };
  if (context.shape.tensor <= 1) absent("tp", context.shape.tensor);
  if (context.shape.context <= 1) absent("cp", context.shape.context);
  if (has_experts && context.shape.expert * context.shape.expert_tensor <= 1) absent("ep", context.shape.expert);
  for (const std::string end : {"", "_link"}) {
    for (const std::string group : {"tp", "cp", "ep"})
      trace.Input("recompute_" + group + end, none, "training.recompute");
    if (has_experts) continue;
    for (const std::string direction : {"forward_", "backward_"})
      trace.Input(direction + "ep" + end, none, "model.moe");
  }
}

// Communication of one layer in one direction, under the names that its passes use: "forward_tp", "backward_tp".
void BindExchange(const Exchange& exchange, std::string_view group, Trace& trace) {
  if (!trace.on()) return;
  for (const std::string direction : {"forward_", "backward_"}) {
    trace.Alias(direction + std::string(group), exchange.exposed, "exposed_time");
    trace.Alias(direction + std::string(group) + "_link", exchange.link, "link_time");
  }
}

void RepeatGathers(const Exchange& tensor, const RecomputePlan& plan, LayerTime& time, Trace& trace) {
  if (!plan.framework_selection || !(tensor.repeated_link > Seconds{})) return;
  time.recompute.tp = tensor.repeated;
  time.recompute.tp_link = tensor.repeated_link;
  trace.Alias("recompute_tp", tensor.repeated, "repeated_gathers");
  trace.Alias("recompute_tp_link", tensor.repeated_link, "repeated_link");
}

// Parts of a layer over its passes, as a stage sums them.
void ExplainSums(const LayerTime& time, Trace& trace) {
  if (!trace.on()) return;
  const auto sum = [&](std::string_view group, Seconds LayerPass::* part) {
    const std::string name(group);
    const std::string names = "forward_" + name + ", backward_" + name + ", recompute_" + name;
    const std::string formula = "forward_" + name + " + backward_" + name + " + recompute_" + name;
    const Seconds forward = time.forward.*part, backward = time.backward.*part, recompute = time.recompute.*part;
    trace.Record("layer_" + name, formula, forward + backward + recompute,
                 Note{"Communication of a layer", "all passes of a micro-batch"}, names, forward, backward, recompute);
  };
  sum("tp", &LayerPass::tp), sum("cp", &LayerPass::cp), sum("ep", &LayerPass::ep);
  sum("tp_link", &LayerPass::tp_link), sum("cp_link", &LayerPass::cp_link), sum("ep_link", &LayerPass::ep_link);
}

// GEMMs of the backward pass per GEMM of the forward pass: frozen weights need no weight gradient.
double BackwardProducts(const TrainingContext& context, Trace& trace) {
  const double backward_products = context.run.trainable == Trainable::kLora ? 1 : 2;
  trace.Input("backward_products", backward_products, "training.trainable");
  return backward_products;
}

// FLOPs of a layer's kernels, recomputation apart.
void SetFlops(const TrainingContext& context, const Sums& products, const CoreTime& core, LayerTime& time,
              Trace& trace) {
  const Flops products_flops = products.forward_flops.Total("products_flops", {"FLOPs of a layer's GEMMs, forward"});
  const Flops core_forward_flops = core.forward_flops, core_backward_flops = core.backward_flops;
  const double backward_products = BackwardProducts(context, trace);
  FIGURE(trace, forward_flops, products_flops + core_forward_flops,
         (Note{"FLOPs of a layer, forward", "as its kernels execute them"}), products_flops, core_forward_flops);
  FIGURE(trace, backward_flops, backward_products * products_flops + core_backward_flops,
         (Note{"FLOPs of a layer, backward", "recomputation apart"}), backward_products, products_flops,
         core_backward_flops);
  time.forward_flops = forward_flops;
  time.backward_flops = backward_flops;
}

Flops AllFlops(const LayerTime& time, Trace& trace) {
  return Sum<Flops>(trace, "layer_flops", Note{"FLOPs of a layer or of the LM head", "all passes of a micro-batch"},
                    {{"forward_flops", time.forward_flops},
                     {"backward_flops", time.backward_flops},
                     {"recomputed_flops", time.recomputed_flops, time.recomputed_flops > Flops{}}});
}

}  // namespace

LayerTime TimeLayer(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan, Trace& trace,
                    LayerOperators* operators) {
  Sums products(trace);
  for (const LayerProduct& product : work.products) TimeProduct(context, product, products, trace, operators);
  const CoreTime core = TimeCore(context, work.attention, trace);
  const Elementwise elementwise = TimeElementwise(context, work, trace);
  const Adapters adapters = TimeAdapters(context, work, trace);
  if (operators != nullptr) RecordCoreAndElementwise(operators, context, core, elementwise);
  const bool has_experts = work.routed_rows > 0;
  const Exchange tensor = TensorExchange(context, has_experts ? Ratio(1) : ResidualAdditions(context.model), trace);
  BindExchange(tensor, "tp", trace);
  const ContextExchange ring = ExchangeContext(context, work.attention, core.forward, core.backward, trace);
  const Exchange experts = has_experts ? ExchangeExperts(context, work, trace) : Exchange{};
  BindExchange(experts, "ep", trace);
  BindAbsent(context, has_experts, trace);

  LayerTime time;
  const Seconds products_forward = products.forward.Total("products_forward", {"GEMMs of a layer, forward"});
  const Seconds core_forward = core.forward, element_forward = elementwise.forward;
  const Seconds adapters_forward = adapters.forward;
  trace.Alias("element_forward", element_forward, "element_wise_forward");
  trace.Alias("norms_time", elementwise.norms, "element_wise_norms");
  trace.Alias("element_backward", elementwise.backward, "element_wise_backward");
  FIGURE(trace, forward_compute, products_forward + core_forward + element_forward + adapters_forward,
         (Note{"Forward compute of a layer", "one micro-batch"}), products_forward, core_forward, element_forward,
         adapters_forward);
  const Seconds input_gradients =
      products.input_gradient.Total("input_gradients", {"GEMMs of a layer, input gradients"});
  const Seconds weight_gradients =
      products.weight_gradient.Total("weight_gradients", {"GEMMs of a layer, weight gradients"});
  if (context.run.trainable == Trainable::kLora)
    trace.Input("weight_gradients", weight_gradients, "training.trainable");
  const Seconds core_backward = core.backward, element_backward = elementwise.backward,
                adapters_backward = adapters.backward;
  FIGURE(trace, backward_compute,
         input_gradients + weight_gradients + core_backward + element_backward + adapters_backward,
         (Note{"Backward compute of a layer", "one micro-batch"}), input_gradients, weight_gradients, core_backward,
         element_backward, adapters_backward);
  time.forward = {forward_compute, tensor.exposed,    ring.forward.exposed, experts.exposed, {},
                  tensor.link,     ring.forward.link, experts.link};
  time.backward = {backward_compute, tensor.exposed,     ring.backward.exposed, experts.exposed, {},
                   tensor.link,      ring.backward.link, experts.link};
  SetFlops(context, products, core, time, trace);

  const double repeats_norms = plan.norms ? 1 : 0;
  // Flash attention recomputes its scores in any case.
  const double repeats_core = plan.core && !context.run.flash_attention ? 1 : 0;
  const Seconds norms_time = elementwise.norms;
  const double repeats_latents = RepeatsLatents(context.model, work, plan) ? 1 : 0;
  BindRepeated(repeats_norms, repeats_latents, repeats_core, trace);
  FIGURE(trace, repeated_norms, repeats_norms * norms_time, (Note{"Norms and activation functions repeated"}),
         repeats_norms, norms_time);
  FIGURE(trace, repeated_core, repeats_core * core_forward, (Note{"Attention core repeated"}), repeats_core,
         core_forward);
  const Seconds latents_forward =
      products.latents.Total("latents_forward", {"Projections up from the latents, forward"});
  FIGURE(trace, repeated_latents, repeats_latents * latents_forward, (Note{"Projections up from the latents repeated"}),
         repeats_latents, latents_forward);
  const double share = plan.share;
  const bool is_selection =
      context.run.recompute == Recompute::kSelective && share == context.framework().compute.selective_share;
  trace.Input("share", share, is_selection ? "training.framework.compute.selective_share" : "training.recompute");
  FIGURE(trace, recompute_time, repeated_norms + repeated_latents + repeated_core + share * forward_compute,
         (Note{"Selective recomputation", "in the backward pass"}), repeated_norms, repeated_latents, repeated_core,
         share, forward_compute);
  trace.Alias("recompute_compute", recompute_time, "recompute_time");
  time.recompute.compute = recompute_time;
  RepeatGathers(tensor, plan, time, trace);
  const Flops forward_flops = time.forward_flops, core_forward_flops = core.forward_flops;
  const Flops latent_flops =
      products.latent_flops.Total("latent_flops", {"FLOPs of the projections up from the latents, forward"});
  FIGURE(trace, recomputed_flops,
         share * forward_flops + repeats_core * core_forward_flops + repeats_latents * latent_flops,
         (Note{"FLOPs repeated in the backward pass of a layer"}), share, forward_flops, repeats_core,
         core_forward_flops, repeats_latents, latent_flops);
  time.recomputed_flops = recomputed_flops;
  time.all_flops = AllFlops(time, trace);
  AddHostWaits(context, work, weight_gradients, 1, time, trace);
  ExplainSums(time, trace);
  time.weight_gradient_compute = weight_gradients;
  return time;
}

LayerTime WithFullRecompute(const TrainingContext& context, const LayerWork& work, LayerTime time, Trace& trace) {
  time.recompute = time.forward;
  time.recompute.host = {};
  for (const auto& [symbol, part, of] : {std::tuple{"recompute_compute", time.recompute.compute, "forward_compute"},
                                         std::tuple{"recompute_tp", time.recompute.tp, "forward_tp"},
                                         std::tuple{"recompute_cp", time.recompute.cp, "forward_cp"},
                                         std::tuple{"recompute_ep", time.recompute.ep, "forward_ep"},
                                         std::tuple{"recompute_tp_link", time.recompute.tp_link, "forward_tp_link"},
                                         std::tuple{"recompute_cp_link", time.recompute.cp_link, "forward_cp_link"},
                                         std::tuple{"recompute_ep_link", time.recompute.ep_link, "forward_ep_link"}}) {
    trace.Alias(symbol, part, of);
  }
  time.recomputed_flops = time.forward_flops;
  trace.Alias("recomputed_flops", time.recomputed_flops, "forward_flops");
  time.all_flops = AllFlops(time, trace);
  const Seconds weight_gradients = time.weight_gradient_compute;
  AddHostWaits(context, work, weight_gradients, context.framework().compute.backward_launches, time, trace);
  ExplainSums(time, trace);
  return time;
}

namespace {

// Columns of a token's rows in the embedding and in the tables of the layers.
double EmbeddedColumns(const Model& model, Trace& trace) {
  const auto hidden = static_cast<double>(model.hidden), layers = static_cast<double>(model.layers),
             layer_embedding = static_cast<double>(model.layer_embeddings.width);
  if (layer_embedding <= 0) return hidden;
  trace.Input("layer_embedding", layer_embedding, "model.layer_embedding");
  FIGURE(trace, embedded_columns, hidden + layers * layer_embedding,
         (Note{"Columns of a token's rows", "of the embedding and of every layer's"}), hidden, layers, layer_embedding);
  trace.Alias("hidden", embedded_columns, "embedded_columns");
  return embedded_columns;
}

}  // namespace

LayerTime TimeEmbedding(const TrainingContext& context, Trace& trace) {
  Trace::Scope scope(trace, "embedding");
  const double tokens = context.shape.tokens;
  const double hidden = EmbeddedColumns(context.model, trace);
  const BytesPerSecond element_rate = context.elementwise_rate;
  FIGURE(trace, embedding_time, 12 * kB * tokens * hidden / element_rate,
         (Note{"Embedding", "gather, then scatter-add in the backward pass"}), tokens, hidden, element_rate);
  FIGURE(trace, forward_compute, embedding_time / 3, (Note{"Embedding, forward", "the gather"}), embedding_time);
  FIGURE(trace, backward_compute, 2 * embedding_time / 3,
         (Note{"Embedding, backward", "the scatter-add reads and writes"}), embedding_time);
  LayerTime time;
  time.forward.compute = forward_compute;
  time.backward.compute = backward_compute;
  return time;
}

LayerTime TimeHead(const TrainingContext& context, Trace& trace) {
  Trace::Scope scope(trace, "head");
  const LayerWidths widths = WidthsOf(context.model, context.shape.tensor, context.shape.expert_tensor);
  const LayerProduct product{HeadProduct(context.model, widths), context.shape.tokens};
  if (trace.on()) {
    const Trace::Scope product_scope(trace, TraitsOf(product.id).name);
    ProductOf(product.id, context.model, widths, trace);
    trace.Alias("rows", product.rows, "tokens");
  }
  Sums sums(trace);
  TimeProduct(context, product, sums, trace, nullptr);
  const double tokens = context.shape.tokens, rank_vocab = product.outputs,
               logit_traffic = context.framework().compute.logit_traffic,
               loss_forward = context.framework().compute.loss_forward;
  FIGURE(trace, logits, tokens * rank_vocab, (Note{"Logits on one device"}), tokens, rank_vocab);
  const BytesPerSecond element_rate = context.elementwise_rate;
  FIGURE(trace, loss_time, logit_traffic * kB * logits / element_rate,
         (Note{"Softmax and loss", "passes over the logits"}), logit_traffic, logits, element_rate);
  LayerTime time;
  const Seconds product_forward = sums.forward.Total("product_forward", {"LM-head GEMM, forward"});
  const Seconds input_gradient = sums.input_gradient.Total("input_gradient", {"LM-head GEMM, input gradient"});
  const Seconds weight_gradient = sums.weight_gradient.Total("weight_gradient", {"LM-head GEMM, weight gradient"});
  if (context.run.trainable == Trainable::kLora) trace.Input("weight_gradient", weight_gradient, "training.trainable");
  trace.Input("loss_forward", loss_forward, "training.framework.compute.loss_forward");
  FIGURE(trace, forward_compute, product_forward + loss_forward * loss_time,
         (Note{"LM head and loss, forward", "", kElementwiseSource}), product_forward, loss_forward, loss_time);
  FIGURE(trace, backward_compute, input_gradient + weight_gradient + (1 - loss_forward) * loss_time,
         (Note{"LM head and loss, backward", "", kElementwiseSource}), input_gradient, weight_gradient, loss_forward,
         loss_time);
  time.forward.compute = forward_compute;
  time.backward.compute = backward_compute;
  trace.Alias("weight_gradient_pass", weight_gradient, "weight_gradient");
  if (SplitsBackward(context)) time.weight_gradient = weight_gradient;
  const Flops forward_flops = sums.forward_flops.Total("forward_flops", {"FLOPs of the LM head, forward"});
  const double backward_products = BackwardProducts(context, trace);
  FIGURE(trace, backward_flops, backward_products * forward_flops, (Note{"FLOPs of the LM head, backward"}),
         backward_products, forward_flops);
  time.forward_flops = forward_flops;
  time.backward_flops = backward_flops;
  time.all_flops = AllFlops(time, trace);
  return time;
}

}  // namespace slipstick
