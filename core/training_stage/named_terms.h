// Where callers that name their terms meet the numbers of this folder, which remember. It goes when no caller names its
// terms any more.
#pragma once

#include <string>
#include <string_view>

#include "core/base/trace.h"
#include "core/training_stage/exchange.h"
#include "core/training_stage/flops.h"
#include "core/training_stage/layer_memory.h"
#include "core/training_stage/stage.h"
#include "core/training_stage/stage_time.h"
#include "core/training_stage/state_bytes.h"

namespace slipstick {

// A context whose numbers have the nodes by which a trace knows the inputs. It refers to copies that the trace keeps,
// or to the arguments where the trace is off.
TrainingContext MakeContext(const Model& model, const Cluster& cluster, const TrainingRun& run, Trace& trace);
// A choice with the nodes of "full_share", "chosen_norms", "chosen_latents" and "chosen_core".
RecomputeChoice Carried(RecomputeChoice choice, Trace& trace);

// Degrees, tokens and rates of the step.
void ExplainShape(const TrainingContext& context, Trace& trace);
// "stage_dense", "stage_tables", "stage_experts" and "stage_adapters" in a scope of each stage.
StagePlan PlanLayers(const TrainingContext& context, const LayerWorks& works, Trace& trace);
std::string StageName(std::size_t stage);  // of that scope: "stage 0"
// Layers of a kind on a stage, and the first recompute_layers of them.
std::string PlacedSymbol(std::size_t stage, std::string_view kind);
std::string LeadingSymbol(std::size_t stage, std::string_view kind);
// `symbol`: a part of the weights of a device's stages, which is called `part_symbol` there.
Ratio WeightsOn(const DeviceStages& device, Ratio Stage::* part, std::string_view part_symbol, std::string_view symbol,
                const Note& note, Trace& trace);
// "largest_layer".
KeptActivations KeptBy(const MemoryTerms& terms, const Stage& stage, const RecomputeChoice& recompute, Trace& trace);
// "weight_bytes", "adapter_bytes", "state_gradients" and "state_optimizer".
void ExplainStateBytes(const TrainingContext& context, const StateBytes& state, Trace& trace);
// Passes of a stage: "pass_forward", "pass_tp" and so on, the same with "_link" for communication on the links,
// "stage_forward", "stage_backward", "pass_time".
void ExplainStage(const StageTime& stage, Trace& trace);
// Under the paths of the report.
StepFlops CountFlops(const Model& model, const TrainingRun& run, const RecomputeChoice& recompute, Trace& trace);

// `bytes_are`: the figure of its message. Its time is `symbol`.
Seconds TimeCollective(const TrainingContext& context, const CollectiveCall& call, std::string_view bytes_are,
                       RankGroup group, std::string_view name, std::string_view symbol, Trace& trace);
inline Seconds TimeCollective(const TrainingContext& context, CollectiveType type, Bytes bytes,
                              std::string_view bytes_are, RankGroup group, std::string_view name,
                              std::string_view symbol, Trace& trace) {
  return TimeCollective(context, {.type = type, .bytes = bytes}, bytes_are, group, name, symbol, trace);
}

}  // namespace slipstick
