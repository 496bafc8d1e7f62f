#include "core/training_stage/named_terms.h"

#include <deque>
#include <memory>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/base/figure.h"
#include "core/collectives/fabric.h"
#include "core/collectives/named_terms.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"

namespace slipstick {
namespace {

// What the node of a value stands for is what the name stands for from here on; an intermediate result gets the name.
template <class Q>
void Name(std::string_view symbol, Q value, Trace& trace) {
  if (!trace.on()) return;
  const bool is_nameless = value.node() != nullptr && value.node()->label == nullptr;
  trace.Alias(symbol, is_nameless ? Figure(symbol, value) : value, "the node of " + std::string(symbol));
}

// `framework` has nodes.
std::shared_ptr<const StepCluster> Named(const StepCluster& plain, const Framework& framework, Trace& trace) {
  auto named = std::make_shared<StepCluster>(plain);
  named->stated.device = Named(plain.stated.device, trace);
  Device& device = named->cluster.device = Named(plain.cluster.device, trace);
  BindInputs(device.host, "cluster.device.host", trace);
  BindInputs(device.idle, "cluster.device.idle", trace);
  std::vector<NetworkLevel>& stated = named->stated.networks;
  BindInputs(stated, "cluster.networks", trace);
  BindInputs(named->stated.devices, "cluster.devices", trace);
  for (NetworkLevel& level : stated) {
    level.fabric = Fabric(trace.Kept<FabricConstants>("fabric " + level.fabric->id, [&level, &trace] {
      return std::make_shared<FabricConstants>(Named(*level.fabric, trace));
    }));
  }
  named->cluster.devices = named->stated.devices;
  named->cluster.networks = stated;
  for (std::size_t i = 1; i < stated.size(); ++i)
    named->cluster.networks[i].bandwidth = CollectiveBandwidth(stated[i].bandwidth, framework);
  return named;
}

}  // namespace

TrainingContext MakeContext(const Model& model, const Cluster& cluster, const TrainingRun& run, Trace& trace) {
  if (!trace.on()) return MakeContext(model, cluster, run);
  if (const auto& utilization = run.framework.utilization)
    ReplaceByUtilizations(cluster, *utilization, "training.framework.utilization", trace);
  struct Asked {
    Model model;
    TrainingRun run;
  };
  using Kept = std::deque<Asked>;
  Asked& named = trace.Kept<Kept>("training", [] { return std::make_shared<Kept>(); }).emplace_back(Asked{model, run});
  BindInputs(named.model, "model", trace);
  BindInputs(named.run, "training", trace);
  return MakeContext(named.model, Named(*PrepareCluster(cluster, run.framework), named.run.framework, trace),
                     named.run);
}

RecomputeChoice Carried(RecomputeChoice choice, Trace& trace) {
  choice.full_share = trace.Carry("full_share", choice.full_share);
  choice.selective.norms = trace.Carry("chosen_norms", choice.selective.norms);
  choice.selective.latents = trace.Carry("chosen_latents", choice.selective.latents);
  choice.selective.core = trace.Carry("chosen_core", choice.selective.core);
  return choice;
}

void ExplainShape(const TrainingContext& context, Trace& trace) {
  if (!trace.on()) return;
  const Trace::Scope scope(trace, "shape");
  const TrainingShape& shape = context.shape;
  Name("tensor", shape.tensor, trace);
  Name("chunks", shape.chunks, trace);
  Name("vocabulary", Ratio(context.model.vocab), trace);
  Name("micro_batches", shape.micro_batches, trace);
  Name("counted", shape.counted, trace);
  Name("attended", shape.attended, trace);
  Name("tokens", shape.tokens, trace);
  Name("own_tokens", shape.sequence_parallel_tokens, trace);
  Name("residual_tokens", ResidualTokens(context), trace);
  trace.Input("visible", UsableMemory(context.device()), "cluster.device.memory.usable");
}

std::string StageName(std::size_t stage) { return "stage " + std::to_string(stage); }

std::string PlacedSymbol(std::size_t stage, std::string_view kind) {
  return StageName(stage) + "." + std::string(kind);
}

std::string LeadingSymbol(std::size_t stage, std::string_view kind) {
  return StageName(stage) + ".leading_" + std::string(kind);
}

StagePlan PlanLayers(const TrainingContext& context, const LayerWorks& works, Trace& trace) {
  StagePlan plan = PlanLayers(context, works);
  for (std::size_t i = 0; trace.on() && i < plan.stages.size(); ++i) {
    const Stage& stage = plan.stages[i];
    const Trace::Scope scope(trace, StageName(i));
    Name("stage_dense", stage.dense_parameters, trace);
    Name("stage_tables", stage.tables, trace);
    Name("stage_experts", stage.expert_parameters, trace);
    Name("stage_adapters", stage.adapter_parameters, trace);
    for (const LayerKind kind : kLayerKinds) {
      Name(PlacedSymbol(i, NameOf(kind)), stage.layers.of[kind], trace);
      Name(LeadingSymbol(i, NameOf(kind)), stage.layers.leading[kind], trace);
    }
  }
  return plan;
}

Ratio WeightsOn(const DeviceStages& device, Ratio Stage::* part, std::string_view, std::string_view symbol,
                const Note& note, Trace& trace) {
  const Ratio weights = Figure(note.title, WeightsOn(device, part), note.note);
  Name(symbol, weights, trace);
  return weights;
}

KeptActivations KeptBy(const MemoryTerms& terms, const Stage& stage, const RecomputeChoice& recompute, Trace& trace) {
  const KeptActivations kept = KeptBy(terms, stage, recompute);
  Name("largest_layer", kept.largest_layer, trace);
  return kept;
}

void ExplainStateBytes(const TrainingContext& context, const StateBytes& state, Trace& trace) {
  Name("weight_bytes", state.weights, trace);
  if (context.run.trainable == Trainable::kLora) Name("adapter_bytes", state.adapter_weights, trace);
  Name("state_gradients", state.gradients, trace);
  Name("state_optimizer", state.optimizer, trace);
  if (state.optimizer.node() == nullptr) trace.Input("state_optimizer", state.optimizer, "training.optimizer");
}

void ExplainStage(const StageTime& stage, Trace& trace) {
  if (!trace.on()) return;
  constexpr std::string_view kSlowest = "slowest stage: its layers, embedding and head",
                             kAll = "forward, backward and recomputation";
  const auto name = [&trace](std::string_view symbol, std::string_view title, Seconds time, std::string_view note) {
    Name(symbol, Figure(title, time, note), trace);
  };
  const auto total = [&stage](Seconds LayerPass::* part) {
    return stage.forward.*part + stage.backward.*part + stage.recompute.*part;
  };
  name("pass_forward", "Forward compute of a micro-batch", stage.forward.compute, kSlowest);
  name("pass_backward", "Backward compute of a micro-batch", stage.backward.compute, kSlowest);
  name("pass_recompute", "Recomputation of a micro-batch", stage.recompute.compute, "slowest stage: its layers");
  name("pass_tp", "Exposed TP communication of a micro-batch", total(&LayerPass::tp), kAll);
  name("pass_cp", "Exposed CP communication of a micro-batch", total(&LayerPass::cp), kAll);
  name("pass_ep", "Exposed EP communication of a micro-batch", total(&LayerPass::ep), kAll);
  name("pass_tp_link", "TP link time of a micro-batch", total(&LayerPass::tp_link), kAll);
  name("pass_cp_link", "CP link time of a micro-batch", total(&LayerPass::cp_link), kAll);
  name("pass_ep_link", "EP link time of a micro-batch", total(&LayerPass::ep_link), kAll);
  name("pass_host", "Launch overhead of a micro-batch", total(&LayerPass::host), kAll);
  name("pass_sharded", "Exposed ZeRO-3 communication of a micro-batch", stage.sharded_forward + stage.sharded_backward,
       "all-gather of weights, reduce-scatter of gradients");
  name("pass_sharded_link", "ZeRO-3 link time of a micro-batch", stage.sharded_link, "");
  name("pass_offload", "Exposed offload of a micro-batch's activations", stage.host_forward + stage.host_backward,
       "out and back");
  name("pass_offload_link", "Host link time of a micro-batch", stage.host_link, "out and back");
  name("stage_forward", "Forward pass of the stage", stage.Forward(), "one micro-batch");
  name("stage_backward", "Backward pass of the stage", stage.Backward(), "one micro-batch");
  name("pass_time", "Passes of the stage", stage.Total(), "one micro-batch");
}

StepFlops CountFlops(const Model& model, const TrainingRun& run, const RecomputeChoice& recompute, Trace& trace) {
  const StepFlops flops = CountFlops(model, run, recompute);
  trace.Report("training.model_flops_per_step", flops.model);
  trace.Report("training.model_flops_per_step_causal", flops.model_causal);
  return flops;
}

Seconds TimeCollective(const TrainingContext& context, const CollectiveCall& call, std::string_view bytes_are,
                       RankGroup group, std::string_view, std::string_view symbol, Trace& trace) {
  CollectiveCall carried = call;
  carried.bytes = trace.Carry(bytes_are, call.bytes);
  const Seconds time = TimeCollective(context, carried, group);
  Name(symbol, time, trace);
  return time;
}

}  // namespace slipstick
