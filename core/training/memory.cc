#include "core/training/memory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/sum.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

constexpr std::string_view kActivationSource = "counted per tensor; Korthikanti et al. 2022, table 2";

}  // namespace

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
  double shard_ranks, expert_shard_ranks;  // of a state that is sharded
};

// Ranks that a sharded state is split over, out of `data_ranks`; recorded as "shard_ranks".
double ExplainShards(const TrainingContext& context, double data_ranks, Trace& trace) {
  const TrainingMapping& mapping = context.run.mapping;
  if (!mapping.shard_within) {
    trace.Alias("shard_ranks", data_ranks, "data_ranks");
    return data_ranks;
  }
  const double shard_within = static_cast<double>(*mapping.shard_within), cp = context.shape.context;
  FIGURE(trace, shard_ranks, min(data_ranks, shard_within * cp),
         (Note{"Ranks that a sharded state is split over", "those of one replica group"}), data_ranks, shard_within, cp);
  return shard_ranks;
}

StageParameters ParametersOf(const TrainingContext& context, const Stage& stage, Trace& trace) {
  const TrainingShape& shape = context.shape;
  const bool lora = context.run.trainable == Trainable::kLora;
  const double copies = WeightCopies(context.run), stage_dense = stage.dense_parameters, stage_experts = stage.expert_parameters;
  const double dp = shape.data, cp = shape.context, tp = shape.tensor, ep = shape.expert, expert_tp = shape.expert_tensor;
  trace.Input("copies", copies, "training.mapping.schedule");
  FIGURE(trace, dense, copies * stage_dense, (Note{"Weights on one device", "routed experts apart; DualPipe holds the mirrored stage too"}),
         copies, stage_dense);
  FIGURE(trace, data_ranks, dp * cp, (Note{"Ranks that hold the same weights"}), dp, cp);
  const double shard_ranks = ExplainShards(context, data_ranks, trace);
  StageParameters parameters{dense, 0, dense, 0, 0, shard_ranks, 1};
  if (stage_experts > 0) {
    FIGURE(trace, experts, copies * stage_experts, (Note{"Weights of the routed experts on one device"}), copies, stage_experts);
    const Trace::Scope scope(trace, "experts");
    FIGURE(trace, expert_ranks, dp * cp * tp / (ep * expert_tp), (Note{"Ranks that hold the same experts"}), dp, cp, tp, ep, expert_tp);
    trace.Alias("data_ranks", expert_ranks, "expert_ranks");
    parameters.experts = experts;
    parameters.expert_shard_ranks = ExplainShards(context, expert_ranks, trace);
    trace.Alias("expert_shard_ranks", parameters.expert_shard_ranks, "shard_ranks");
    if (!lora) parameters.trained_experts = experts;
    trace.Alias("trained_experts", experts, "experts");
  }
  if (lora) parameters.trained_dense = parameters.adapters = stage.adapter_parameters;
  trace.Alias("adapters", parameters.adapters, "stage_adapters");
  trace.Alias("trained_dense", parameters.trained_dense, lora ? "stage_adapters" : "dense");
  return parameters;
}

