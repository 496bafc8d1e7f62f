// Constants of one evaluation: shape, rates, and the placement of every group of ranks on the network.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/bind_inputs.h"
#include "core/collectives/collective.h"
#include "core/hardware/cluster.h"
#include "core/operators/kernel.h"
#include "core/training_stage/shape.h"
#include "core/workload/model.h"

namespace slipstick {

// Link between neighboring ranks of a pipeline, or of a ring of context-parallel ranks.
struct Link {
  BytesPerSecond rate;
  Seconds latency;
};

// The cluster data that are the same for every mapping.
struct StepCluster {
  Cluster
      cluster;  // device efficiencies filled in; levels between nodes at the bandwidth that a step's collectives reach
  Cluster stated;     // as in the request, or at the framework's utilizations
  Cluster requested;  // as in the request
};
std::shared_ptr<const StepCluster> PrepareCluster(const Cluster& cluster, const Framework& framework);

// Distances in devices between neighboring ranks of a group.
struct Strides {
  Ratio tensor = 1, context = 1, data = 1, pipeline = 1;
  friend bool operator==(const Strides&, const Strides&) = default;
};
// `order` lists the groups from the innermost ("tp-cp-ep-dp-pp"). Expert parallelism regroups the ranks of dp, cp and
// tp, so it has no stride of its own.
Strides StridesOf(std::string_view order, const TrainingShape& shape);

class CollectiveMemo;  // collective_memo.h

// One degree of a group: `size` ranks, `stride` devices apart.
struct Span {
  Ratio stride, size;
};

struct TrainingContext {
  const Model& model;
  const TrainingRun& run;
  std::shared_ptr<const StepCluster> prepared;
  const Cluster& cluster;  // of `prepared`
  TrainingShape shape;
  Strides strides{};
  CollectiveMemo* collectives = nullptr;          // null: not cached
  CollectiveLog* log = nullptr;                   // null: collectives are not collected
  Tape* tape = nullptr;                           // null: numbers have no nodes
  Precision matrix_precision = Precision::kBf16;  // of embedding, head and attention: at least 16 bits
  Ratio sustained_clock_derating = 0;             // relative slowdown of long kernels at the power limit
  BytesPerSecond stream_rate{};  // reached by streaming kernels: from memory, or from a slower cache on the way
  Bound stream_bound = Bound::kMemory;
  BytesPerSecond elementwise_rate{};  // of elementwise passes, each operand counted once; above stream_rate where the
                                      // framework fuses passes
  GroupPlacement tensor{}, context_group{}, data{}, experts{}, expert_data{}, expert_tensor{};
  // Parts of the data groups: ranks that share a ZeRO state; ranks that hold the same part of it.
  GroupPlacement shard{}, replica{}, expert_shard{}, expert_replica{};
  Ratio innermost = 1;  // ranks of the innermost group with several, to which the torus slice is suited
  Link pipeline_link{}, context_link{};
  Ratio node_devices = 1;  // devices of the innermost network level
  [[nodiscard]] const Framework& framework() const { return run.framework; }
  [[nodiscard]] const Device& device() const { return cluster.device; }
};
TrainingContext MakeContext(const Model& model, const Cluster& cluster, const TrainingRun& run);
TrainingContext MakeContext(const Model& model, std::shared_ptr<const StepCluster> prepared, const TrainingRun& run);

inline Count DevicesOf(const TrainingContext& context) { return context.run.devices.value_or(context.cluster.devices); }
// Whether several devices train together without links between them.
inline bool LacksLinks(const TrainingContext& context) { return DevicesOf(context) > 1 && !context.cluster.has_links; }

// Places the group that the spans generate.
GroupPlacement PlaceSpans(const Cluster& cluster, std::initializer_list<Span> spans);

// Compute time lost to concurrent communication, over the link time: the framework's contention if links in the node
// run at full rate; proportionally less if slower links move fewer bytes/s through the device's memory and SMs.
Ratio ContentionBeside(const TrainingContext& context, Bytes moved, Seconds link);

// The network for a collective: for tokens sent to their experts (`routed`) with the stated bandwidths, for others with
// the bandwidths that a step's collectives reach.
inline const Cluster& NetworkFor(const TrainingContext& context, const CollectiveCall& call) {
  return call.routed ? context.prepared->stated : context.cluster;
}

// Share of the gradients in host memory, with the node of the input that determines it.
Ratio OffloadedGradients(const TrainingContext& context);

// Whether the schedule runs weight gradients in a separate pass.
bool SplitsBackward(const TrainingContext& context);

// Whether TP ranks lengthen a layer's launches: in a pipeline, if the framework has this overhead.
inline bool HasPipelinedLaunches(const TrainingContext& context) {
  return context.framework().compute.pipelined_launch && context.shape.tensor > 1 && context.shape.pipeline > 1;
}

// A context whose numbers have nodes, for explanations. It refers to copies that the tape keeps.
TrainingContext ContextWithNodes(const Model& model, const Cluster& cluster, const TrainingRun& run, Tape& tape);

}  // namespace slipstick
