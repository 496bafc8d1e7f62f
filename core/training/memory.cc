#include "core/training/memory.h"

#include <algorithm>

#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kActivationSource = "counted per tensor; Korthikanti et al. 2022, table 2";

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
      return 1 + 4.0 / 128;  // and one fp32 scale per block of 128
    case StatePrecision::kNone:
      return 0;
  }
  return 4;
}

// Tokens whose residual stream a device keeps.
double ResidualTokens(const TrainingContext& context) {
  const TrainingShape& shape = context.shape;
  return context.framework().memory.splits_residual ? shape.tokens / shape.tensor : shape.sequence_parallel_tokens;
}

// Bytes per token and hidden unit. `norms`: norms are recomputed from the residual stream.
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
  // Frozen weights are never updated, so the format of the GEMMs is enough.
  if (run.trainable == Trainable::kLora) {
    bytes.weights = narrow ? framework.frozen_weights_fp8 : BytesPerElement(NativePrecision(context.device(), run.precision));
  }
  bytes.gradients = run.state.gradients ? BytesOf(*run.state.gradients) : narrow ? framework.gradients_fp8 : framework.gradients;
  const bool has_master = !framework.weights_are_master && !wide;
  const double master = run.state.master_weights ? BytesOf(*run.state.master_weights) : has_master ? 4 : 0;
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

Bytes LayerCheckpoint(const TrainingContext& context) {
  return 2 * kB * ResidualTokens(context) * static_cast<double>(context.model.hidden);
}