// What a rank keeps of a state that ZeRO splits from stage `from` on. In formulas the parameters are `dense_symbol` and
// `experts_symbol`, the result `symbol`.
struct ShardedState {
  std::string_view symbol, dense_symbol, experts_symbol;
  int from;
};
double PerRank(const TrainingContext& context, const StageParameters& parameters, double whole_dense, double whole_experts,
               const ShardedState& state, Trace& trace) {
  constexpr std::string_view kShards[] = {"max(1, min(zero, 1) * shard_ranks)", "max(1, floor(zero / 2) * shard_ranks)",
                                          "max(1, floor(zero / 3) * shard_ranks)"};
  constexpr std::string_view kExpertShards[] = {"max(1, min(zero, 1) * expert_shard_ranks)", "max(1, floor(zero / 2) * expert_shard_ranks)",
                                                "max(1, floor(zero / 3) * expert_shard_ranks)"};
  const Trace::Scope scope(trace, state.symbol);
  const double zero = static_cast<double>(context.run.mapping.zero);
  const bool is_sharded = context.run.mapping.zero >= state.from;
  const double shard_ranks = parameters.shard_ranks, expert_shard_ranks = parameters.expert_shard_ranks;
  const double shards = is_sharded ? shard_ranks : 1, expert_shards = is_sharded ? expert_shard_ranks : 1;
  const Note note{"Ranks that split it", "1 where ZeRO does not split it"};
  const auto row = static_cast<std::size_t>(state.from - 1);
  trace.Record("shards", kShards[row], shards, note, "zero, shard_ranks", zero, shard_ranks);
  trace.Alias("whole", whole_dense, state.dense_symbol);
  trace.Alias("whole_experts", whole_experts, state.experts_symbol);
  const bool has_experts = whole_experts > 0;
  const double whole = whole_dense;
  FIGURE(trace, dense_per_rank, whole / shards, (Note{"Parameters that a rank keeps it for", "routed experts apart"}), whole, shards);
  double experts_per_rank = 0;
  if (has_experts) {
    trace.Record("expert_shards", kExpertShards[row], expert_shards, note, "zero, expert_shard_ranks", zero, expert_shard_ranks);
    FIGURE(trace, of_experts, whole_experts / expert_shards, (Note{"Parameters of routed experts that a rank keeps it for"}), whole_experts,
           expert_shards);
    experts_per_rank = of_experts;
  }
  return Sum<double>(trace, state.symbol, Note{"Parameters that a rank keeps it for"},
                     {{"dense_per_rank", dense_per_rank}, {"of_experts", experts_per_rank, has_experts}});
}

// Optimizer bytes per parameter of the rank's shard, and gradient bytes per parameter.
struct StepBytes {
  double optimizer, gradients;
};
StepBytes StepBytesOf(const TrainingContext& context, const StateBytes& state, double data_ranks, Trace& trace) {
  const FrameworkMemory& framework = context.framework().memory;
  const double zero = static_cast<double>(context.run.mapping.zero);
  const double state_gradients = state.gradients, state_optimizer = state.optimizer;
  const double data_parallel_gradients = framework.data_parallel_gradients, sharded_gradients = framework.sharded_gradients,
               sharded_optimizer = framework.sharded_optimizer;
  FIGURE(trace, replicated, min(data_ranks - 1, 1.0), (Note{"Whether several ranks hold the same weights", "1 or 0"}), data_ranks);
  FIGURE(trace, sharded, min(zero, 1.0) * replicated, (Note{"Whether ZeRO splits their optimizer state", "1 or 0"}), zero, replicated);
  FIGURE(trace, gradient_bytes, state_gradients + replicated * data_parallel_gradients + sharded * sharded_gradients,
         (Note{"Bytes of gradients per parameter", "with the framework's buffers"}), state_gradients, replicated, data_parallel_gradients,
         sharded, sharded_gradients);
  FIGURE(trace, optimizer_bytes, state_optimizer + sharded * sharded_optimizer,
         (Note{"Bytes of optimizer state per parameter", "with the framework's buffers"}), state_optimizer, sharded, sharded_optimizer);
  return {optimizer_bytes, gradient_bytes};
}

