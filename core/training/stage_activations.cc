#include "core/training/stage_activations.h"

#include <string>
#include <utility>
#include <vector>

#include "core/base/sum.h"
#include "core/operators/efficiency.h"
#include "core/training_stage/named_terms.h"

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
      return min(ceil(m / 2), p - stage);  // a 1F1B pipeline of each half of the micro-batches
    case PipelineSchedule::kOneFOneB:
      break;
  }
  if (v <= 1) return min(m, p - stage);
  return min(m * v, 2 * (p - 1 - stage) + (v - 1) * p + 1) / v;
}

namespace {

// Passes in flight on the stage.
double ExplainPasses(const TrainingContext& context, double stage, Trace& trace) {
  const double passes = PassesInFlight(context.shape, context.run.mapping.schedule, stage);
  if (!trace.on()) return passes;
  const double pp = context.shape.pipeline, virtual_stages = context.shape.chunks,
               micro_batches = context.shape.micro_batches;
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
      trace.Record("passes", "min(ceil(micro_batches / 2), pp - stage)", passes, note, "micro_batches, pp, stage",
                   micro_batches, pp, stage);
      break;
    case PipelineSchedule::kOneFOneB:
      if (virtual_stages <= 1) {
        trace.Record("passes", "min(micro_batches, pp - stage)", passes, note, "micro_batches, pp, stage",
                     micro_batches, pp, stage);
      } else {
        trace.Record("passes",
                     "min(micro_batches * virtual_stages, 2 * (pp - 1 - stage) + (virtual_stages - 1) * pp + 1) / "
                     "virtual_stages",
                     passes, note, "micro_batches, virtual_stages, pp, stage", micro_batches, virtual_stages, pp,
                     stage);
      }
      break;
  }
  return passes;
}

// Layer activations of all passes in flight.
Bytes InFlight(const TrainingContext& context, const Stage& stage, const KeptActivations& kept, double passes,
               const RecomputeChoice& recompute, Trace& trace) {
  constexpr Note kNote{"Layer activations in flight", "all micro-batches between their forward and backward passes",
                       kActivationSource};
  const Bytes kept_layers = kept.layers, checkpoint = LayerCheckpoint(context);
  const double full_share = recompute.full_share, stage_layers = stage.layers.Total();
  if (context.run.recompute != Recompute::kAuto && full_share == 0) {
    FIGURE(trace, in_flight, passes * kept_layers, kNote, passes, kept_layers);
    return in_flight;
  }
  if (recompute.is_leading) {
    const double leading_layers = stage.Leading();
    FIGURE(trace, in_flight, passes * (kept_layers + leading_layers * checkpoint), kNote, passes, kept_layers,
           leading_layers, checkpoint);
    return in_flight;
  }
  if (context.run.recompute == Recompute::kFull) {
    const double checkpoints = stage.checkpoints;
    FIGURE(trace, in_flight, passes * checkpoints * checkpoint, kNote, passes, checkpoints, checkpoint);
    return in_flight;
  }
  trace.Alias("full_share", full_share, "decided_share");
  FIGURE(trace, in_flight, passes * ((1 - full_share) * kept_layers + full_share * stage_layers * checkpoint), kNote,
         passes, full_share, kept_layers, stage_layers, checkpoint);
  return in_flight;
}

// Groups of layers with one checkpoint each.
void ExplainGroups(const TrainingContext& context, const Stage& stage, Trace& trace) {
  const double recompute_layers = static_cast<double>(context.run.recompute_layers),
               virtual_stages = context.shape.chunks;
  const double stage_layers = stage.layers.Total();
  const auto choose = [&](std::string_view symbol, double value, const Note& note) {
    trace.Procedure(symbol, value, note, "stage_layers, virtual_stages, recompute_layers", stage_layers, virtual_stages,
                    recompute_layers);
  };
  choose("checkpoints", stage.checkpoints,
         Note{"Checkpoints of a micro-batch", "a group's input; a group ends with its virtual stage"});
  choose("group_layers", stage.largest_group, Note{"Layers of the largest group", "restored together"});
}

