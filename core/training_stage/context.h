// Constants of one evaluation: shape, rates, and the placement of every group of ranks on the network.
#pragma once

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

// Link between neighbors of a pipeline or of a ring of context ranks.
struct Link {
  BytesPerSecond rate;
  Seconds latency;
};

// The cluster, the same for every mapping.
struct StepCluster {
  Cluster
      cluster;  // device efficiencies filled in; levels between nodes at the bandwidth that a step's collectives reach
  Cluster stated;     // as the request has it, or at the framework's utilizations
  Cluster requested;  // as the request has it
};
std::shared_ptr<const StepCluster> PrepareCluster(const Cluster& cluster, const Framework& framework);

// What a step's collectives reach of a network between nodes.
BytesPerSecond CollectiveBandwidth(BytesPerSecond stated, const Framework& framework);

// Distances in devices between neighboring ranks of a group.
struct Strides {
  Ratio tensor = 1, context = 1, data = 1, pipeline = 1;
  friend bool operator==(const Strides&, const Strides&) = default;
};
// `order` lists the groups from the innermost ("tp-cp-ep-dp-pp"). Expert parallelism regroups the ranks of dp, cp and
// tp, so it has no stride of its own.
Strides StridesOf(std::string_view order, const TrainingShape& shape);
// Ranks of the innermost group of more than one rank; ranks that share experts are such a group among the data-parallel
// ones.
Ratio InnermostRanks(std::string_view order, const TrainingShape& shape);

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
  CollectiveLog* log = nullptr;                   // null: not wanted
  Tape* tape = nullptr;                           // null: numbers have no nodes
  Precision matrix_precision = Precision::kBf16;  // of embedding, head and attention: 16 bits or more
  Ratio sustained_clock_derating = 0;             // relative slow-down of long kernels at the power limit
  BytesPerSecond stream_rate{};  // that streaming kernels reach: of the memory, or of a slower cache on the way
  Bound stream_bound = Bound::kMemory;
  BytesPerSecond elementwise_rate{};  // of elementwise passes, each operand counted once; above stream_rate where the
                                      // framework fuses passes
  GroupPlacement tensor{}, context_group{}, data{}, experts{}, expert_data{}, expert_tensor{};
  GroupPlacement shard{},
      replica{};        // of the data group: ranks that share a ZeRO state, ranks that hold the same part of it
  Ratio innermost = 1;  // InnermostRanks: the slice of a torus suits them
  Link pipeline_link{}, context_link{};
  Ratio node_devices = 1;  // devices of the innermost network level
  [[nodiscard]] const Framework& framework() const { return run.framework; }
  [[nodiscard]] const Device& device() const { return cluster.device; }
};
TrainingContext MakeContext(const Model& model, const Cluster& cluster, const TrainingRun& run);
TrainingContext MakeContext(const Model& model, std::shared_ptr<const StepCluster> prepared, const TrainingRun& run);

inline Count DevicesOf(const TrainingContext& context) { return context.run.devices.value_or(context.cluster.devices); }
// Several devices train together, and nothing joins them.
inline bool LacksLinks(const TrainingContext& context) { return DevicesOf(context) > 1 && !context.cluster.has_links; }

// Placement of the group that the spans generate.
GroupPlacement PlaceSpans(const Cluster& cluster, const Span* spans, int count);

// Compute time lost to concurrent communication, over the link time: the framework's contention where links inside the
// node run at full rate, in proportion less where slower links carry fewer bytes/s through the device's memory and SMs.
Ratio ContentionBeside(const TrainingContext& context, Bytes moved, Seconds link);

// The network that a collective finds: tokens to their experts (`routed`) that which the cluster states, others that
// which a step's collectives reach.
inline const Cluster& NetworkFor(const TrainingContext& context, const CollectiveCall& call) {
  return call.routed ? context.prepared->stated : context.cluster;
}

// Whether the schedule runs weight gradients as a pass of their own.
bool SplitsBackward(const TrainingContext& context);

// Whether TP ranks lengthen a layer's launches: in a pipeline, under a framework where they do.
inline bool HasPipelinedLaunches(const TrainingContext& context) {
  return context.framework().compute.pipelined_launch && context.shape.tensor > 1 && context.shape.pipeline > 1;
}

// Where the numbers of a training step get their nodes, for explanations.

// A context whose numbers have nodes. It refers to copies that the tape keeps.
TrainingContext ContextWithNodes(const Model& model, const Cluster& cluster, const TrainingRun& run, Tape& tape);

}  // namespace slipstick