// Weights, gradients and optimizer state. Returns the optimizer's bytes, and the parameters that the rank keeps them for.
struct OptimizerShare {
  double bytes, parameters;
};
OptimizerShare AddState(const TrainingContext& context, const StageParameters& parameters, TrainingMemory& memory, Trace& trace) {
  const FrameworkMemory& framework = context.framework().memory;
  const StateBytes state = StateBytesOf(context);
  ExplainStateBytes(context, state, trace);
  const auto [optimizer_bytes, gradient_bytes] = StepBytesOf(context, state, context.shape.DataRanks(), trace);
  const double weight_bytes = state.weights, adapter_bytes = state.adapter_weights, adapters = parameters.adapters;
  constexpr Note kWeights{"Weights", "per device of the stage", "", "training.memory_bytes.weights"};
  const double held_weights =
      PerRank(context, parameters, parameters.dense, parameters.experts, {"held_weights", "dense", "experts", 3}, trace);
  if (context.run.trainable == Trainable::kLora) {
    FIGURE(trace, weights, (weight_bytes * held_weights + adapter_bytes * adapters) * kB, kWeights, weight_bytes, held_weights,
           adapter_bytes, adapters);
    memory.weights = weights;
  } else {
    FIGURE(trace, weights, weight_bytes * kB * held_weights, kWeights, weight_bytes, held_weights);
    memory.weights = weights;
  }
  const double held_gradients = PerRank(context, parameters, parameters.trained_dense, parameters.trained_experts,
                                        {"held_gradients", "trained_dense", "trained_experts", 2}, trace);
  FIGURE(trace, gradients, gradient_bytes * kB * held_gradients,
         (Note{"Gradients", "in the framework's formats", "", "training.memory_bytes.gradients"}), gradient_bytes, held_gradients);
  const double held_state = PerRank(context, parameters, parameters.trained_dense, parameters.trained_experts,
                                    {"held_state", "trained_dense", "trained_experts", 1}, trace);
  const double offloaded_state = context.run.offload.optimizer, hidden = static_cast<double>(context.model.hidden);
  const double kept_hidden = framework.kept_hidden, tokens = context.shape.tokens;
  const Bytes library = framework.fixed_static;
  trace.Input("offloaded_state", offloaded_state, "training.offload.optimizer");
  trace.Input("library", library, "training.framework.memory.fixed_static");
  FIGURE(trace, optimizer, optimizer_bytes * kB * (1 - offloaded_state) * held_state + kept_hidden * kB * tokens * hidden + library,
         (Note{"Optimizer state", "and buffers that libraries keep between steps", "", "training.memory_bytes.optimizer"}), optimizer_bytes,
         offloaded_state, held_state, kept_hidden, tokens, hidden, library);
  memory.gradients = gradients, memory.optimizer = optimizer;
  return {optimizer_bytes, held_state};
}

// Passes in flight on the stage.
double ExplainPasses(const TrainingContext& context, double stage, Trace& trace) {
  const double passes = PassesInFlight(context.shape, context.run.mapping.schedule, stage);
  if (!trace.on()) return passes;
  const double pp = context.shape.pipeline, virtual_stages = context.shape.chunks, micro_batches = context.shape.micro_batches;
  const Note note{"Micro-batches in flight", "of all layers of the stage, between forward and backward pass"};
  switch (context.run.mapping.schedule) {
    case PipelineSchedule::kGpipe:
      trace.Record("passes", "micro_batches", passes, note, "micro_batches", micro_batches);
      break;
    case PipelineSchedule::kZbH1:
    case PipelineSchedule::kZbV:
      trace.Record("passes", "min(micro_batches, pp)", passes, note, "micro_batches, pp", micro_batches, pp);
      break;
    case PipelineSchedule::kDualPipe:
      trace.Record("passes", "min(micro_batches, pp + 1)", passes, note, "micro_batches, pp", micro_batches, pp);
      break;
    case PipelineSchedule::kOneFOneB:
      if (virtual_stages <= 1) {
        trace.Record("passes", "min(micro_batches, pp - stage)", passes, note, "micro_batches, pp, stage", micro_batches, pp, stage);
      } else {
        trace.Record("passes", "min(micro_batches * virtual_stages, 2 * (pp - 1 - stage) + (virtual_stages - 1) * pp + 1) / virtual_stages",
                     passes, note, "micro_batches, virtual_stages, pp, stage", micro_batches, virtual_stages, pp, stage);
      }
      break;
  }
  return passes;
}

