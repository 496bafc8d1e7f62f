// What stays the same while one run is evaluated: shape, rates, and where each group of ranks lies on the network.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/collectives/collective.h"
#include "core/hardware/cluster.h"
#include "core/training/shape.h"
#include "core/workload/model.h"

namespace slipstick {

// A hop between neighbours of a pipeline or a ring of context ranks.
struct Hop {
  BytesPerSecond rate;
  Seconds latency;
};

// A cluster as every mapping's step sees it.
struct StepCluster {
  Cluster cluster;                     // its device complete; outer levels at the share that a training step's collectives reach
  std::vector<BytesPerSecond> stated;  // bandwidth of each level without that share
};
std::shared_ptr<const StepCluster> PrepareCluster(const Cluster& cluster, const Framework& framework);

// How far apart in devices the neighbours of a group lie.
struct Strides {
  double tensor = 1, context = 1, data = 1, pipeline = 1;
  friend bool operator==(const Strides&, const Strides&) = default;
};
// By the order of ranks ("tp-cp-ep-dp-pp"), innermost first. Expert parallelism divides the ranks of dp, cp and tp anew, so
// it takes no place of its own.
Strides StridesOf(std::string_view order, const TrainingShape& shape);

// Collectives already timed: the same few recur in thousands of mappings.
class CollectiveMemo;

struct TrainingContext {
  const Model& model;
  const TrainingRun& run;
  std::shared_ptr<const StepCluster> prepared;
  const Cluster& cluster;  // of `prepared`
  TrainingShape shape;
  Strides strides{};
  CollectiveMemo* collectives = nullptr;
  Precision matrix_precision = Precision::kBf16;  // of the head, embedding and attention
  double sustained_clock_derating = 0;            // d_s
  BytesPerSecond stream_rate{};                   // that a streaming kernel reaches
  BytesPerSecond element_rate{};                  // of element-wise work in this framework
  GroupPlacement tensor{}, context_group{}, data{}, expert_data{}, expert_tensor{};
  GroupPlacement shard{}, replica{};  // of the data group: ranks that split the state, ranks that hold the same part
  Hop pipeline_hop{}, context_hop{};
  double node_devices = 1;       // joined by the innermost level
  BytesPerSecond expert_rate{};  // of the dispatch between nodes
  BytesPerSecond nic{};          // of a device, as the cluster states it
  [[nodiscard]] const Framework& framework() const { return run.framework; }
  [[nodiscard]] const Device& device() const { return cluster.device; }
};
TrainingContext MakeContext(const Model& model, const Cluster& cluster, const TrainingRun& run);
TrainingContext MakeContext(const Model& model, std::shared_ptr<const StepCluster> prepared, const TrainingRun& run);

// Placement of the ranks that differ only in some degrees: `members` {stride, size}, stride in devices.
struct Span {
  double stride, size;
};
GroupPlacement PlaceSpans(const Cluster& cluster, const Span* spans, int count);

// Compute lost beside communication, over the communication's time: the framework's contention where links run full, less
// where the network between nodes holds them back (fewer bytes a second pass the device's memory and units).
double ContentionBeside(const TrainingContext& context, Bytes moved, Seconds link);

// Time of a collective of the step; 0 for a group of one or an empty message.
Seconds Collective(const TrainingContext& context, CollectiveType type, Bytes bytes, const GroupPlacement& group);
// The same, explained below `name`.
Seconds Collective(const TrainingContext& context, CollectiveType type, Bytes bytes, const GroupPlacement& group, std::string_view name,
                   Trace& trace);

// Records how tokens, micro-batches and rates of the whole step follow from the inputs.
void ExplainShape(const TrainingContext& context, Trace& trace);

}  // namespace slipstick
