#include "core/training/memory.h"

#include <string>
#include <vector>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/efficiency.h"
#include "core/training_stage/state_bytes.h"

namespace slipstick {
namespace {

// Weights on one device. With low-rank adapters, only these are trained.
struct DeviceWeights {
  HeldWeights all, trained;
  Ratio tables;  // embedding, position and head
};

DeviceWeights WeightsOf(const TrainingContext& context, const DeviceStages& device) {
  DeviceWeights weights;
  HeldWeights& all = weights.all = WeightsOn(device);
  all.dense = Figure("Weights on one device", all.dense, "routed experts apart; DualPipe holds the mirrored stage too");
  all.experts = Figure("Weights of the routed experts on one device", all.experts);
  all.adapters = Figure("Weights of the adapters on one device", all.adapters);
  weights.trained = TrainedOf(context.run, all);
  const Ratio mirrored = device.mirrored != nullptr ? device.mirrored->tables : Ratio(0);
  weights.tables = Figure("Weights of the tables on one device", device.own.tables + mirrored);
  return weights;
}

// A rank's share of weights, gradients and optimizer state, on the device or in host memory.
struct StateShare {
  Bytes weights, gradients;
  Ratio weight_bytes, gradient_bytes, optimizer_bytes;  // per parameter
  Ratio leaving_bytes;                                  // optimizer bytes that offload moves to the host
  Ratio held_state;                                     // parameters for which the rank keeps optimizer state
  Bytes reusable;                                       // part of the gradients whose memory activations can use
  Bytes absent;  // part of the gradients that exists only once the backward pass has made it
  Bytes copies;  // made by the optimizer update
};

// All weights that a rank keeps, in device or host memory.
Bytes AllWeights(const TrainingContext& context, const DeviceWeights& weights, const StateBytes& state) {
  constexpr std::string_view kTitle = "Weights of the rank", kNote = "on the device or in host memory";
  const TrainingRun& run = context.run;
  const Shards from_1 = ShardsFrom(1, run, context.shape), from_3 = ShardsFrom(3, run, context.shape);
  const Ratio held = Figure("Held weights", PerRank(weights.all, from_3), "parameters that a rank keeps");
  if (run.trainable != Trainable::kLora) {
    // ZeRO 1 and 2 split the weights that the optimizer updates; the 16-bit weights that the GEMMs read stay whole.
    const Count zero = run.mapping.zero;
    if (run.framework.memory.weights_are_master && (zero == 1 || zero == 2) && state.weights > 2 && from_1.dense > 1) {
      const Ratio masters = Figure("Held master weights", PerRank(weights.all, from_1));
      return Figure(kTitle, (2 * held + state.weights * masters) * kB,
                    "whole in 16 bits, and the share that the optimizer updates");
    }
    return Figure(kTitle, state.weights * kB * held, kNote);
  }
  const Ratio adapters = state.adapter_weights * weights.all.adapters;
  if (!run.frozen_precision) return Figure(kTitle, (state.weights * held + adapters) * kB, kNote);
  // Only the layers are quantized; tables stay in 16 bits.
  const Ratio tables = Figure("Held tables", weights.tables / from_3.dense, "weights of the tables that a rank keeps");
  return Figure(kTitle, (state.weights * (held - tables) + 2 * tables + adapters) * kB, kNote);
}

StateShare AddState(const TrainingContext& context, const DeviceWeights& weights, TrainingMemory& memory) {
  const TrainingRun& run = context.run;
  const FrameworkMemory& framework = run.framework.memory;
  const StateBytes state = StateBytesOf(context);
  const Ratio on_device = 1 - OffloadedGradients(context);  // of the gradients
  const Ratio data_ranks = context.shape.DataRanks();
  const Ratio replicated =
                  Figure("Replicated", min(data_ranks - 1, 1), "whether several ranks hold the same weights: 1 or 0"),
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
  share.leaving_bytes = Figure("Optimizer bytes that offload moves", share.optimizer_bytes - state.kept_master,
                               "per parameter; not master weights that stay on the device");
  share.weights = AllWeights(context, weights, state);
  memory.weights = Figure("Weights", (1 - run.offload.parameters) * share.weights, "per device of the stage");
  const Ratio trained = PerRank(weights.trained, ShardsFrom(2, run, context.shape));
  const Ratio held_gradients = Figure("Held gradients", trained, "parameters that a rank keeps them for");
  share.gradients =
      Figure("Gradients of the rank", share.gradient_bytes * kB * held_gradients, "on the device or in host memory");
  memory.gradients = Figure("Gradients", on_device * share.gradients, "in the framework's formats");
  share.held_state = Figure("Held state", PerRank(weights.trained, ShardsFrom(1, run, context.shape)),
                            "parameters that a rank keeps optimizer state for");
  memory.optimizer = Figure(
      "Optimizer state",
      (share.optimizer_bytes - run.offload.optimizer * share.leaving_bytes) * kB * share.held_state +
          framework.kept_hidden * kB * context.shape.tokens * Ratio(context.model.hidden) + framework.fixed_static,
      "and buffers that libraries keep between steps");
  if (sharded * framework.sharded_gradients > 0)
    share.reusable = Figure("Room that the update leaves to activations",
                            sharded * framework.sharded_gradients * on_device * kB * held_gradients,
                            "what ZeRO adds to the gradients lies there between steps only");
  if (framework.frees_gradients) {
    // Ranks that exchange gradients keep them in buffers of another stream or from step to step, and several
    // micro-batches accumulate into them: in both cases gradients and activations coexist.
    const Ratio alone = Figure("Alone", max(0, 2 - data_ranks * context.shape.micro_batches),
                               "whether one rank runs one micro-batch per step: 1 or 0");
    share.absent = Figure("Gradients that the backward pass makes", alone * memory.gradients, "none before it");
  }
  const Ratio update = run.optimizer == Optimizer::kNone ? Ratio(0) : framework.update;
  share.copies = Figure(
      "Copies that the update makes",
      max(0, update - sharded * framework.sharded_optimizer) * kB * (1 - run.offload.optimizer) * share.held_state,
      "beyond those that lie between steps too");
  return share;
}

constexpr std::string_view kActivationSource = "counted per tensor; Korthikanti et al. 2022, table 2";

Ratio HeldPasses(const PipelineDegrees& pipeline, PipelineSchedule schedule, Ratio stage) {
  const auto& [p, v, m] = pipeline;
  switch (schedule) {
    case PipelineSchedule::kGpipe:
      return m;
    case PipelineSchedule::kZbH1:
    case PipelineSchedule::kZbV:
      return min(m, p);
    case PipelineSchedule::kDualPipe:
      return min(ceil(m / 2), p - stage);  // a 1F1B pipeline of each half of the micro-batches
    case PipelineSchedule::kOneFOneB:
      break;
  }
  if (v <= 1) return min(m, p - stage);
  return min(m * v, 2 * (p - 1 - stage) + (v - 1) * p + 1) / v;
}

// Activations that a device keeps of its layers.
struct StageActivations {
  Bytes in_flight;         // of all micro-batches, including those in host memory
  Bytes largest, working;  // largest single layer: kept activations, and those restored by recomputation
  Bytes context;           // largest set of keys and values that context-parallel ranks gather
  Ratio passes;            // micro-batches in flight
  Ratio stage_layers;      // of the device's own stage
  Ratio largest_layer;     // parameters of one layer on the device
};

// Layer activations of all passes in flight.
Bytes InFlight(const TrainingContext& context, const Stage& stage, Ratio layers, Bytes kept, Ratio passes,
               const RecomputeChoice& recompute) {
  const Bytes checkpoint = LayerCheckpoint(context);
  const Ratio share = recompute.full_share;
  if (context.run.recompute != Recompute::kAuto && share == 0) return passes * kept;
  if (recompute.is_leading) return passes * (kept + stage.Leading() * checkpoint);
  if (context.run.recompute == Recompute::kFull) return passes * stage.checkpoints * checkpoint;
  return passes * ((1 - share) * kept + share * layers * checkpoint);
}

// Activations of the MTP modules of the last stage, for the one micro-batch whose backward pass is next.
Bytes ModuleActivations(const MemoryTerms& terms, const RecomputeChoice& recompute) {
  const TrainingContext& context = terms.context;
  const Ratio full = recompute.ModuleShare();
  const Bytes layer = LayerActivations(context, terms.works.of[MtpKind(context)], recompute.selective);
  const Bytes projection =
      Figure("Inputs of a module's two norms and of its projection",
             AtWidth(context, 8 * kB * context.shape.sequence_parallel_tokens * Ratio(context.model.hidden)));
  return Figure(
      "Activations of the MTP modules",
      MtpModules(context.model, context.run) * ((1 - full) * layer + full * LayerCheckpoint(context) + projection),
      "each a layer behind a projection; of one micro-batch");
}

// Activations of one stage for all micro-batches.
StageActivations ActivationsOf(const MemoryTerms& terms, const Stage& stage, Ratio index,
                               const RecomputeChoice& recompute) {
  const TrainingShape& shape = terms.context.shape;
  const KeptActivations kept = KeptBy(terms, stage, recompute);
  StageActivations of;
  of.stage_layers = Figure("Layers of the stage", stage.layers.Total());
  of.passes =
      PassesInFlight({shape.pipeline, shape.chunks, shape.micro_batches}, terms.context.run.mapping.schedule, index);
  of.in_flight = Figure("Layer activations in flight",
                        InFlight(terms.context, stage, of.stage_layers, kept.layers, of.passes, recompute),
                        "all micro-batches between their forward and backward passes", kActivationSource);
  if (stage.head && MtpModules(terms.context.model, terms.context.run) > 0)
    of.in_flight =
        Figure("Activations in flight, of MTP modules too", of.in_flight + ModuleActivations(terms, recompute));
  of.largest = kept.largest;
  of.context = kept.context;
  of.working = kept.working;
  of.largest_layer = kept.largest_layer;
  return of;
}

// Activations of all stages on a device.
StageActivations ActivationsOf(const MemoryTerms& terms, const DeviceStages& device, Ratio index,
                               const RecomputeChoice& recompute) {
  const StageActivations own = ActivationsOf(terms, device.own, index, recompute);
  if (device.mirrored == nullptr) return own;
  const Ratio other = Figure("Mirrored stage", terms.context.shape.pipeline - 1 - index, "counted from 0");
  const StageActivations mirrored = ActivationsOf(terms, *device.mirrored, other, recompute);
  StageActivations both = own;
  both.in_flight = Figure("Layer activations in flight of both stages", own.in_flight + mirrored.in_flight);
  both.largest = max(own.largest, mirrored.largest);
  both.context = max(own.context, mirrored.context);
  both.working = max(own.working, mirrored.working);
  both.largest_layer = max(own.largest_layer, mirrored.largest_layer);
  both.passes = device.own.embedding ? own.passes : mirrored.passes;
  return both;
}

// Bytes that a logit takes until its gradient is used: `apart` if the gradient has memory of its own, 2 if the loss
// works in place. An fp32 copy (4) lies beside the logits (2) and the cast of the gradient (2) in 16 bits.
Ratio LogitBytes(const TrainingRun& run, Ratio apart) {
  return run.loss_in_place ? min(apart, run.framework.memory.fp32_logits ? 2 + 4 + 2 : 2) : apart;
}

// Bytes of the embedding and the head, on the stages that have them.
Bytes EndBytes(const TrainingContext& context, const DeviceStages& device, Ratio passes) {
  const FrameworkMemory& framework = context.framework().memory;
  const TrainingShape& shape = context.shape;
  const Ratio hidden = context.model.hidden;
  Ratio bytes = 0;
  if (device.HasEmbedding() && !context.run.flash_attention)
    bytes +=
        Figure("Dropout mask of the embedding", passes * shape.sequence_parallel_tokens * hidden, "a byte per element");
  if (device.HasHead()) {
    const Ratio modules = MtpModules(context.model, context.run), heads = 1 + modules;
    bytes += Figure("Inputs of the final norm and of the LM head",
                    AtWidth(context, heads * 4 * shape.sequence_parallel_tokens * hidden), "of each MTP module too");
    if (shape.tensor > 1)
      bytes += Figure("Gathered input of the LM head",
                      AtWidth(context, heads * framework.head_gathered * shape.tokens * hidden), "under TP");
    bytes += Figure("Logits, their copy and gradient",
                    (LogitBytes(context.run, framework.logits) + LogitBytes(context.run, 4) * modules) * shape.tokens *
                        Ratio(context.model.vocab) / shape.tensor / Ratio(context.run.loss_chunks),
                    "of one chunk of the tokens; the probabilities of an MTP module wait for its backward pass");
  }
  return Figure("Activations of embedding and head", bytes * kB,
                "gathered input; logits, their copy and gradient on the last stage", kActivationSource);
}

// Gradients that do not coexist with all activations. reusable: memory that activations can use; absent: gradients that
// the backward pass makes while it frees activations.
struct GradientRoom {
  Bytes reusable, absent;
};
// Sets memory.activations. `index`: the device's own stage, from 0.
StageActivations AddActivations(const MemoryTerms& terms, const DeviceStages& device, Ratio index,
                                const RecomputeChoice& recompute, const GradientRoom& room, TrainingMemory& memory) {
  const TrainingContext& context = terms.context;
  const FrameworkMemory& framework = context.framework().memory;
  const StageActivations layers = ActivationsOf(terms, device, index, recompute);
  const Ratio offloaded = context.run.offload.activations;
  const Bytes resident =
      Figure("Layer activations on the device",
             (1 - offloaded) * layers.in_flight + min(offloaded * layers.in_flight, 2 * offloaded * layers.largest),
             "not offloaded, and those of two layers in transfer");
  const Ratio element = context.shape.tensor > 1 ? framework.working_hidden_tensor : framework.working_hidden;
  const Bytes gathered = Figure("Gathered inputs of one layer",
                                AtWidth(context, element * kB * context.shape.tokens * Ratio(context.model.hidden)), "",
                                kActivationSource);
  Bytes working = Figure("Working set of one layer", Restores(recompute) ? layers.working + gathered : gathered,
                         "activations that recomputation restores, gathered inputs", kActivationSource);
  if (layers.context > Bytes{})
    working = Figure("Working set of one layer and of its context", working + layers.context,
                     "keys and values of all context-parallel ranks, and their gradients until they are reduced");
  const Bytes ends = EndBytes(context, device, layers.passes);
  const Bytes all = resident + working + ends;
  // Gradients made by the backward pass reuse the memory that it frees, starting with the working set of the layers.
  const Bytes beside = room.absent > Bytes{}
                           ? Figure("Activations beside the gradients",
                                    max(working, all - room.absent - min(room.absent, min(working, ends))),
                                    "at the end of the backward pass, or before it, when no layer works")
                           : all;
  memory.activations = room.reusable > Bytes{} ? Figure("Activations", max(0 * kB, beside - room.reusable),
                                                        "at the peak, beyond the room that the update leaves")
                                               : Figure("Activations", beside, "at the peak");
  return layers;
}

// Weights, gradients and optimizer state in transfer to or from the host: the current layer's and the next layer's.
Bytes MovingBytes(const TrainingContext& context, const HeldWeights& held, const StateShare& share,
                  Ratio largest_layer) {
  const TrainingRun& run = context.run;
  const Offload& offload = run.offload;
  const Ratio largest_share =
      Figure("Largest share", largest_layer / ShardRanks(1, run, context.shape, context.shape.DataRanks()),
             "weights of the largest layer that the rank updates");
  const Ratio updated = run.trainable == Trainable::kLora ? min(largest_share, held.adapters) : largest_share;
  const Ratio on_device = run.framework.offload.host_update ? 0 : 1;
  const Bytes state =
      Figure("Optimizer state on the way", 2 * kB * on_device * offload.optimizer * share.leaving_bytes * updated,
             "to the device and back; none where the host updates");
  const Bytes gradients =
      Figure("Gradients on the way to the host",
             OffloadedGradients(context) * min(share.gradients, 2 * kB * share.gradient_bytes * largest_layer));
  const Bytes weights = Figure("Weights on the way from the host",
                               offload.parameters * min(share.weights, 2 * kB * share.weight_bytes * largest_layer));
  return Figure("On the way to the host and back", state + gradients + weights);
}

// Library buffers, the gathered weights of ZeRO 3, and buffers for transfers between device and host.
Bytes WorkspaceOf(const TrainingContext& context, const StageActivations& layers, Bytes moving, Bytes copies) {
  const FrameworkMemory& framework = context.framework().memory;
  const Ratio gathered =
      Figure("Gathered layers",
             floor(Ratio(context.run.mapping.zero) / 3) * min(layers.stage_layers, Ratio(framework.gathered_layers)),
             "at a time, under ZeRO 3");
  const Ratio communicates =
      Figure("Communicates", min(1, context.shape.devices - 1), "whether ranks communicate: 1 or 0");
  // Frozen weights are gathered in their stored format.
  const Ratio element = context.run.trainable == Trainable::kLora
                            ? InputAt(InputOfFrozenBytes(context), FrozenBytes(context), context.tape)
                            : AtWidth(context, Ratio(2));
  const Bytes weights =
      Figure("Gathered weights", element * kB * gathered * layers.largest_layer, "of layers that ZeRO 3 holds whole");
  return Figure("Workspace", framework.constant + communicates * framework.communication + weights + moving + copies,
                "library buffers, allocator overhead, gathered weights, copies of the update");
}

TrainingMemory MemoryOf(const MemoryTerms& terms, const DeviceStages& device, Ratio index,
                        const RecomputeChoice& recompute) {
  const TrainingContext& context = terms.context;
  const DeviceWeights weights = WeightsOf(context, device);
  TrainingMemory memory;
  const StateShare share = AddState(context, weights, memory);
  const StageActivations layers =
      AddActivations(terms, device, index, recompute, {share.reusable, share.absent}, memory);
  const Bytes moving = MovingBytes(context, weights.all, share, layers.largest_layer);
  memory.workspace = WorkspaceOf(context, layers, moving, share.copies);
  const Offload& offload = context.run.offload;
  memory.host = Figure("Host memory per device",
                       offload.activations * layers.in_flight +
                           offload.optimizer * kB * share.optimizer_bytes * share.held_state +
                           OffloadedGradients(context) * share.gradients + offload.parameters * share.weights,
                       "offloaded activations, optimizer state, gradients and weights");
  return memory;
}

// The index of the most loaded stage, recorded with the memory left on each stage.
Ratio MostLoaded(const MemoryTerms& terms, const std::vector<Stage>& stages, std::size_t index,
                 const RecomputeChoice& recompute) {
  const TrainingContext& context = terms.context;
  const Ratio found = static_cast<double>(index);
  if (context.tape == nullptr || stages.size() <= 1) return found;
  Alternatives<Bytes> left;
  for (std::size_t other = 0; other < stages.size(); ++other) {
    left.emplace_back("stage " + std::to_string(other) + ": memory left",
                      UsableMemory(context.device()) - context.framework().memory.outside -
                          StageMemory(terms, stages, other, recompute).Total());
  }
  return Procedure(
      "The most loaded stage", found,
      {InSteps(context.shape.pipeline), InSteps(context.shape.chunks), InSteps(context.framework().memory.logits),
       InSteps(Ratio(context.run.loss_chunks)), InSteps(Ratio(context.model.vocab))},
      "counted from 0: the one that leaves the least memory", "", left, index);
}

}  // namespace

TrainingMemory StageMemory(const MemoryTerms& terms, const std::vector<Stage>& stages, std::size_t index,
                           const RecomputeChoice& recompute) {
  return MemoryOf(terms, StagesOn(terms.context, stages, index), static_cast<double>(index), recompute);
}

TrainingMemory MemoryOfMostLoaded(const MemoryTerms& terms, const std::vector<Stage>& stages, std::size_t index,
                                  const RecomputeChoice& recompute) {
  return MemoryOf(terms, StagesOn(terms.context, stages, index), MostLoaded(terms, stages, index, recompute),
                  recompute);
}

Bytes BeyondMemory(const MemoryTerms& terms, const std::vector<Stage>& stages, const RecomputeChoice& recompute,
                   Bytes capacity) {
  Bytes beyond;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const TrainingMemory memory = StageMemory(terms, stages, i, recompute);
    beyond = max(beyond, memory.Total() - capacity, memory.host - terms.context.device().host.memory);
  }
  return beyond;
}

bool Fits(const MemoryTerms& terms, const std::vector<Stage>& stages, const RecomputeChoice& recompute,
          Bytes capacity) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const TrainingMemory memory = StageMemory(terms, stages, i, recompute);
    if (memory.Total() > capacity || memory.host > terms.context.device().host.memory) return false;
  }
  return true;
}

Ratio PassesInFlight(const PipelineDegrees& pipeline, PipelineSchedule schedule, Ratio stage) {
  return Figure("Micro-batches in flight", HeldPasses(pipeline, schedule, stage),
                "of all layers of the stage, between forward and backward pass");
}

}  // namespace slipstick
