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

// What one stage keeps of all its micro-batches.
StageActivations ActivationsOf(const MemoryTerms& terms, const StepTerms& step, const Stage& stage, Ratio index,
                               const RecomputeChoice& recompute) {
  const KeptActivations kept = KeptBy(terms, stage, recompute);
  StageActivations of;
  of.stage_layers = Figure("Layers of the stage", stage.layers.Total());
  of.passes = PassesInFlight({step.pipeline, step.chunks, step.micro_batches}, step.run.mapping.schedule, index);
  of.in_flight = Figure("Layer activations in flight",
                        InFlight(terms.context, stage, of.stage_layers, kept.layers, of.passes, recompute),
                        "all micro-batches between their forward and backward passes", kActivationSource);
  of.largest = kept.largest;
  of.working = kept.working;
  of.largest_layer = kept.largest_layer;
  return of;
}

// The stages of a device together.
StageActivations ActivationsOf(const MemoryTerms& terms, const StepTerms& step, const DeviceStages& device, Ratio index,
                               const RecomputeChoice& recompute) {
  const StageActivations own = ActivationsOf(terms, step, device.own, index, recompute);
  if (device.mirrored == nullptr) return own;
  const Ratio other = Figure("Mirrored stage", step.pipeline - 1 - index, "counted from 0");
  const StageActivations mirrored = ActivationsOf(terms, step, *device.mirrored, other, recompute);
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
                                Ratio index, const RecomputeChoice& recompute, Bytes reusable, TrainingMemory& memory) {
  const TrainingContext& context = terms.context;
  const FrameworkMemory& framework = step.run.framework.memory;
  const StageActivations layers = ActivationsOf(terms, step, device, index, recompute);
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
