#include "core/training/memory.h"

#include <algorithm>

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kActivationSource = "counted a tensor; Korthikanti et al. 2022, table 2";

bool NarrowRecipe(const TrainingContext& context) { return BytesPerElement(NativePrecision(context.device(), context.run.precision)) < 2; }

double BytesOf(StatePrecision precision) {
  switch (precision) {
    case StatePrecision::kFp32:
      return 4;
    case StatePrecision::kBf16:
    case StatePrecision::kFp16:
      return 2;
    case StatePrecision::kFp8:
    case StatePrecision::kInt8:
      return 1 + 4.0 / 128;  // and an fp32 scale a block of 128
    case StatePrecision::kNone:
      return 0;
  }
  return 4;
}

// Tokens' worth of the residual stream that a device holds.
double ResidualTokens(const TrainingContext& context) {
  const TrainingShape& shape = context.shape;
  return context.framework().memory.splits_residual ? shape.tokens / shape.tensor : shape.own_tokens;
}

// Activation functions' inputs are made again from the products' outputs; norms from the residual stream.
double KeptHidden(const FrameworkMemory& memory, bool flash, bool narrow, bool norms) {
  return memory.hidden + (flash ? 0 : 2) - (narrow ? memory.hidden_saved_fp8 : 0) - (norms ? 4 : 0);
}

}  // namespace

StateBytes StateBytesOf(const TrainingContext& context) {
  const TrainingRun& run = context.run;
  const FrameworkMemory& framework = context.framework().memory;
  const bool narrow = NarrowRecipe(context), wide = BytesPerElement(run.precision) >= 4;
  StateBytes bytes;
  bytes.weights = bytes.adapter_weights = wide ? 4 : narrow ? framework.weights_fp8 : framework.weights;
  // No update rounds them: frozen weights need no more than the format they are multiplied in.
  if (run.trainable == Trainable::kLora) {
    bytes.weights = narrow ? framework.frozen_weights_fp8 : BytesPerElement(NativePrecision(context.device(), run.precision));
  }
  bytes.gradients = run.state.gradients ? BytesOf(*run.state.gradients) : narrow ? framework.gradients_fp8 : framework.gradients;
  const bool own_master = !framework.weights_are_master && !wide;
  const double master = run.state.master_weights ? BytesOf(*run.state.master_weights) : own_master ? 4 : 0;
  const double moment = run.state.moments ? BytesOf(*run.state.moments) : 4;
  switch (run.optimizer) {
    case Optimizer::kAdamW:
      bytes.optimizer = master + 2 * moment;
      break;
    case Optimizer::kAdam8Bit:
      bytes.optimizer = master + 2 * (run.state.moments ? moment : 1 + 4.0 / 256);
      break;
    case Optimizer::kMuon:
    case Optimizer::kSgd:
      bytes.optimizer = master + moment;
      break;
    case Optimizer::kAdafactor:
      bytes.optimizer = master;  // row and column statistics only
      break;
    case Optimizer::kNone:
      bytes.optimizer = 0;
      bytes.gradients = 0;
      break;
  }
  return bytes;
}

RecomputeChoice ChoiceFor(const TrainingRun& run) {
  RecomputeChoice choice;
  if (run.recompute == Recompute::kFull) choice.full_share = 1;
  if (run.recompute == Recompute::kSelective) {
    choice.rest.share = run.framework.compute.selective_share;
    choice.rest.own = run.framework.memory.selective_kept < 1;
    choice.rest.core = !choice.rest.own;
  }
  return choice;
}

Bytes LayerCheckpoint(const TrainingContext& context) {
  return 2 * kB * ResidualTokens(context) * static_cast<double>(context.model.hidden);
}

Bytes LayerActivations(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan) {
  const TrainingShape& shape = context.shape;
  const FrameworkMemory& memory = context.framework().memory;
  const bool flash = context.run.flash_attention, narrow = NarrowRecipe(context), gated = context.model.gated;
  const double hidden = static_cast<double>(context.model.hidden);
  const double mlp = (gated ? memory.gated : memory.plain) - (narrow ? memory.gated_saved_fp8 : 0) - (plan.norms ? 2 : 0);
  // A frozen product keeps its input only where an adapter needs it.
  const bool lora = context.run.trainable == Trainable::kLora;
  const double hidden_kept = lora ? 6 + (flash ? 0 : 2) : KeptHidden(memory, flash, narrow, plan.norms), mlp_kept = lora ? 4 : mlp;
  double bytes = hidden_kept * hidden * ResidualTokens(context);
  bytes += shape.tokens * (2 * work.attention.columns + mlp_kept * work.mlp_columns);
  if (flash) {
    bytes += 4 * work.attention.heads * shape.tokens;
  } else if (!plan.core && !work.attention.is_recurrence) {
    bytes += 5 * work.attention.all_pairs;  // softmax, its mask, the dropped output
  }
  if (work.routed_rows > 0) {
    const double routed = narrow ? 5 * work.expert_columns + hidden : 6 * work.expert_columns + 2 * hidden;
    bytes += work.routed_rows * (routed - (plan.norms ? 2 * work.expert_columns : 0));
  }
  const double kept = plan.own ? memory.selective_kept : 1;
  return kept * bytes * kB;
}

