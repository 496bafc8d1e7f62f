#include "core/training/memory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/efficiency.h"
#include "core/training/named_terms.h"

namespace slipstick {
namespace {

// Parameters of a stage on one device.
struct StageParameters {
  Ratio dense, experts;                  // all weights
  Ratio trained_dense, trained_experts;  // with low-rank adapters only those
  Ratio adapters;
  Ratio tables;                    // embedding, position and head
  Ratio data_ranks, expert_ranks;  // ranks that hold the same dense weights, and the same experts
};

StageParameters ParametersOf(const StepTerms& step, const DeviceStages& device, Trace& trace) {
  const auto weights = [&](Ratio Stage::* part, std::string_view part_symbol, std::string_view symbol, Note note) {
    return trace.Carry(symbol, Ratio(WeightsOn(device, part, part_symbol, symbol, note, trace)));
  };
  const bool lora = step.run.trainable == Trainable::kLora;
  StageParameters parameters;
  parameters.dense = weights(&Stage::dense_parameters, "stage_dense", "dense",
                             {"Weights on one device", "routed experts apart; DualPipe holds the mirrored stage too"});
  parameters.tables = weights(&Stage::tables, "stage_tables", "tables", {"Weights of the tables on one device"});
  parameters.experts =
      weights(&Stage::expert_parameters, "stage_experts", "experts", {"Weights of the routed experts on one device"});
  parameters.adapters =
      weights(&Stage::adapter_parameters, "stage_adapters", "adapters", {"Weights of the adapters on one device"});
  parameters.trained_dense = lora ? parameters.adapters : parameters.dense;
  parameters.trained_experts = lora ? Ratio(0) : parameters.experts;
  parameters.data_ranks = step.DataRanks();
  parameters.expert_ranks = step.ExpertDataRanks();
  return parameters;
}

// Parameters for which a rank keeps a state that ZeRO splits from stage `from` on.
Ratio PerRank(const StepTerms& step, const StageParameters& parameters, Ratio dense, Ratio experts, int from) {
  const Ratio kept = dense / step.ShardsFrom(from, parameters.data_ranks);
  return experts > 0 ? kept + experts / step.ShardsFrom(from, parameters.expert_ranks) : kept;
}

// What a rank keeps of its weights, gradients and optimizer state, on the device or in host memory.
struct StateShare {
  Bytes weights, gradients;
  Ratio weight_bytes, gradient_bytes, optimizer_bytes;  // per parameter
  Ratio held_state;                                     // parameters that the rank keeps optimizer state for
  Bytes reusable;                                       // of the gradients, for activations
  Bytes copies;                                         // that the update makes
};

// Bytes per parameter. Names: those of ExplainStateBytes.
struct NamedStateBytes {
  Ratio weights, gradients, optimizer, adapter_weights;
};
NamedStateBytes StateBytesOf(const TrainingContext& context, Trace& trace) {
  const StateBytes state = StateBytesOf(context);
  ExplainStateBytes(context, state, trace);
  return {trace.Carry("weight_bytes", Ratio(state.weights)), trace.Carry("state_gradients", Ratio(state.gradients)),
          trace.Carry("state_optimizer", Ratio(state.optimizer)),
          trace.Carry("adapter_bytes", Ratio(state.adapter_weights))};
}

// All weights of the rank.
Bytes AllWeights(const StepTerms& step, const StageParameters& parameters, const NamedStateBytes& state) {
  constexpr std::string_view kTitle = "Weights of the rank", kNote = "on the device or in host memory";
  const TrainingRun& run = step.run;
  const Ratio held = Figure("Held weights", PerRank(step, parameters, parameters.dense, parameters.experts, 3),
                            "parameters that a rank keeps");
  if (run.trainable != Trainable::kLora) {
    // ZeRO 1 and 2 split the weights that the optimizer updates; what the GEMMs read is whole, in 16 bits.
    const Count zero = run.mapping.zero;
    if (run.framework.memory.weights_are_master && (zero == 1 || zero == 2) && state.weights > 2 &&
        step.ShardsFrom(1, parameters.data_ranks) > 1) {
      const Ratio masters =
          Figure("Held master weights", PerRank(step, parameters, parameters.dense, parameters.experts, 1));
      return Figure(kTitle, (2 * held + state.weights * masters) * kB,
                    "whole in 16 bits, and the share that the optimizer updates");
    }
    return Figure(kTitle, state.weights * kB * held, kNote);
  }
  const Ratio adapters = state.adapter_weights * parameters.adapters;
  if (!run.frozen_precision) return Figure(kTitle, (state.weights * held + adapters) * kB, kNote);
  // Only the layers are quantized; tables stay in 16 bits.
  const Ratio tables = Figure("Held tables", parameters.tables / step.ShardsFrom(3, parameters.data_ranks),
                              "weights of the tables that a rank keeps");
  return Figure(kTitle, (state.weights * (held - tables) + 2 * tables + adapters) * kB, kNote);
}

StateShare AddState(const TrainingContext& context, const StepTerms& step, const StageParameters& parameters,
                    TrainingMemory& memory, Trace& trace) {
  const TrainingRun& run = step.run;
  const FrameworkMemory& framework = run.framework.memory;
  const NamedStateBytes state = StateBytesOf(context, trace);
  const Ratio replicated = Figure("Replicated", min(parameters.data_ranks - 1, 1),
                                  "whether several ranks hold the same weights: 1 or 0"),
              sharded = Figure("Sharded", min(Ratio(run.mapping.zero), 1) * replicated,
                               "whether ZeRO splits their optimizer state: 1 or 0");
  StateShare share;
  share.weight_bytes = state.weights;
  share.gradient_bytes =
      Figure("Gradient bytes",
             state.gradients + replicated * framework.data_parallel_gradients + sharded * framework.sharded_gradients,
             "per parameter, with the framework's buffers");
  share.optimizer_bytes = Figure("Optimizer bytes", state.optimizer + sharded * framework.sharded_optimizer,
                                 "of state per parameter, with the framework's buffers");
  share.weights = AllWeights(step, parameters, state);
  memory.weights = Figure("Weights", (1 - run.offload.parameters) * share.weights, "per device of the stage");
  const Ratio trained = PerRank(step, parameters, parameters.trained_dense, parameters.trained_experts, 2);
  const Ratio held_gradients = Figure("Held gradients", trained, "parameters that a rank keeps them for");
  share.gradients =
      Figure("Gradients of the rank", share.gradient_bytes * kB * held_gradients, "on the device or in host memory");
  memory.gradients =
      Figure("Gradients", (1 - step.offloaded_gradients) * share.gradients, "in the framework's formats");
  share.held_state =
      Figure("Held state", PerRank(step, parameters, parameters.trained_dense, parameters.trained_experts, 1),
             "parameters that a rank keeps optimizer state for");
  memory.optimizer =
      Figure("Optimizer state",
             share.optimizer_bytes * kB * (1 - run.offload.optimizer) * share.held_state +
                 framework.kept_hidden * kB * step.tokens * Ratio(context.model.hidden) + framework.fixed_static,
             "and buffers that libraries keep between steps");
  if (sharded * framework.sharded_gradients > 0)
    share.reusable =
        Figure("Room that the update leaves to activations",
               sharded * framework.sharded_gradients * (1 - step.offloaded_gradients) * kB * held_gradients,
               "what ZeRO adds to the gradients lies there between steps only");
  const Ratio update = run.optimizer == Optimizer::kNone ? Ratio(0) : framework.update;
  share.copies = Figure(
      "Copies that the update makes",
      max(0, update - sharded * framework.sharded_optimizer) * kB * (1 - run.offload.optimizer) * share.held_state,
      "beyond those that lie between steps too");
  return share;
}

// Weights, gradients and optimizer state on the way to the host and back: of the layer in work and of the next.
Bytes MovingBytes(const StepTerms& step, const StageParameters& parameters, const StateShare& share,
                  Ratio largest_layer) {
  const Offload& offload = step.run.offload;
  const Ratio largest_share = Figure("Largest share", largest_layer / step.ShardsFrom(1, parameters.data_ranks),
                                     "weights of the largest layer that the rank updates");
  const Ratio updated =
      step.run.trainable == Trainable::kLora ? min(largest_share, parameters.adapters) : largest_share;
  const Ratio on_device = step.run.framework.offload.host_update ? 0 : 1;
  const Bytes state =
      Figure("Optimizer state on the way", 2 * kB * on_device * offload.optimizer * share.optimizer_bytes * updated,
             "to the device and back; none where the host updates");
  const Bytes gradients =
      Figure("Gradients on the way to the host",
             step.offloaded_gradients * min(share.gradients, 2 * kB * share.gradient_bytes * largest_layer));
  const Bytes weights = Figure("Weights on the way from the host",
                               offload.parameters * min(share.weights, 2 * kB * share.weight_bytes * largest_layer));
  return Figure("On the way to the host and back", state + gradients + weights);
}

// Library buffers, gathered weights of ZeRO 3, and what moves between device and host.
Bytes WorkspaceOf(const TrainingContext& context, const StepTerms& step, const StageActivations& layers, Bytes moving,
                  Bytes copies, Trace& trace) {
  const FrameworkMemory& framework = step.run.framework.memory;
  const Ratio gathered =
      Figure("Gathered layers",
             floor(Ratio(step.run.mapping.zero) / 3) * min(layers.stage_layers, Ratio(framework.gathered_layers)),
             "at a time, under ZeRO 3");
  const Ratio communicates = Figure("Communicates", min(1, step.tensor * step.context * step.pipeline * step.data - 1),
                                    "whether ranks communicate: 1 or 0");
  // Frozen weights are gathered as they are stored.
  const Ratio element = step.run.trainable == Trainable::kLora
                            ? InputAt(Ratio(FrozenBytes(context)), InputOfFrozenBytes(context), trace)
                            : Ratio(2);
  const Bytes weights =
      Figure("Gathered weights", element * kB * gathered * layers.largest_layer, "of layers that ZeRO 3 holds whole");
  return Figure("Workspace", framework.constant + communicates * framework.communication + weights + moving + copies,
                "library buffers, allocator overhead, gathered weights, copies of the update");
}

// Which stage it is, and why that one.
void ExplainStage(const MemoryTerms& terms, double index, const RecomputeChoice& recompute, Trace& trace) {
  if (!trace.on() || terms.context.shape.pipeline <= 1) return;
  Trace off = Trace::Off();
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
  const StepTerms step(context, trace);
  const StageParameters parameters = ParametersOf(step, device, trace);
  TrainingMemory memory;
  const StateShare share = AddState(context, step, parameters, memory, trace);
  const StageActivations layers =
      AddActivations(terms, step, device, static_cast<double>(index), recompute, share.reusable, memory, trace);
  const Bytes moving = MovingBytes(step, parameters, share, layers.largest_layer);
  memory.workspace = WorkspaceOf(context, step, layers, moving, share.copies, trace);
  const Offload& offload = step.run.offload;
  memory.host = Figure("Host memory per device",
                       offload.activations * layers.in_flight +
                           offload.optimizer * kB * share.optimizer_bytes * share.held_state +
                           step.offloaded_gradients * share.gradients + offload.parameters * share.weights,
                       "offloaded activations, optimizer state, gradients and weights");
  Show(memory, trace);
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
