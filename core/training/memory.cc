#include "core/training/memory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/sum.h"
#include "core/operators/efficiency.h"
#include "core/training_stage/named_terms.h"

namespace slipstick {
namespace {

// Parameters of a stage on one device, and the ranks that they are sharded over.
struct StageParameters {
  double dense, experts;                  // all weights
  double trained_dense, trained_experts;  // with low-rank adapters only those
  double adapters;
  double shard_ranks, expert_shard_ranks;  // of a state that is sharded
  double tables;                           // embedding, position and head
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
         (Note{"Ranks that a sharded state is split over", "those of one replica group"}), data_ranks, shard_within,
         cp);
  return shard_ranks;
}

StageParameters ParametersOf(const TrainingContext& context, const DeviceStages& device, Trace& trace) {
  const TrainingShape& shape = context.shape;
  const bool lora = context.run.trainable == Trainable::kLora;
  const double dp = shape.data, cp = shape.context, tp = shape.tensor, ep = shape.expert,
               expert_tp = shape.expert_tensor;
  const double dense =
      WeightsOn(device, &Stage::dense_parameters, "stage_dense", "dense",
                Note{"Weights on one device", "routed experts apart; DualPipe holds the mirrored stage too"}, trace);
  const double tables =
      WeightsOn(device, &Stage::tables, "stage_tables", "tables", Note{"Weights of the tables on one device"}, trace);
  FIGURE(trace, data_ranks, dp * cp, (Note{"Ranks that hold the same weights"}), dp, cp);
  const double shard_ranks = ExplainShards(context, data_ranks, trace);
  StageParameters parameters{dense, 0, dense, 0, 0, shard_ranks, 1, tables};
  const double experts = WeightsOn(device, &Stage::expert_parameters, "stage_experts", "experts",
                                   Note{"Weights of the routed experts on one device"}, trace);
  if (experts > 0) {
    const Trace::Scope scope(trace, "experts");
    FIGURE(trace, expert_ranks, dp * cp * tp / (ep * expert_tp), (Note{"Ranks that hold the same experts"}), dp, cp, tp,
           ep, expert_tp);
    trace.Alias("data_ranks", expert_ranks, "expert_ranks");
    parameters.experts = experts;
    parameters.expert_shard_ranks = ExplainShards(context, expert_ranks, trace);
    trace.Alias("expert_shard_ranks", parameters.expert_shard_ranks, "shard_ranks");
    if (!lora) parameters.trained_experts = experts;
    trace.Alias("trained_experts", experts, "experts");
  }
  parameters.adapters = WeightsOn(device, &Stage::adapter_parameters, "stage_adapters", "adapters",
                                  Note{"Weights of the adapters on one device"}, trace);
  if (lora) parameters.trained_dense = parameters.adapters;
  trace.Alias("trained_dense", parameters.trained_dense, lora ? "adapters" : "dense");
  return parameters;
}

// What a rank keeps of a state that ZeRO splits from stage `from` on. In formulas the parameters are `dense_symbol` and
// `experts_symbol`, the result `symbol`.
struct ShardedState {
  std::string_view symbol, dense_symbol, experts_symbol;
  int from;
};
double PerRank(const TrainingContext& context, const StageParameters& parameters, double whole_dense,
               double whole_experts, const ShardedState& state, Trace& trace) {
  constexpr std::string_view kShards[] = {"max(1, min(zero, 1) * shard_ranks)", "max(1, floor(zero / 2) * shard_ranks)",
                                          "max(1, floor(zero / 3) * shard_ranks)"};
  constexpr std::string_view kExpertShards[] = {"max(1, min(zero, 1) * expert_shard_ranks)",
                                                "max(1, floor(zero / 2) * expert_shard_ranks)",
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
  FIGURE(trace, dense_per_rank, whole / shards, (Note{"Parameters that a rank keeps it for", "routed experts apart"}),
         whole, shards);
  double experts_per_rank = 0;
  if (has_experts) {
    trace.Record("expert_shards", kExpertShards[row], expert_shards, note, "zero, expert_shard_ranks", zero,
                 expert_shard_ranks);
    FIGURE(trace, of_experts, whole_experts / expert_shards,
           (Note{"Parameters of routed experts that a rank keeps it for"}), whole_experts, expert_shards);
    experts_per_rank = of_experts;
  }
  return Sum<double>(trace, state.symbol, Note{"Parameters that a rank keeps it for"},
                     {{"dense_per_rank", dense_per_rank}, {"of_experts", experts_per_rank, has_experts}});
}

// Optimizer bytes per parameter of the rank's shard, and gradient bytes per parameter.
struct StepBytes {
  double optimizer, gradients;
  double sharded;  // 1 or 0
};
StepBytes StepBytesOf(const TrainingContext& context, const StateBytes& state, double data_ranks, Trace& trace) {
  const FrameworkMemory& framework = context.framework().memory;
  const double zero = static_cast<double>(context.run.mapping.zero);
  const double state_gradients = state.gradients, state_optimizer = state.optimizer;
  const double data_parallel_gradients = framework.data_parallel_gradients,
               sharded_gradients = framework.sharded_gradients, sharded_optimizer = framework.sharded_optimizer;
  FIGURE(trace, replicated, min(data_ranks - 1, 1.0), (Note{"Whether several ranks hold the same weights", "1 or 0"}),
         data_ranks);
  FIGURE(trace, sharded, min(zero, 1.0) * replicated, (Note{"Whether ZeRO splits their optimizer state", "1 or 0"}),
         zero, replicated);
  FIGURE(trace, gradient_bytes, state_gradients + replicated * data_parallel_gradients + sharded * sharded_gradients,
         (Note{"Bytes of gradients per parameter", "with the framework's buffers"}), state_gradients, replicated,
         data_parallel_gradients, sharded, sharded_gradients);
  FIGURE(trace, optimizer_bytes, state_optimizer + sharded * sharded_optimizer,
         (Note{"Bytes of optimizer state per parameter", "with the framework's buffers"}), state_optimizer, sharded,
         sharded_optimizer);
  return {optimizer_bytes, gradient_bytes, sharded};
}

// What a rank keeps of its weights, gradients and optimizer state, on the device or in host memory.
struct StateShare {
  Bytes weights, gradients;
  double weight_bytes, gradient_bytes, optimizer_bytes;  // per parameter
  double held_state;                                     // parameters that the rank keeps optimizer state for
  Bytes reusable;                                        // of the gradients, for activations
  Bytes copies;                                          // that the update makes
};

// All weights of the rank, recorded as all_weights.
Bytes AllWeights(const TrainingContext& context, const StageParameters& parameters, const StateBytes& state,
                 Trace& trace) {
  const double weight_bytes = state.weights, adapter_bytes = state.adapter_weights, adapters = parameters.adapters;
  constexpr Note kNote{"Weights of the rank", "on the device or in host memory"};
  const double held_weights = PerRank(context, parameters, parameters.dense, parameters.experts,
                                      {"held_weights", "dense", "experts", 3}, trace);
  if (context.run.trainable != Trainable::kLora) {
    // ZeRO 1 and 2 split the weights that the optimizer updates; what the GEMMs read is whole, in 16 bits.
    const int zero = static_cast<int>(context.run.mapping.zero);
    if (context.framework().memory.weights_are_master && (zero == 1 || zero == 2) && weight_bytes > 2 &&
        parameters.shard_ranks > 1) {
      const double held_masters = PerRank(context, parameters, parameters.dense, parameters.experts,
                                          {"held_masters", "dense", "experts", 1}, trace);
      FIGURE(trace, all_weights, (2 * held_weights + weight_bytes * held_masters) * kB,
             (Note{"Weights of the rank", "whole in 16 bits, and the share that the optimizer updates"}), held_weights,
             weight_bytes, held_masters);
      return all_weights;
    }
    FIGURE(trace, all_weights, weight_bytes * kB * held_weights, kNote, weight_bytes, held_weights);
    return all_weights;
  }
  if (!context.run.frozen_precision) {
    FIGURE(trace, all_weights, (weight_bytes * held_weights + adapter_bytes * adapters) * kB, kNote, weight_bytes,
           held_weights, adapter_bytes, adapters);
    return all_weights;
  }
  // Only the layers are quantized; tables stay in 16 bits.
  const double tables = parameters.tables, shard_ranks = parameters.shard_ranks;
  const double zero = static_cast<double>(context.run.mapping.zero);
  FIGURE(trace, held_tables, tables / max(1.0, floor(zero / 3) * shard_ranks),
         (Note{"Weights of the tables that a rank keeps"}), tables, zero, shard_ranks);
  FIGURE(trace, all_weights,
         (weight_bytes * (held_weights - held_tables) + 2 * held_tables + adapter_bytes * adapters) * kB, kNote,
         weight_bytes, held_weights, held_tables, adapter_bytes, adapters);
  return all_weights;
}

StateShare AddState(const TrainingContext& context, const StageParameters& parameters, TrainingMemory& memory,
                    Trace& trace) {
  const FrameworkMemory& framework = context.framework().memory;
  const StateBytes state = StateBytesOf(context);
  ExplainStateBytes(context, state, trace);
  const auto [optimizer_bytes, gradient_bytes, sharded] = StepBytesOf(context, state, context.shape.DataRanks(), trace);
  const Bytes all_weights = AllWeights(context, parameters, state, trace);
  const double offloaded_parameters = context.run.offload.parameters,
               offloaded_gradients = OffloadedGradients(context.run);
  trace.Input("offloaded_parameters", offloaded_parameters, "training.offload.parameters");
  FIGURE(trace, weights, (1 - offloaded_parameters) * all_weights,
         (Note{"Weights", "per device of the stage", "", "training.memory_bytes.weights"}), offloaded_parameters,
         all_weights);
  const double held_gradients = PerRank(context, parameters, parameters.trained_dense, parameters.trained_experts,
                                        {"held_gradients", "trained_dense", "trained_experts", 2}, trace);
  FIGURE(trace, all_gradients, gradient_bytes * kB * held_gradients,
         (Note{"Gradients of the rank", "on the device or in host memory"}), gradient_bytes, held_gradients);
  trace.Input("offloaded_gradients", offloaded_gradients, InputOfOffloadedGradients(context.run));
  FIGURE(trace, gradients, (1 - offloaded_gradients) * all_gradients,
         (Note{"Gradients", "in the framework's formats", "", "training.memory_bytes.gradients"}), offloaded_gradients,
         all_gradients);
  const double held_state = PerRank(context, parameters, parameters.trained_dense, parameters.trained_experts,
                                    {"held_state", "trained_dense", "trained_experts", 1}, trace);
  const double offloaded_state = context.run.offload.optimizer, hidden = static_cast<double>(context.model.hidden);
  const double kept_hidden = framework.kept_hidden, tokens = context.shape.tokens;
  const Bytes library = framework.fixed_static;
  trace.Input("offloaded_state", offloaded_state, "training.offload.optimizer");
  trace.Input("library", library, "training.framework.memory.fixed_static");
  FIGURE(
      trace, optimizer,
      optimizer_bytes * kB * (1 - offloaded_state) * held_state + kept_hidden * kB * tokens * hidden + library,
      (Note{"Optimizer state", "and buffers that libraries keep between steps", "", "training.memory_bytes.optimizer"}),
      optimizer_bytes, offloaded_state, held_state, kept_hidden, tokens, hidden, library);
  memory.weights = weights, memory.gradients = gradients, memory.optimizer = optimizer;
  const double sharded_gradients = framework.sharded_gradients, sharded_optimizer = framework.sharded_optimizer;
  Bytes left;
  if (sharded * sharded_gradients > 0) {
    FIGURE(trace, reusable, sharded * sharded_gradients * (1 - offloaded_gradients) * kB * held_gradients,
           (Note{"Room that the update leaves to activations",
                 "what ZeRO adds to the gradients lies there between steps only"}),
           sharded, sharded_gradients, offloaded_gradients, held_gradients);
    left = reusable;
  }
  const double update_bytes = context.run.optimizer == Optimizer::kNone ? Ratio(0) : framework.update;
  trace.Input("update_bytes", update_bytes,
              context.run.optimizer == Optimizer::kNone ? "training.optimizer" : "training.framework.memory.update");
  FIGURE(trace, copies, max(0.0, update_bytes - sharded * sharded_optimizer) * kB * (1 - offloaded_state) * held_state,
         (Note{"Copies that the update makes", "beyond those that lie between steps too"}), update_bytes, sharded,
         sharded_optimizer, offloaded_state, held_state);
  return {all_weights, all_gradients, state.weights, gradient_bytes, optimizer_bytes, held_state, left, copies};
}

// Weights, gradients and optimizer state on the way to the host and back: of the layer in work and of the next.
Bytes MovingBytes(const TrainingContext& context, const StageParameters& parameters, const StateShare& share,
                  double largest_layer, Trace& trace) {
  const double zero = static_cast<double>(context.run.mapping.zero), shard_ranks = parameters.shard_ranks,
               adapters = parameters.adapters;
  const double offloaded_state = context.run.offload.optimizer, offloaded_gradients = OffloadedGradients(context.run);
  const double offloaded_parameters = context.run.offload.parameters;
  const double optimizer_bytes = share.optimizer_bytes, gradient_bytes = share.gradient_bytes,
               weight_bytes = share.weight_bytes;
  FIGURE(trace, largest_share, largest_layer / max(1.0, min(zero, 1.0) * shard_ranks),
         (Note{"Weights of the largest layer that the rank updates"}), largest_layer, zero, shard_ranks);
  double updated = largest_share;
  if (context.run.trainable == Trainable::kLora) {
    FIGURE(trace, updated_adapters, min(largest_share, adapters), (Note{"Adapters that the rank updates at a time"}),
           largest_share, adapters);
    updated = updated_adapters;
  }
  trace.Alias("updated", updated, context.run.trainable == Trainable::kLora ? "updated_adapters" : "largest_share");
  const double on_device = context.framework().offload.host_update ? 0 : 1;
  trace.Input("on_device", on_device, "training.framework.offload.host_update");
  FIGURE(trace, moving_state, 2 * kB * on_device * offloaded_state * optimizer_bytes * updated,
         (Note{"Optimizer state on the way", "to the device and back; none where the host updates"}), on_device,
         offloaded_state, optimizer_bytes, updated);
  const Bytes all_weights = share.weights, all_gradients = share.gradients;
  FIGURE(trace, moving_gradients, offloaded_gradients * min(all_gradients, 2 * kB * gradient_bytes * largest_layer),
         (Note{"Gradients on the way to the host"}), offloaded_gradients, all_gradients, gradient_bytes, largest_layer);
  FIGURE(trace, moving_weights, offloaded_parameters * min(all_weights, 2 * kB * weight_bytes * largest_layer),
         (Note{"Weights on the way from the host"}), offloaded_parameters, all_weights, weight_bytes, largest_layer);
  FIGURE(trace, moving, moving_state + moving_gradients + moving_weights, (Note{"On the way to the host and back"}),
         moving_state, moving_gradients, moving_weights);
  return moving;
}

// Weights of `gathered` layers, which ZeRO 3 holds whole; frozen ones as they are stored.
Bytes GatheredWeights(const TrainingContext& context, double gathered, double largest_layer, Trace& trace) {
  if (context.run.trainable != Trainable::kLora) {
    FIGURE(trace, gathered_weights, 2 * kB * gathered * largest_layer, (Note{"Gathered weights", "in 16 bits"}),
           gathered, largest_layer);
    return gathered_weights;
  }
  const double frozen_bytes = FrozenBytes(context);
  trace.Input("frozen_bytes", frozen_bytes, InputOfFrozenBytes(context));
  FIGURE(trace, gathered_weights, frozen_bytes * kB * gathered * largest_layer,
         (Note{"Gathered weights", "as they are stored"}), frozen_bytes, gathered, largest_layer);
  return gathered_weights;
}

// Library buffers, gathered weights of ZeRO 3, and what moves between device and host.
Bytes WorkspaceOf(const TrainingContext& context, double stage_layers, double largest_layer, Bytes moving, Bytes copies,
                  Trace& trace) {
  const FrameworkMemory& framework = context.framework().memory;
  const double zero = static_cast<double>(context.run.mapping.zero),
               most_gathered = static_cast<double>(framework.gathered_layers);
  const Bytes constant = framework.constant, communication = framework.communication;
  const double tp = context.shape.tensor, cp = context.shape.context, pp = context.shape.pipeline,
               dp = context.shape.data;
  trace.Input("most_gathered", most_gathered, "training.framework.memory.gathered_layers");
  FIGURE(trace, gathered, floor(zero / 3) * min(stage_layers, most_gathered),
         (Note{"Layers gathered at a time", "under ZeRO 3"}), zero, stage_layers, most_gathered);
  FIGURE(trace, communicates, min(1.0, tp * cp * pp * dp - 1), (Note{"Whether ranks communicate", "1 or 0"}), tp, cp,
         pp, dp);
  const Bytes gathered_weights = GatheredWeights(context, gathered, largest_layer, trace);
  FIGURE(trace, workspace, constant + communicates * communication + gathered_weights + moving + copies,
         (Note{"Workspace", "library buffers, allocator overhead, gathered weights, copies of the update", "",
               "training.memory_bytes.workspace"}),
         constant, communicates, communication, gathered_weights, moving, copies);
  return workspace;
}

// Which stage it is, and why that one.
void ExplainStage(const MemoryTerms& terms, double index, const RecomputeChoice& recompute, Trace& trace) {
  if (!trace.on()) return;
  Trace off = Trace::Off();
  if (terms.context.shape.pipeline <= 1)
    return trace.Constants("training.pipeline", "a single stage, counted from 0", "stage", index);
  std::vector<std::pair<std::string, Bytes>> left;
  const std::vector<Stage> stages = PlanLayers(terms.context, terms.works).stages;
  for (std::size_t other = 0; other < stages.size(); ++other) {
    left.emplace_back(StageName(other) + ": memory left",
                      UsableMemory(terms.context.device()) - terms.context.framework().memory.outside -
                          StageMemory(terms, stages, other, recompute, off).Total());
  }
  const double pp = terms.context.shape.pipeline, virtual_stages = terms.context.shape.chunks;
  const double logit_bytes = terms.context.framework().memory.logits,
               vocabulary = static_cast<double>(terms.context.model.vocab);
  trace.Input("logit_bytes", logit_bytes, "training.framework.memory.logits");
  trace.Choice("stage", index, Note{"The most loaded stage", "counted from 0: the one that leaves the least memory"},
               left, static_cast<std::size_t>(index), "pp, virtual_stages, logit_bytes, vocabulary", pp, virtual_stages,
               logit_bytes, vocabulary);
}

}  // namespace

TrainingMemory StageMemory(const MemoryTerms& terms, const std::vector<Stage>& stages, std::size_t index,
                           const RecomputeChoice& recompute, Trace& trace) {
  const TrainingContext& context = terms.context;
  const DeviceStages device = StagesOn(context, stages, index);
  ExplainStage(terms, static_cast<double>(index), recompute, trace);
  const StageParameters parameters = ParametersOf(context, device, trace);
  TrainingMemory memory;
  const StateShare share = AddState(context, parameters, memory, trace);
  const auto [in_flight, largest_layer] =
      AddActivations(terms, device, static_cast<double>(index), recompute, share.reusable, memory, trace);
  const Bytes moving = MovingBytes(context, parameters, share, largest_layer, trace);
  const Bytes workspace = WorkspaceOf(context, device.own.layers.Total(), largest_layer, moving, share.copies, trace);
  memory.workspace = workspace;
  const Bytes weights = memory.weights, gradients = memory.gradients, optimizer = memory.optimizer,
              activations = memory.activations;
  FIGURE(trace, total, weights + gradients + optimizer + activations + workspace,
         (Note{"Peak memory per device, most loaded stage", "as the framework's allocator reserves it", "",
               "training.memory_bytes.total"}),
         weights, gradients, optimizer, activations, workspace);
  const double offloaded_state = context.run.offload.optimizer, offloaded_activations = context.run.offload.activations;
  const double offloaded_gradients = OffloadedGradients(context.run),
               offloaded_parameters = context.run.offload.parameters;
  const double optimizer_bytes = share.optimizer_bytes, held_state = share.held_state;
  const Bytes all_weights = share.weights, all_gradients = share.gradients;
  FIGURE(trace, host,
         offloaded_activations * in_flight + offloaded_state * kB * optimizer_bytes * held_state +
             offloaded_gradients * all_gradients + offloaded_parameters * all_weights,
         (Note{"Host memory per device", "offloaded activations, optimizer state, gradients and weights", "",
               "training.memory_bytes.host"}),
         offloaded_activations, in_flight, offloaded_state, optimizer_bytes, held_state, offloaded_gradients,
         all_gradients, offloaded_parameters, all_weights);
  memory.host = host;
  return memory;
}

Bytes BeyondMemory(const MemoryTerms& terms, const std::vector<Stage>& stages, const RecomputeChoice& recompute,
                   Bytes capacity) {
  Trace off = Trace::Off();
  Bytes beyond;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const TrainingMemory memory = StageMemory(terms, stages, i, recompute, off);
    beyond = max(beyond, memory.Total() - capacity, memory.host - terms.context.device().host.memory);
  }
  return beyond;
}

bool Fits(const MemoryTerms& terms, const std::vector<Stage>& stages, const RecomputeChoice& recompute,
          Bytes capacity) {
  Trace off = Trace::Off();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const TrainingMemory memory = StageMemory(terms, stages, i, recompute, off);
    if (memory.Total() > capacity || memory.host > terms.context.device().host.memory) return false;
  }
  return true;
}

}  // namespace slipstick