// The layers of a stage, and those that are recomputed.
void ExplainLayers(const MemoryTerms& terms, const Stage& stage, std::size_t place, const RecomputeChoice& recompute,
                   Trace& trace) {
  ListedSum<double> stage_layers(trace), leading_layers(trace);
  for (const LayerKind kind : kLayerKinds) {
    const double kind_layers = stage.layers.of[kind];
    if (kind_layers == 0) continue;
    const Trace::Scope scope(trace, NameOf(kind));
    trace.Alias("kind_layers", kind_layers, PlacedSymbol(place, NameOf(kind)));
    stage_layers.Add(NameOf(kind), kind_layers, 1, "kind_layers");
    if (!recompute.is_leading) continue;
    trace.Alias("leading_layers", stage.layers.leading[kind], LeadingSymbol(place, NameOf(kind)));
    leading_layers.Add(NameOf(kind), stage.layers.leading[kind], 1, "leading_layers");
  }
  stage_layers.Total("stage_layers", Note{"Layers of the stage"});
  if (terms.context.run.recompute != Recompute::kFull) return;
  if (recompute.is_leading) {
    leading_layers.Total("leading_layers",
                         Note{"Layers of the stage that are recomputed", "the first of each virtual stage"});
  } else {
    ExplainGroups(terms.context, stage, trace);
  }
}

// What a stage keeps of all its micro-batches.
struct StageActivations {
  KeptActivations kept;
  double passes = 0;
  Bytes in_flight;
};
StageActivations ActivationsOf(const MemoryTerms& terms, const Stage& stage, double index,
                               const RecomputeChoice& recompute, Trace& trace) {
  ExplainLayers(terms, stage, static_cast<std::size_t>(index), recompute, trace);
  StageActivations of;
  of.kept = KeptBy(terms, stage, recompute, trace);
  of.passes = ExplainPasses(terms.context, index, trace);
  of.in_flight = InFlight(terms.context, stage, of.kept, of.passes, recompute, trace);
  return of;
}

// The stages of a device together.
StageActivations ActivationsOf(const MemoryTerms& terms, const DeviceStages& device, double index,
                               const RecomputeChoice& recompute, Trace& trace) {
  if (device.mirrored == nullptr) return ActivationsOf(terms, device.own, index, recompute, trace);
  const double own_stage = index, pp = terms.context.shape.pipeline;
  trace.Alias("own_stage", own_stage, "stage");
  const auto of = [&](const char* name, const Stage& place, double stage) {
    const Trace::Scope scope(trace, name);
    const StageActivations held = ActivationsOf(terms, place, stage, recompute, trace);
    const std::string prefix = std::string(name) + "_";
    trace.Alias(prefix + "in_flight", held.in_flight, "in_flight");
    trace.Alias(prefix + "largest", held.kept.largest, "largest_kept");
    trace.Alias(prefix + "working", held.kept.working, "working_layer");
    trace.Alias(prefix + "layer", held.kept.largest_layer, "largest_layer");
    return held;
  };
  const StageActivations own = of("own", device.own, index);
  {
    const Trace::Scope scope(trace, "mirrored");
    FIGURE(trace, stage, pp - 1 - own_stage, (Note{"The mirrored stage", "counted from 0"}), pp, own_stage);
  }
  const StageActivations mirrored = of("mirrored", *device.mirrored, pp - 1 - own_stage);
  const Bytes own_in_flight = own.in_flight, mirrored_in_flight = mirrored.in_flight;
  FIGURE(trace, in_flight, own_in_flight + mirrored_in_flight,
         (Note{"Layer activations in flight", "of both stages of the device"}), own_in_flight, mirrored_in_flight);
  const Bytes own_largest = own.kept.largest, mirrored_largest = mirrored.kept.largest;
  FIGURE(trace, largest_kept, max(own_largest, mirrored_largest), (Note{"Activations that the largest layer keeps"}),
         own_largest, mirrored_largest);
  Bytes working;
  if (Restores(recompute)) {
    const Bytes own_working = own.kept.working, mirrored_working = mirrored.kept.working;
    FIGURE(trace, working_layer, max(own_working, mirrored_working), (Note{"Largest set that recomputation restores"}),
           own_working, mirrored_working);
    working = working_layer;
  }
  const double own_layer = own.kept.largest_layer, mirrored_layer = mirrored.kept.largest_layer;
  FIGURE(trace, largest_layer, max(own_layer, mirrored_layer), (Note{"Weights of the largest layer on one device"}),
         own_layer, mirrored_layer);
  return {{{}, largest_kept, working, largest_layer}, device.own.embedding ? own.passes : mirrored.passes, in_flight};
}