// Layer activations of all passes in flight.
Bytes InFlight(const TrainingContext& context, const KeptActivations& kept, double passes, double stage_layers, double full_share,
               Trace& trace) {
  constexpr Note kNote{"Layer activations in flight", "all micro-batches between their forward and backward passes", kActivationSource};
  const Bytes kept_layers = kept.layers, checkpoint = LayerCheckpoint(context, trace);
  if (context.run.recompute != Recompute::kAuto && full_share == 0) {
    FIGURE(trace, in_flight, passes * kept_layers, kNote, passes, kept_layers);
    return in_flight;
  }
  if (context.run.recompute == Recompute::kAuto && trace.on()) {
    trace.Alias("full_share", full_share, "decided_share");
  } else {
    trace.Input("full_share", full_share, "training.recompute");
  }
  FIGURE(trace, in_flight, passes * ((1 - full_share) * kept_layers + full_share * stage_layers * checkpoint), kNote, passes, full_share,
         kept_layers, stage_layers, checkpoint);
  return in_flight;
}

// Bytes of embedding and head at their ends of the pipeline.
Bytes EndBytes(const TrainingContext& context, const Stage& stage, double passes, Trace& trace) {
  const TrainingShape& shape = context.shape;
  const FrameworkMemory& framework = context.framework().memory;
  const double tokens = shape.tokens, hidden = static_cast<double>(context.model.hidden), own_tokens = shape.sequence_parallel_tokens;
  const double vocabulary = static_cast<double>(context.model.vocab), tensor = shape.tensor;
  const bool has_dropout = stage.embedding && !context.run.flash_attention;
  FIGURE(trace, dropout_part, passes * own_tokens * hidden, (Note{"Dropout mask of the embedding", "a byte per element"}), passes,
         own_tokens, hidden);
  FIGURE(trace, norm_part, 4 * own_tokens * hidden, (Note{"Inputs of the final norm and of the LM head"}), own_tokens, hidden);
  const double head_gathered = framework.head_gathered, logit_bytes = framework.logits;
  trace.Input("head_gathered", head_gathered, "training.framework.memory.head_gathered");
  trace.Input("logit_bytes", logit_bytes, "training.framework.memory.logits");
  FIGURE(trace, gathered_part, head_gathered * tokens * hidden, (Note{"Gathered input of the LM head", "under TP"}), head_gathered, tokens,
         hidden);
  FIGURE(trace, logit_part, logit_bytes * tokens * vocabulary / tensor, (Note{"Logits, their copy and gradient"}), logit_bytes, tokens,
         vocabulary, tensor);
  const double end_parts = Sum<double>(trace, "end_parts", Note{"Bytes of embedding and LM head", "on their stages", kActivationSource},
                                       {{"dropout_part", dropout_part, has_dropout},
                                        {"norm_part", norm_part, stage.head},
                                        {"gathered_part", gathered_part, stage.head && shape.tensor > 1},
                                        {"logit_part", logit_part, stage.head}});
  FIGURE(
      trace, end_bytes, end_parts * kB,
      (Note{"Activations of embedding and head", "gathered input; logits, their copy and gradient on the last stage", kActivationSource}),
      end_parts);
  return end_bytes;
}