double PassesInFlight(const TrainingShape& shape, PipelineSchedule schedule, double stage) {
  const double p = shape.pipeline, v = shape.chunks, m = shape.micro_batches;
  switch (schedule) {
    case PipelineSchedule::kGpipe:
      return m;
    case PipelineSchedule::kZbH1:
    case PipelineSchedule::kZbV:
      return min(m, p);
    case PipelineSchedule::kDualPipe:
      return min(m, p + 1);
    case PipelineSchedule::kOneFOneB:
      break;
  }
  if (v <= 1) return min(m, p - stage);
  return min(m * v, 2 * (p - 1 - stage) + (v - 1) * p + 1) / v;
}

TrainingMemory StageMemory(const MemoryTerms& terms, const Stage& stage, double index, const RecomputeChoice& recompute, Trace& trace) {
  const TrainingContext& context = terms.context;
  const TrainingShape& shape = context.shape;
  const TrainingRun& run = context.run;
  const FrameworkMemory& framework = context.framework().memory;
  const double zero = static_cast<double>(run.mapping.zero), hidden = static_cast<double>(context.model.hidden);
  const StateBytes state = StateBytesOf(context);
  const bool lora = run.trainable == Trainable::kLora, replicas = shape.DataRanks() > 1;
  const double copies = WeightCopies(run);
  const double dense = copies * stage.dense_parameters, experts = copies * stage.expert_parameters;
  const double dense_shards = ShardRanks(run, shape.DataRanks()), expert_shards = ShardRanks(run, shape.ExpertDataRanks());
  const double trained_dense = lora ? stage.adapter_parameters : dense, trained_experts = lora ? 0 : experts;

  const double weight_bytes = state.weights, adapter_bytes = state.adapter_weights;
  const double gradient_bytes =
      state.gradients + (replicas ? framework.data_parallel_gradients : 0) + (replicas && zero >= 1 ? framework.sharded_gradients : 0);
  const double optimizer_bytes = state.optimizer + (replicas && zero >= 1 ? framework.sharded_optimizer : 0);
  const double adapters = lora ? stage.adapter_parameters : 0;
  const double weight_shards = zero >= 3 ? dense_shards : 1, expert_weight_shards = zero >= 3 ? expert_shards : 1;
  const double gradient_shards = zero >= 2 ? dense_shards : 1, expert_gradient_shards = zero >= 2 ? expert_shards : 1;
  const Bytes byte = 1 * kB;
  FIGURE(trace, weights, byte * (weight_bytes * (dense / weight_shards + experts / expert_weight_shards) + adapter_bytes * adapters),
         (Note{"Weights", "of one device of the stage", "", "training.memory_bytes.weights"}), byte, weight_bytes, dense, weight_shards,
         experts, expert_weight_shards, adapter_bytes, adapters);
  FIGURE(trace, gradients, byte * gradient_bytes * (trained_dense / gradient_shards + trained_experts / expert_gradient_shards),
         (Note{"Gradients", "in the framework's formats", "", "training.memory_bytes.gradients"}), byte, gradient_bytes, trained_dense,
         gradient_shards, trained_experts, expert_gradient_shards);
  const double offloaded_state = run.offload.optimizer, offloaded_activations = run.offload.activations;
  const double kept_hidden = framework.kept_hidden, own_tokens = shape.own_tokens, tokens = shape.tokens;
  const Bytes library = framework.fixed_static;
  FIGURE(trace, optimizer,
         byte * optimizer_bytes * (1 - offloaded_state) * (trained_dense / dense_shards + trained_experts / expert_shards) +
             byte * kept_hidden * tokens * hidden + library,
         (Note{"Optimizer state", "and what the libraries keep between steps", "", "training.memory_bytes.optimizer"}), byte,
         optimizer_bytes, offloaded_state, trained_dense, dense_shards, trained_experts, expert_shards, kept_hidden, tokens, hidden,
         library);

  // Activations: the stage's layers for every pass in flight, one whole layer while it is recomputed, the ends.
  const double full_share = recompute.full_share;
  Bytes kept_layers, working_layer, largest_kept;
  double largest_layer = 0;  // parameters on the device
  for (const LayerKind kind : kLayerKinds) {
    if (stage.layers.of[kind] == 0) continue;
    const Bytes kept = LayerActivations(context, terms.works.of[kind], recompute.rest);
    const Bytes whole = LayerActivations(context, terms.works.of[kind], RecomputePlan{});
    kept_layers += stage.layers.of[kind] * kept;
    largest_layer = max(largest_layer, terms.works.of[kind].dense_parameters + terms.works.of[kind].expert_parameters);
    const Bytes held = full_share > 0 ? LayerCheckpoint(context) : kept;
    largest_kept = max(largest_kept, full_share >= 1 ? held : kept);
    working_layer = max(working_layer, whole - held);  // what recomputation brings back while the layer runs backward
  }
  const double layers = stage.layers.Total(), passes = PassesInFlight(shape, run.mapping.schedule, index);
  const Bytes checkpoint = LayerCheckpoint(context);
  FIGURE(trace, in_flight, passes * ((1 - full_share) * kept_layers + full_share * layers * checkpoint),
         (Note{"Layers' activations in flight", "all micro-batches between their forward and backward pass", kActivationSource}), passes,
         full_share, kept_layers, layers, checkpoint);
  FIGURE(trace, resident,
         (1 - offloaded_activations) * in_flight + min(offloaded_activations * in_flight, 2 * offloaded_activations * largest_kept),
         (Note{"Of them on the device", "what is not offloaded, and two layers' on their way"}), offloaded_activations, in_flight,
         largest_kept);
  const double working_bytes = shape.tensor > 1 ? framework.working_hidden_tensor : framework.working_hidden;
  FIGURE(trace, working, working_layer + byte * working_bytes * tokens * hidden,
         (Note{"Working set of one layer", "what recomputation brings back beside what was kept, gathered inputs", kActivationSource}),
         working_layer, byte, working_bytes, tokens, hidden);
  const bool flash = run.flash_attention;
  const double dropout = stage.embedding && !flash ? passes : 0;  // the embedding's dropout mask
  const double ends = stage.head ? 4 : 0;                         // inputs of the final norm and of the head
  const double head_gathered = stage.head && shape.tensor > 1 ? framework.head_gathered : 0;
  const double logit_bytes = stage.head ? framework.logits : 0;
  const double vocabulary = static_cast<double>(context.model.vocab), tensor = shape.tensor;
  FIGURE(trace, end_bytes,
         byte * (dropout * own_tokens * hidden + ends * own_tokens * hidden + head_gathered * tokens * hidden +
                 logit_bytes * tokens * vocabulary / tensor),
         (Note{"Embedding and head", "gathered input; logits, their copy and gradient on the last stage", kActivationSource}), byte,
         dropout, own_tokens, hidden, ends, head_gathered, tokens, logit_bytes, vocabulary, tensor);
  FIGURE(trace, activations, resident + working + end_bytes,
         (Note{"Activations", "of the fullest moment", "", "training.memory_bytes.activations"}), resident, working, end_bytes);

  const double gathered_layers = zero >= 3 ? min(layers, static_cast<double>(framework.gathered_layers)) : 0;
  const Bytes constant = framework.constant;
  const double largest_share = layers > 0 && zero >= 1 ? largest_layer / dense_shards : largest_layer;
  const double moving_state = 2 * offloaded_state * optimizer_bytes * min(largest_share, lora ? adapters : largest_share);
  FIGURE(trace, workspace, constant + 2 * byte * gathered_layers * largest_layer + byte * moving_state,
         (Note{"Workspace", "buffers of the libraries, what the allocator holds beyond, gathered weights", "",
               "training.memory_bytes.workspace"}),
         constant, byte, gathered_layers, largest_layer, moving_state);
  FIGURE(trace, total, weights + gradients + optimizer + activations + workspace,
         (Note{"Memory of the fullest stage", "what the framework's allocator reserves at the peak", "", "training.memory_bytes.total"}),
         weights, gradients, optimizer, activations, workspace);
  const double state_parameters = trained_dense / dense_shards + trained_experts / expert_shards;
  FIGURE(trace, host, offloaded_activations * in_flight + byte * offloaded_state * optimizer_bytes * state_parameters,
         (Note{"In the host's memory", "offloaded activations and optimizer state", "", "training.memory_bytes.host"}),
         offloaded_activations, in_flight, byte, offloaded_state, optimizer_bytes, state_parameters);
  return {weights, gradients, optimizer, activations, workspace, host};
}

bool Fits(const MemoryTerms& terms, const std::vector<Stage>& stages, const RecomputeChoice& recompute, Bytes capacity) {
  Trace off = Trace::Off();
  double index = 0;
  for (const Stage& stage : stages) {
    const TrainingMemory memory = StageMemory(terms, stage, index, recompute, off);
    if (memory.Total() > capacity || memory.host > terms.context.device().host.memory) return false;
    index += 1;
  }
  return true;
}

}  // namespace slipstick
