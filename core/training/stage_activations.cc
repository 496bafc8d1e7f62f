#include "core/training/stage_activations.h"

#include <string>

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/operators/efficiency.h"

namespace slipstick {
namespace {

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

}  // namespace

Ratio PassesInFlight(const PipelineDegrees& pipeline, PipelineSchedule schedule, Ratio stage) {
  return Figure("Micro-batches in flight", HeldPasses(pipeline, schedule, stage),
                "of all layers of the stage, between forward and backward pass");
}

namespace {

// Layers of a stage.
struct StageLayers {
  Ratio all, leading;  // leading: those that are recomputed, the first of each virtual stage
  Ratio checkpoints;   // of a micro-batch
};

// Groups of layers with one checkpoint each.
void NameGroups(const StepTerms& step, const Stage& stage, StageLayers& layers, Trace& trace) {
  const auto grouped = [&](std::string_view symbol, std::string_view title, double value, std::string_view note) {
    const Ratio found =
        Procedure(title, Ratio(value), {layers.all, step.chunks, Ratio(step.run.recompute_layers)}, note);
    return KnownAs(symbol, found, trace);
  };
  layers.checkpoints = grouped("checkpoints", "Checkpoints of a micro-batch", stage.checkpoints,
                               "a group's input; a group ends with its virtual stage");
  grouped("group_layers", "Layers of the largest group", stage.largest_group, "restored together");
}

// With the nodes of the kinds' layers that the plan has placed on the stage.
StageLayers LayersOf(const StepTerms& step, const Stage& stage, std::size_t place, const RecomputeChoice& recompute,
                     Trace& trace) {
  StageLayers layers{stage.layers.Total(), stage.Leading(), stage.checkpoints};
  if (!trace.on()) return layers;
  layers.all = layers.leading = 0;
  for (const LayerKind kind : kLayerKinds) {
    const Ratio of_kind = stage.layers.of[kind], leading = stage.layers.leading[kind];
    if (of_kind == 0) continue;
    const Trace::Scope scope(trace, NameOf(kind));
    layers.all += KnownAs("kind_layers", trace.Carry(PlacedSymbol(place, NameOf(kind)), of_kind), trace);
    if (recompute.is_leading) layers.leading += trace.Carry(LeadingSymbol(place, NameOf(kind)), leading);
  }
  layers.all = KnownAs("stage_layers", Figure("Layers of the stage", layers.all), trace);
  if (step.run.recompute == Recompute::kFull && !recompute.is_leading) NameGroups(step, stage, layers, trace);
  return layers;
}

// Layer activations of all passes in flight.
Bytes InFlight(const TrainingContext& context, const StageLayers& layers, Bytes kept, Ratio passes,
               const RecomputeChoice& recompute, Trace& trace) {
  const Bytes checkpoint = trace.Carry("checkpoint", LayerCheckpoint(context));
  if (context.run.recompute != Recompute::kAuto && recompute.full_share == 0) return passes * kept;
  if (recompute.is_leading) return passes * (kept + layers.leading * checkpoint);
  if (context.run.recompute == Recompute::kFull) return passes * layers.checkpoints * checkpoint;
  const Ratio share = trace.Carry("decided_share", Ratio(recompute.full_share));
  return passes * ((1 - share) * kept + share * layers.all * checkpoint);
}

// What one stage keeps of all its micro-batches.
StageActivations ActivationsOf(const MemoryTerms& terms, const StepTerms& step, const Stage& stage, Ratio index,
                               const RecomputeChoice& recompute, Trace& trace) {
  const StageLayers layers = LayersOf(step, stage, static_cast<std::size_t>(index.base()), recompute, trace);
  const KeptActivations kept = KeptBy(terms, stage, recompute, trace);
  StageActivations of;
  of.passes = PassesInFlight({step.pipeline, step.chunks, step.micro_batches}, step.run.mapping.schedule, index);
  of.in_flight =
      Figure("Layer activations in flight",
             InFlight(terms.context, layers, trace.Carry("kept_layers", kept.layers), of.passes, recompute, trace),
             "all micro-batches between their forward and backward passes", kActivationSource);
  of.largest = trace.Carry("largest_kept", kept.largest);
  of.working = trace.Carry("working_layer", kept.working);
  of.stage_layers = layers.all;
  of.largest_layer = trace.Carry("largest_layer", Ratio(kept.largest_layer));
  return of;
}

// The stages of a device together.
StageActivations ActivationsOf(const MemoryTerms& terms, const StepTerms& step, const DeviceStages& device, Ratio index,
                               const RecomputeChoice& recompute, Trace& trace) {
  if (device.mirrored == nullptr) return ActivationsOf(terms, step, device.own, index, recompute, trace);
  const auto of = [&](const char* name, const Stage& stage, Ratio place) {
    const Trace::Scope scope(trace, name);
    return ActivationsOf(terms, step, stage, place, recompute, trace);
  };
  const StageActivations own = of("own", device.own, index);
  const Ratio other = Figure("Mirrored stage", step.pipeline - 1 - index, "counted from 0");
  const StageActivations mirrored = of("mirrored", *device.mirrored, other);
  StageActivations both = own;
  both.in_flight = Figure("Layer activations in flight of both stages", own.in_flight + mirrored.in_flight);
  both.largest = max(own.largest, mirrored.largest);
  both.working = max(own.working, mirrored.working);
  both.largest_layer = max(own.largest_layer, mirrored.largest_layer);
  both.passes = device.own.embedding ? own.passes : mirrored.passes;
  return both;
}

// Bytes of embedding and head at their ends of the pipeline.
Bytes EndBytes(const TrainingContext& context, const StepTerms& step, const DeviceStages& device, Ratio passes) {
  const FrameworkMemory& framework = step.run.framework.memory;
  const Ratio hidden = context.model.hidden;
  Ratio bytes = 0;
  if (device.HasEmbedding() && !context.run.flash_attention)
    bytes += Figure("Dropout mask of the embedding", passes * step.own_tokens * hidden, "a byte per element");
  if (device.HasHead()) {
    bytes += Figure("Inputs of the final norm and of the LM head", 4 * step.own_tokens * hidden);
    if (step.tensor > 1)
      bytes += Figure("Gathered input of the LM head", framework.head_gathered * step.tokens * hidden, "under TP");
    bytes += Figure("Logits, their copy and gradient",
                    framework.logits * step.tokens * Ratio(context.model.vocab) / step.tensor);
  }
  return Figure("Activations of embedding and head", bytes * kB,
                "gathered input; logits, their copy and gradient on the last stage", kActivationSource);
}

}  // namespace

StageActivations AddActivations(const MemoryTerms& terms, const StepTerms& step, const DeviceStages& device,
                                double index, const RecomputeChoice& recompute, Bytes reusable, TrainingMemory& memory,
                                Trace& trace) {
  const TrainingContext& context = terms.context;
  const FrameworkMemory& framework = step.run.framework.memory;
  const StageActivations layers =
      ActivationsOf(terms, step, device, trace.Carry("stage", Ratio(index)), recompute, trace);
  const Ratio offloaded = step.run.offload.activations;
  const Bytes resident =
      Figure("Layer activations on the device",
             (1 - offloaded) * layers.in_flight + min(offloaded * layers.in_flight, 2 * offloaded * layers.largest),
             "not offloaded, and those of two layers in transfer");
  const Ratio element = step.tensor > 1 ? framework.working_hidden_tensor : framework.working_hidden;
  const Bytes gathered = Figure("Gathered inputs of one layer",
                                element * kB * step.tokens * Ratio(context.model.hidden), "", kActivationSource);
  const Bytes working = Figure("Working set of one layer", Restores(recompute) ? layers.working + gathered : gathered,
                               "activations that recomputation restores, gathered inputs", kActivationSource);
  const Bytes all = resident + working + EndBytes(context, step, device, layers.passes);
  memory.activations = reusable > Bytes{} ? Figure("Activations", max(0 * kB, all - reusable),
                                                   "at the peak, beyond the room that the update leaves")
                                          : Figure("Activations", all, "at the peak");
  return layers;
}

}  // namespace slipstick