// Activations of the passes in flight, the working set of one layer, embedding and head. Returns the bytes in flight.
Bytes AddActivations(const MemoryTerms& terms, const Stage& stage, double index, const KeptActivations& kept,
                     const RecomputeChoice& recompute, TrainingMemory& memory, Trace& trace) {
  const TrainingContext& context = terms.context;
  const TrainingShape& shape = context.shape;
  const FrameworkMemory& framework = context.framework().memory;
  const double passes = ExplainPasses(context, index, trace);
  const Bytes in_flight = InFlight(context, kept, passes, stage.layers.Total(), recompute.full_share, trace);
  const double offloaded_activations = context.run.offload.activations;
  const Bytes largest_kept = kept.largest, working_layer = kept.working;
  trace.Input("offloaded_activations", offloaded_activations, "training.offload.activations");
  FIGURE(trace, resident,
         (1 - offloaded_activations) * in_flight + min(offloaded_activations * in_flight, 2 * offloaded_activations * largest_kept),
         (Note{"Layer activations on the device", "not offloaded, and those of two layers in transfer"}), offloaded_activations, in_flight,
         largest_kept);
  const double tokens = shape.tokens, hidden = static_cast<double>(context.model.hidden);
  const bool has_tensor = shape.tensor > 1;
  const double working_bytes = has_tensor ? framework.working_hidden_tensor : framework.working_hidden;
  trace.Input("working_bytes", working_bytes,
              has_tensor ? "training.framework.memory.working_hidden_tensor" : "training.framework.memory.working_hidden");
  FIGURE(trace, gathered_inputs, working_bytes * kB * tokens * hidden, (Note{"Gathered inputs of one layer", "", kActivationSource}),
         working_bytes, tokens, hidden);
  const Bytes working = Sum<Bytes>(
      trace, "working", Note{"Working set of one layer", "activations that recomputation restores, gathered inputs", kActivationSource},
      {{"working_layer", working_layer, Restores(recompute)}, {"gathered_inputs", gathered_inputs}});
  const Bytes end_bytes = EndBytes(context, stage, passes, trace);
  FIGURE(trace, activations, resident + working + end_bytes, (Note{"Activations", "at the peak", "", "training.memory_bytes.activations"}),
         resident, working, end_bytes);
  memory.activations = activations;
  return in_flight;
}

// Library buffers, gathered weights of ZeRO 3, and the optimizer state of a layer on its way to the host and back.
Bytes WorkspaceOf(const TrainingContext& context, const StageParameters& parameters, double stage_layers, double largest_layer,
                  double optimizer_bytes, Trace& trace) {
  const FrameworkMemory& framework = context.framework().memory;
  const double zero = static_cast<double>(context.run.mapping.zero), most_gathered = static_cast<double>(framework.gathered_layers);
  const double shard_ranks = parameters.shard_ranks, adapters = parameters.adapters, offloaded_state = context.run.offload.optimizer;
  const Bytes constant = framework.constant;
  trace.Input("most_gathered", most_gathered, "training.framework.memory.gathered_layers");
  FIGURE(trace, gathered, floor(zero / 3) * min(stage_layers, most_gathered), (Note{"Layers gathered at a time", "under ZeRO 3"}), zero,
         stage_layers, most_gathered);
  FIGURE(trace, largest_share, largest_layer / max(1.0, min(zero, 1.0) * shard_ranks),
         (Note{"Weights of the largest layer that the rank updates"}), largest_layer, zero, shard_ranks);
  double updated = largest_share;
  if (context.run.trainable == Trainable::kLora) {
    FIGURE(trace, updated_adapters, min(largest_share, adapters), (Note{"Adapters that the rank updates at a time"}), largest_share,
           adapters);
    updated = updated_adapters;
  }
  trace.Alias("updated", updated, context.run.trainable == Trainable::kLora ? "updated_adapters" : "largest_share");
  FIGURE(trace, moving_state, 2 * offloaded_state * optimizer_bytes * updated,
         (Note{"Bytes of optimizer state on the way", "to the host and back, of a layer"}), offloaded_state, optimizer_bytes, updated);
  FIGURE(trace, workspace, constant + 2 * kB * gathered * largest_layer + moving_state * kB,
         (Note{"Workspace", "library buffers, allocator overhead, gathered weights", "", "training.memory_bytes.workspace"}), constant,
         gathered, largest_layer, moving_state);
  return workspace;
}

