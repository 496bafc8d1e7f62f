// Where callers and kernels that name their terms meet the numbers of this folder that remember: a deployment whose
// numbers have nodes stands beside the one that callers hold. It goes when no one names its terms any more.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/trace.h"
#include "core/collectives/fabric.h"
#include "core/engine_step/deployment.h"
#include "core/engine_step/exchange.h"
#include "core/engine_step/expert_time.h"
#include "core/engine_step/layer_parts.h"
#include "core/engine_step/prompt_tokens.h"
#include "core/engine_step/step.h"

namespace slipstick {

// What the node of a value stands for is what the name stands for from here on.
template <class Q>
void NameNode(std::string_view symbol, Q value, Trace& trace) {
  if (trace.on()) trace.Alias(symbol, value, "this_" + std::string(symbol));
}

// A deployment, and what its numbers with nodes rest on.
struct BoundDeployment {
  BoundDeployment(const Deployment& plain, const ServingLoad& load, Trace& trace);
  BoundDeployment(const BoundDeployment&) = delete;
  BoundDeployment& operator=(const BoundDeployment&) = delete;
  Model model;
  std::vector<FabricConstants> fabrics;  // of the cluster's networks
  Cluster cluster;
  ServingLoad load;
  Deployment deployment;
};

// For callers. Names: the degrees (BindDegrees). Its numbers get their names in the current scope.
Deployment Deploy(const Model& model, const Cluster& cluster, const ServingLoad& load, Trace& trace);
// Names: sequences, tokens, cached. The figures pass_time, occupancy and fixed_time.
PassCost TimeOf(const PrefillPass& pass, const Deployment& deployment, Trace& trace);
// Names: sequences, context, checked, grown. The figure step_time.
PassCost TimeOf(const DecodePass& pass, const Deployment& deployment, Trace& trace);
// Names: those of both, and prompts. The figure mixed_step.
Seconds TimeOf(const MixedPass& pass, const Deployment& deployment, Trace& trace);
// Names: prompt, prefix_hit. The figures tokens and cached.
PromptTokens ComputedTokens(const ServingLoad& load, Trace& trace);
// Binds stage_link, a device's bandwidth on a way to another stage or pool.
void BindRoute(const Route& route, const Deployment& deployment, Trace& trace);
// `time`, the figure `symbol`, and the latency of the wires beyond the first.
Seconds OverFurtherWires(Seconds time, std::string_view symbol, const Route& route, const Deployment& deployment,
                         Trace& trace);

// Binds the size of an element to the input that sets its format, or, where it is `kept` in 16 bit, to that rule.
void BindSize(std::string_view symbol, Bytes size, bool kept, std::string_view path, Trace& trace);
// For weights, which may be `kept` in a format of the engine.
void BindWeightSize(std::string_view symbol, Precision weights, bool kept, const Deployment& deployment, Trace& trace);
// In the current scope the device is the one at a path.
inline void BindDevice(std::string_view path, Trace& trace) { trace.Input("cluster.device", 0, path); }
// Binds the degrees to their inputs at a path: two pools may have the same.
void BindDegrees(const ServingMapping& mapping, const std::string& path, Trace& trace);
// Binds a symbol to its input: the bandwidth of the innermost level that joins as many devices.
void BindLevelLink(std::string_view symbol, BytesPerSecond link, double devices, const Deployment& deployment,
                   Trace& trace);

// For the deployment. Name: tp.
LayerCounts CountedLayers(const Model& model, Trace& trace);
LayerWidths RankWidths(const Model& model, const ServingDegrees& mapping, Trace& trace);
// With the widths of layers that share a KV cache.
Deployment WithSharedKvWidths(const Deployment& deployment);

// For kernels. Name: rows. The figures held_tokens, dispatch and combine.
ExpertTraffic GatherTokens(const Deployment& deployment, double rows, Trace& trace);
ExpertTraffic SendTokens(const Deployment& deployment, double rows, Phase phase, Trace& trace);

// What core/workload and kernels compute, with nodes.
Ratio NormsBeforeAdditions(const Deployment& deployment);
Ratio IndexShare(const Deployment& deployment);
LayersByKv SplitBySharedKv(const Deployment& deployment);
Ratio OwnDenseLayers(const Deployment& deployment);
Ratio ImbalanceOf(const Deployment& deployment);
KernelTime TimeProduct(const Deployment& deployment, const MatrixProduct& product, Ratio rows);
KernelTime TimeOfAdapters(const Deployment& deployment, const MatrixProducts& products, Ratio rows);
RoutedExperts Routed(const Deployment& deployment, Ratio rows, Phase phase);
Seconds TimeHostExperts(const Deployment& deployment, Ratio rows, const KernelTime& on_device, std::string_view name,
                        const Adder& add);
KernelTime PrefillAttention(const Deployment& deployment, const PrefillPass& pass, Ratio window);
KernelTime MeanDecodeAttention(const Deployment& deployment, const DecodePass& pass, Ratio window);
KernelTime PrefillRecurrence(const Deployment& deployment, const PrefillPass& pass);
KernelTime DecodeRecurrence(const Deployment& deployment, const DecodePass& pass);
Seconds WithImages(const Deployment& deployment, Ratio prompts, Ratio tokens, Seconds head,
                   OperatorBreakdown& operators);
PassCost CompiledGraphPrefill(const PrefillPass& pass, const Deployment& deployment);
PassCost CompiledGraphDecode(const DecodePass& pass, const Deployment& deployment);
PassCost LayerPipelinedPrefill(const PrefillPass& pass, const Deployment& deployment);
PassCost LayerPipelinedDecode(const DecodePass& pass, const Deployment& deployment);

}  // namespace slipstick