Bytes LayerActivations(const TrainingContext& context, const LayerWork& work, const RecomputePlan& plan) {
  const TrainingShape& shape = context.shape;
  const FrameworkMemory& memory = context.framework().memory;
  const bool flash = context.run.flash_attention, narrow = NarrowRecipe(context), gated = context.model.gated;
  const double hidden = static_cast<double>(context.model.hidden);
  const double mlp = (gated ? memory.gated : memory.plain) - (narrow ? memory.gated_saved_fp8 : 0) - (plan.norms ? 2 : 0);
  // A frozen GEMM keeps its input only where an adapter needs it.
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
  const double kept = plan.framework_selection ? memory.selective_kept : 1;
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

namespace {

// Parameters of a stage on one device, and the ranks that they are sharded over.
struct StageParameters {
  double dense, experts;                  // all weights
  double trained_dense, trained_experts;  // with low-rank adapters only those
  double adapters;
  double dense_shards, expert_shards;  // of the optimizer state
};
StageParameters ParametersOf(const TrainingContext& context, const Stage& stage) {
  const TrainingRun& run = context.run;
  const TrainingShape& shape = context.shape;
  const bool lora = run.trainable == Trainable::kLora;
  const double copies = WeightCopies(run), dense = copies * stage.dense_parameters, experts = copies * stage.expert_parameters;
  return {dense,
          experts,
          lora ? stage.adapter_parameters : dense,
          lora ? 0 : experts,
          lora ? stage.adapter_parameters : 0,
          ShardRanks(run, shape.DataRanks()),
          ShardRanks(run, shape.ExpertDataRanks())};
}

// Optimizer bytes per parameter of the rank's shard.
double OptimizerBytes(const TrainingContext& context, const StateBytes& state) {
  const bool sharded = context.shape.DataRanks() > 1 && context.run.mapping.zero >= 1;
  return state.optimizer + (sharded ? context.framework().memory.sharded_optimizer : 0);
}

// Weights, gradients and optimizer state.
void AddState(const TrainingContext& context, const StageParameters& parameters, TrainingMemory& memory, Trace& trace) {
  const FrameworkMemory& framework = context.framework().memory;
  const StateBytes state = StateBytesOf(context);
  const double zero = static_cast<double>(context.run.mapping.zero), hidden = static_cast<double>(context.model.hidden);
  const bool replicas = context.shape.DataRanks() > 1;
  const auto [dense, experts, trained_dense, trained_experts, adapters, dense_shards, expert_shards] = parameters;
  const double weight_bytes = state.weights, adapter_bytes = state.adapter_weights;
  const double gradient_bytes =
      state.gradients + (replicas ? framework.data_parallel_gradients : 0) + (replicas && zero >= 1 ? framework.sharded_gradients : 0);
  const double optimizer_bytes = OptimizerBytes(context, state);
  const double weight_shards = zero >= 3 ? dense_shards : 1, expert_weight_shards = zero >= 3 ? expert_shards : 1;
  const double gradient_shards = zero >= 2 ? dense_shards : 1, expert_gradient_shards = zero >= 2 ? expert_shards : 1;
  const Bytes byte = 1 * kB;
  FIGURE(trace, weights, byte * (weight_bytes * (dense / weight_shards + experts / expert_weight_shards) + adapter_bytes * adapters),
         (Note{"Weights", "per device of the stage", "", "training.memory_bytes.weights"}), byte, weight_bytes, dense, weight_shards,
         experts, expert_weight_shards, adapter_bytes, adapters);
  FIGURE(trace, gradients, byte * gradient_bytes * (trained_dense / gradient_shards + trained_experts / expert_gradient_shards),
         (Note{"Gradients", "in the framework's formats", "", "training.memory_bytes.gradients"}), byte, gradient_bytes, trained_dense,
         gradient_shards, trained_experts, expert_gradient_shards);
  const double offloaded_state = context.run.offload.optimizer;
  const double kept_hidden = framework.kept_hidden, tokens = context.shape.tokens;
  const Bytes library = framework.fixed_static;
  FIGURE(trace, optimizer,
         byte * optimizer_bytes * (1 - offloaded_state) * (trained_dense / dense_shards + trained_experts / expert_shards) +
             byte * kept_hidden * tokens * hidden + library,
         (Note{"Optimizer state", "and buffers that libraries keep between steps", "", "training.memory_bytes.optimizer"}), byte,
         optimizer_bytes, offloaded_state, trained_dense, dense_shards, trained_experts, expert_shards, kept_hidden, tokens, hidden,
         library);
  memory.weights = weights, memory.gradients = gradients, memory.optimizer = optimizer;
}

// Activations that the layers of a stage keep.
struct KeptActivations {
  Bytes layers;              // per micro-batch, under selective recomputation
  Bytes largest;             // of one layer
  Bytes working;             // largest set that recomputation restores while a layer runs backward
  double largest_layer = 0;  // parameters of one layer on the device
};
KeptActivations KeptBy(const MemoryTerms& terms, const Stage& stage, const RecomputeChoice& recompute) {
  const TrainingContext& context = terms.context;
  KeptActivations result;
  for (const LayerKind kind : kLayerKinds) {
    if (stage.layers.of[kind] == 0) continue;
    const LayerWork& work = terms.works.of[kind];
    const Bytes kept = LayerActivations(context, work, recompute.selective), all = LayerActivations(context, work, RecomputePlan{});
    const Bytes held = recompute.full_share > 0 ? LayerCheckpoint(context) : kept;
    result.layers += stage.layers.of[kind] * kept;
    result.largest = max(result.largest, recompute.full_share >= 1 ? held : kept);
    result.working = max(result.working, all - held);
    result.largest_layer = max(result.largest_layer, work.dense_parameters + work.expert_parameters);
  }
  return result;
}

// Activations of the passes in flight, the working set of one layer, embedding and head. Returns the bytes in flight.
Bytes AddActivations(const TrainingContext& context, const Stage& stage, double index, const KeptActivations& kept, double full_share,
                     TrainingMemory& memory, Trace& trace) {
  const TrainingShape& shape = context.shape;
  const FrameworkMemory& framework = context.framework().memory;
  const Bytes byte = 1 * kB, kept_layers = kept.layers, largest_kept = kept.largest, working_layer = kept.working;
  const double layers = stage.layers.Total(), passes = PassesInFlight(shape, context.run.mapping.schedule, index);
  const double offloaded_activations = context.run.offload.activations;
  const Bytes checkpoint = LayerCheckpoint(context);
  FIGURE(trace, in_flight, passes * ((1 - full_share) * kept_layers + full_share * layers * checkpoint),
         (Note{"Layer activations in flight", "all micro-batches between their forward and backward passes", kActivationSource}), passes,
         full_share, kept_layers, layers, checkpoint);
  FIGURE(trace, resident,
         (1 - offloaded_activations) * in_flight + min(offloaded_activations * in_flight, 2 * offloaded_activations * largest_kept),
         (Note{"Layer activations on the device", "not offloaded, and those of two layers in transfer"}), offloaded_activations, in_flight,
         largest_kept);
  const double tokens = shape.tokens, hidden = static_cast<double>(context.model.hidden);
  const double working_bytes = shape.tensor > 1 ? framework.working_hidden_tensor : framework.working_hidden;
  FIGURE(trace, working, working_layer + byte * working_bytes * tokens * hidden,
         (Note{"Working set of one layer", "activations that recomputation restores, gathered inputs", kActivationSource}), working_layer,
         byte, working_bytes, tokens, hidden);
  const double own_tokens = shape.sequence_parallel_tokens;
  const double dropout = stage.embedding && !context.run.flash_attention ? passes : 0;  // the embedding's dropout mask
  const double ends = stage.head ? 4 : 0;                                               // inputs of the final norm and of the head
  const double head_gathered = stage.head && shape.tensor > 1 ? framework.head_gathered : 0;
  const double logit_bytes = stage.head ? framework.logits : 0;
  const double vocabulary = static_cast<double>(context.model.vocab), tensor = shape.tensor;
  FIGURE(
      trace, end_bytes,
      byte * (dropout * own_tokens * hidden + ends * own_tokens * hidden + head_gathered * tokens * hidden +
              logit_bytes * tokens * vocabulary / tensor),
      (Note{"Activations of embedding and head", "gathered input; logits, their copy and gradient on the last stage", kActivationSource}),
      byte, dropout, own_tokens, hidden, ends, head_gathered, tokens, logit_bytes, vocabulary, tensor);
  FIGURE(trace, activations, resident + working + end_bytes, (Note{"Activations", "at the peak", "", "training.memory_bytes.activations"}),
         resident, working, end_bytes);
  memory.activations = activations;
  return in_flight;
}

}  // namespace

TrainingMemory StageMemory(const MemoryTerms& terms, const Stage& stage, double index, const RecomputeChoice& recompute, Trace& trace) {
  const TrainingContext& context = terms.context;
  const TrainingRun& run = context.run;
  const FrameworkMemory& framework = context.framework().memory;
  const StageParameters parameters = ParametersOf(context, stage);
  const KeptActivations kept = KeptBy(terms, stage, recompute);
  TrainingMemory memory;
  AddState(context, parameters, memory, trace);
  const Bytes in_flight = AddActivations(context, stage, index, kept, recompute.full_share, memory, trace), byte = 1 * kB;

  const double zero = static_cast<double>(run.mapping.zero), layers = stage.layers.Total();
  const double gathered_layers = zero >= 3 ? min(layers, static_cast<double>(framework.gathered_layers)) : 0;
  const Bytes constant = framework.constant;
  const double largest_layer = kept.largest_layer, optimizer_bytes = OptimizerBytes(context, StateBytesOf(context));
  const double largest_share = layers > 0 && zero >= 1 ? largest_layer / parameters.dense_shards : largest_layer;
  const double offloaded_state = run.offload.optimizer, offloaded_activations = run.offload.activations;
  const double updated = run.trainable == Trainable::kLora ? min(largest_share, parameters.adapters) : largest_share;
  const double moving_state = 2 * offloaded_state * optimizer_bytes * updated;
  FIGURE(trace, workspace, constant + 2 * byte * gathered_layers * largest_layer + byte * moving_state,
         (Note{"Workspace", "library buffers, allocator overhead, gathered weights", "", "training.memory_bytes.workspace"}), constant,
         byte, gathered_layers, largest_layer, moving_state);
  memory.workspace = workspace;
  const Bytes weights = memory.weights, gradients = memory.gradients, optimizer = memory.optimizer, activations = memory.activations;
  FIGURE(trace, total, weights + gradients + optimizer + activations + workspace,
         (Note{"Peak memory per device, most loaded stage", "as the framework's allocator reserves it", "", "training.memory_bytes.total"}),
         weights, gradients, optimizer, activations, workspace);
  const double state_parameters =
      parameters.trained_dense / parameters.dense_shards + parameters.trained_experts / parameters.expert_shards;
  FIGURE(trace, host, offloaded_activations * in_flight + byte * offloaded_state * optimizer_bytes * state_parameters,
         (Note{"Host memory per device", "offloaded activations and optimizer state", "", "training.memory_bytes.host"}),
         offloaded_activations, in_flight, byte, offloaded_state, optimizer_bytes, state_parameters);
  memory.host = host;
  return memory;
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