// Which stage it is, why that one, and its layers.
void ExplainStage(const MemoryTerms& terms, const Stage& stage, double index, const RecomputeChoice& recompute, Trace& trace) {
  if (!trace.on()) return;
  Trace off = Trace::Off();
  const auto place = static_cast<std::size_t>(index);
  ListedSum<double> stage_layers(trace);
  for (const LayerKind kind : kLayerKinds) {
    const double kind_layers = stage.layers.of[kind];
    if (kind_layers == 0) continue;
    const Trace::Scope scope(trace, NameOf(kind));
    trace.Alias("kind_layers", kind_layers, PlacedSymbol(place, NameOf(kind)));
    stage_layers.Add(NameOf(kind), kind_layers, 1, "kind_layers");
  }
  stage_layers.Total("stage_layers", Note{"Layers of the stage"});
  if (terms.context.shape.pipeline <= 1) return trace.Constants("training.pipeline", "a single stage, counted from 0", "stage", index);
  std::vector<std::pair<std::string, Bytes>> left;
  for (const Stage& other : PlanLayers(terms.context, terms.works).stages) {
    const double other_index = static_cast<double>(left.size());
    left.emplace_back(StageName(left.size()) + ": memory left",
                      UsableMemory(terms.context.device()) - StageMemory(terms, other, other_index, recompute, off).Total());
  }
  const double pp = terms.context.shape.pipeline, virtual_stages = terms.context.shape.chunks;
  const double logit_bytes = terms.context.framework().memory.logits, vocabulary = static_cast<double>(terms.context.model.vocab);
  trace.Input("logit_bytes", logit_bytes, "training.framework.memory.logits");
  trace.Choice("stage", index, Note{"The most loaded stage", "counted from 0: the one that leaves the least memory"}, left, place,
               "pp, virtual_stages, logit_bytes, vocabulary", pp, virtual_stages, logit_bytes, vocabulary);
}

}  // namespace

TrainingMemory StageMemory(const MemoryTerms& terms, const Stage& stage, double index, const RecomputeChoice& recompute, Trace& trace) {
  const TrainingContext& context = terms.context;
  ExplainStage(terms, stage, index, recompute, trace);
  const StageParameters parameters = ParametersOf(context, stage, trace);
  const KeptActivations kept = KeptBy(terms, stage, recompute, trace);
  TrainingMemory memory;
  const OptimizerShare optimizer_share = AddState(context, parameters, memory, trace);
  const Bytes in_flight = AddActivations(terms, stage, index, kept, recompute, memory, trace);
  const double optimizer_bytes = optimizer_share.bytes, held_state = optimizer_share.parameters;
  const Bytes workspace = WorkspaceOf(context, parameters, stage.layers.Total(), kept.largest_layer, optimizer_bytes, trace);
  memory.workspace = workspace;
  const Bytes weights = memory.weights, gradients = memory.gradients, optimizer = memory.optimizer, activations = memory.activations;
  FIGURE(trace, total, weights + gradients + optimizer + activations + workspace,
         (Note{"Peak memory per device, most loaded stage", "as the framework's allocator reserves it", "", "training.memory_bytes.total"}),
         weights, gradients, optimizer, activations, workspace);
  const double offloaded_state = context.run.offload.optimizer, offloaded_activations = context.run.offload.activations;
  FIGURE(trace, host, offloaded_activations * in_flight + offloaded_state * kB * optimizer_bytes * held_state,
         (Note{"Host memory per device", "offloaded activations and optimizer state", "", "training.memory_bytes.host"}),
         offloaded_activations, in_flight, offloaded_state, optimizer_bytes, held_state);
  memory.host = host;
  return memory;
}

Bytes BeyondMemory(const MemoryTerms& terms, const std::vector<Stage>& stages, const RecomputeChoice& recompute, Bytes capacity) {
  Trace off = Trace::Off();
  Bytes beyond;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const TrainingMemory memory = StageMemory(terms, stages[i], static_cast<double>(i), recompute, off);
    beyond = max(beyond, memory.Total() - capacity, memory.host - terms.context.device().host.memory);
  }
  return beyond;
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