// Bytes of embedding and head at their ends of the pipeline.
Bytes EndBytes(const TrainingContext& context, const DeviceStages& device, double passes, Trace& trace) {
  const TrainingShape& shape = context.shape;
  const FrameworkMemory& framework = context.framework().memory;
  const double tokens = shape.tokens, hidden = static_cast<double>(context.model.hidden),
               own_tokens = shape.sequence_parallel_tokens;
  const double vocabulary = static_cast<double>(context.model.vocab), tensor = shape.tensor;
  const bool has_dropout = device.HasEmbedding() && !context.run.flash_attention;
  FIGURE(trace, dropout_part, passes * own_tokens * hidden,
         (Note{"Dropout mask of the embedding", "a byte per element"}), passes, own_tokens, hidden);
  FIGURE(trace, norm_part, 4 * own_tokens * hidden, (Note{"Inputs of the final norm and of the LM head"}), own_tokens,
         hidden);
  const double head_gathered = framework.head_gathered, logit_bytes = framework.logits;
  trace.Input("head_gathered", head_gathered, "training.framework.memory.head_gathered");
  trace.Input("logit_bytes", logit_bytes, "training.framework.memory.logits");
  FIGURE(trace, gathered_part, head_gathered * tokens * hidden, (Note{"Gathered input of the LM head", "under TP"}),
         head_gathered, tokens, hidden);
  FIGURE(trace, logit_part, logit_bytes * tokens * vocabulary / tensor, (Note{"Logits, their copy and gradient"}),
         logit_bytes, tokens, vocabulary, tensor);
  const double end_parts =
      Sum<double>(trace, "end_parts", Note{"Bytes of embedding and LM head", "on their stages", kActivationSource},
                  {{"dropout_part", dropout_part, has_dropout},
                   {"norm_part", norm_part, device.HasHead()},
                   {"gathered_part", gathered_part, device.HasHead() && shape.tensor > 1},
                   {"logit_part", logit_part, device.HasHead()}});
  FIGURE(trace, end_bytes, end_parts * kB,
         (Note{"Activations of embedding and head", "gathered input; logits, their copy and gradient on the last stage",
               kActivationSource}),
         end_parts);
  return end_bytes;
}

}  // namespace

HeldActivations AddActivations(const MemoryTerms& terms, const DeviceStages& device, double index,
                               const RecomputeChoice& recompute, Bytes reusable, TrainingMemory& memory, Trace& trace) {
  const TrainingContext& context = terms.context;
  const TrainingShape& shape = context.shape;
  const FrameworkMemory& framework = context.framework().memory;
  const auto [kept, passes, in_flight] = ActivationsOf(terms, device, index, recompute, trace);
  const double offloaded_activations = context.run.offload.activations;
  const Bytes largest_kept = kept.largest, working_layer = kept.working;
  trace.Input("offloaded_activations", offloaded_activations, "training.offload.activations");
  FIGURE(trace, resident,
         (1 - offloaded_activations) * in_flight +
             min(offloaded_activations * in_flight, 2 * offloaded_activations * largest_kept),
         (Note{"Layer activations on the device", "not offloaded, and those of two layers in transfer"}),
         offloaded_activations, in_flight, largest_kept);
  const double tokens = shape.tokens, hidden = static_cast<double>(context.model.hidden);
  const bool has_tensor = shape.tensor > 1;
  const double working_bytes = has_tensor ? framework.working_hidden_tensor : framework.working_hidden;
  trace.Input(
      "working_bytes", working_bytes,
      has_tensor ? "training.framework.memory.working_hidden_tensor" : "training.framework.memory.working_hidden");
  FIGURE(trace, gathered_inputs, working_bytes * kB * tokens * hidden,
         (Note{"Gathered inputs of one layer", "", kActivationSource}), working_bytes, tokens, hidden);
  const Bytes working = Sum<Bytes>(
      trace, "working",
      Note{"Working set of one layer", "activations that recomputation restores, gathered inputs", kActivationSource},
      {{"working_layer", working_layer, Restores(recompute)}, {"gathered_inputs", gathered_inputs}});
  const Bytes end_bytes = EndBytes(context, device, passes, trace);
  if (reusable > Bytes{}) {
    FIGURE(trace, activations, max(0 * kB, resident + working + end_bytes - reusable),
           (Note{"Activations", "at the peak, beyond the room that the update leaves", "",
                 "training.memory_bytes.activations"}),
           resident, working, end_bytes, reusable);
    memory.activations = activations;
  } else {
    FIGURE(trace, activations, resident + working + end_bytes,
           (Note{"Activations", "at the peak", "", "training.memory_bytes.activations"}), resident, working, end_bytes);
    memory.activations = activations;
  }
  return {in_flight, kept.largest_layer};
}

}  // namespace slipstick
