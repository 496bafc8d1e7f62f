#include "core/training_stage/context.h"

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/base/figure.h"
#include "core/collectives/bound_fabric.h"
#include "core/collectives/fabric.h"
#include "core/collectives/group_view.h"
#include "core/operators/bound_device.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/roofline.h"
#include "core/training_stage/schedule_types.h"

namespace slipstick {
namespace {

// Link to the rank `stride` devices further, over the innermost level that joins the whole group. At line rate it has
// the full bandwidth and the level's own latency.
Link LinkOver(const StepCluster& prepared, bool at_line_rate, const Span& span, Ratio innermost) {
  const auto& [stride, size] = span;
  const std::vector<NetworkLevel>& levels = prepared.cluster.networks;
  Ratio joined = 1;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    joined *= levels[i].size;
    if (stride * size > joined && i + 1 < levels.size()) continue;
    const InStepConstants& in_step = levels[i].fabric->in_step;
    const NetworkLevel& level = prepared.stated.networks[i];
    const Ratio spacing = max(1.0, stride * Ratio(level.size) / joined);
    const BytesPerSecond link =
        NeighborOf(prepared.stated, i, spacing, size * spacing, innermost).share * level.bandwidth;
    if (at_line_rate) return {link, level.latency};
    return {Figure("Rate of a send to the next rank", in_step.hop_efficiency * link, "", kInStepSource),
            in_step.hop_latency};
  }
  return {1 * kGBps, Fabric()->in_step.hop_latency};
}

// Calls visit(name) for each group of an order, from the innermost.
template <class Visit>
void VisitOrder(std::string_view order, const Visit& visit) {
  for (std::size_t start = 0; start < order.size();) {
    const std::size_t end = std::min(order.find('-', start), order.size());
    visit(order.substr(start, end - start));
    start = end + 1;
  }
}

// Number of ranks in the innermost group that has more than one rank. Ranks that share experts form such a group among
// the data-parallel ranks.
Ratio InnermostRanks(std::string_view order, const TrainingShape& shape) {
  const Ratio sharing = shape.expert * shape.expert_tensor;
  Ratio innermost = 1;
  VisitOrder(order, [&](std::string_view name) {
    const Ratio ranks = name == "tp"   ? shape.tensor
                        : name == "cp" ? shape.context
                        : name == "dp" ? shape.data
                        : name == "pp" ? shape.pipeline
                                       : Ratio(1);
    if (innermost <= 1 && ranks > 1) innermost = name == "dp" && sharing > 1 ? sharing : ranks;
  });
  return innermost;
}

}  // namespace

Strides StridesOf(std::string_view order, const TrainingShape& shape) {
  Strides strides;
  Ratio stride = 1;
  VisitOrder(order, [&](std::string_view name) {
    if (name == "tp") strides.tensor = stride, stride *= shape.tensor;
    if (name == "cp") strides.context = stride, stride *= shape.context;
    if (name == "dp") strides.data = stride, stride *= shape.data;
    if (name == "pp") strides.pipeline = stride, stride *= shape.pipeline;
  });
  return strides;
}

std::shared_ptr<const StepCluster> PrepareCluster(const Cluster& cluster, const Framework& framework) {
  const Cluster used = framework.utilization ? AtUtilizations(cluster, *framework.utilization) : cluster;
  auto prepared = std::make_shared<StepCluster>(StepCluster{used, used, cluster});
  CompleteEfficiency(prepared->cluster.device);
  for (std::size_t i = 1; i < cluster.networks.size(); ++i) {
    BytesPerSecond& bandwidth = prepared->cluster.networks[i].bandwidth;
    bandwidth = Figure("Bandwidth that a step's collectives reach between nodes",
                       framework.exchange.network_share * bandwidth, "of one device");
  }
  return prepared;
}

GroupPlacement PlaceSpans(const Cluster& cluster, std::initializer_list<Span> spans) {
  GroupPlacement placement;
  Ratio joined = 1, placed = 1, ranks = 1;
  for (const Span& span : spans) ranks *= span.size;
  for (std::size_t level = 0; level < cluster.networks.size(); ++level) {
    const Ratio below = joined;  // devices in one unit of this level
    joined *= cluster.networks[level].size;
    Ratio members = 1, nearest = 0;
    for (const auto& [stride, size] : spans) {
      members *= max(1.0, min(size, joined / stride));
      if (size * stride > below && (nearest == 0 || stride < nearest)) nearest = stride;
    }
    if (level + 1 == cluster.networks.size()) members = ranks;
    placement.extent.push_back(Figure(level == 0 ? "Ranks of the group in a node" : "Parts of the group",
                                      members / placed, level == 0 ? "" : "which a network between nodes joins"));
    placement.spacing.push_back(max(1.0, nearest / below));
    placed = members;
  }
  return placement;
}

TrainingContext MakeContext(const Model& model, const Cluster& cluster, const TrainingRun& run) {
  return MakeContext(model, PrepareCluster(cluster, run.framework), run);
}

TrainingContext MakeContext(const Model& model, std::shared_ptr<const StepCluster> prepared, const TrainingRun& run) {
  const Cluster& own = prepared->cluster;
  TrainingContext context{model, run, std::move(prepared), own, ShapeOf(run)};
  const Framework& framework = run.framework;
  const TrainingShape& shape = context.shape;
  const bool narrow = BytesPerElement(run.precision) < 2;
  context.matrix_precision = narrow ? Precision::kBf16 : run.precision;
  context.sustained_clock_derating = SustainedClockDerating(own.device, context.matrix_precision);
  const Stream stream = SlowestStream(own.device);
  const BytesPerSecond memory_rate = *own.device.efficiency.bandwidth_efficiency * own.device.memory.bandwidth;
  context.stream_rate = Figure("Achievable memory bandwidth", min(memory_rate, stream.bandwidth),
                               "of long streaming kernels; a slower cache on the way limits it");
  if (stream.bandwidth < memory_rate) context.stream_bound = stream.bound;
  context.elementwise_rate = Figure("Rate of elementwise passes", framework.compute.element_wise * context.stream_rate,
                                    "operands counted once per pass; the framework's factor says how much it fuses");
  if (!own.networks.empty()) context.node_devices = own.networks.front().size;

  const Strides strides = context.strides = StridesOf(run.mapping.order, shape);
  const bool at_line_rate = framework.utilization.has_value();
  const Ratio innermost = context.innermost = InnermostRanks(run.mapping.order, shape);
  context.pipeline_link = LinkOver(*context.prepared, at_line_rate, {strides.pipeline, shape.pipeline}, innermost);
  context.context_link = LinkOver(*context.prepared, at_line_rate, {strides.context, shape.context}, innermost);
  const auto place = [&](std::initializer_list<Span> spans) {
    GroupPlacement placement = PlaceSpans(own, spans);
    placement.innermost = innermost;
    return placement;
  };
  context.tensor = place({{strides.tensor, shape.tensor}});
  context.context_group = place({{strides.context, shape.context}});
  context.data = place({{strides.context, shape.context}, {strides.data, shape.data}});
  const Ratio shards = ShardRanks(1, run, shape, shape.DataRanks());
  if (shards == shape.DataRanks()) {
    context.shard = context.data;
    context.replica = place({});
  } else {
    const Ratio inner = min(shape.context, shards), within = shards / inner;
    context.shard = place({{strides.context, inner}, {strides.data, within}});
    context.replica = place({{strides.data * within, shape.data / within}});
  }
  context.experts = place({{1, shape.expert * shape.expert_tensor}});
  const Ratio expert_stride = shape.expert * shape.expert_tensor, expert_ranks = shape.ExpertDataRanks(),
              expert_shards = ShardRanks(1, run, shape, expert_ranks);
  context.expert_data = place({{expert_stride, expert_ranks}});
  context.expert_shard = place({{expert_stride, expert_shards}});
  context.expert_replica = place({{expert_stride * expert_shards, expert_ranks / expert_shards}});
  context.expert_tensor = place({{1, shape.expert_tensor}});
  return context;
}

bool SplitsBackward(const TrainingContext& context) {
  return context.shape.pipeline > 1 && SplitsBackward(context.run.mapping.schedule);
}

Ratio OffloadedGradients(const TrainingContext& context) {
  const Offload& offload = context.run.offload;
  const auto at = [&](std::string_view path, Ratio share) { return InputAt(path, share, context.tape); };
  if (offload.gradients) return at("training.offload.gradients", *offload.gradients);
  return context.framework().offload.gradients ? at("training.offload.optimizer", offload.optimizer)
                                               : at("training.framework.offload.gradients", Ratio(0));
}

Ratio ContentionBeside(const TrainingContext& context, Bytes moved, Seconds link) {
  const FrameworkExchange& framework = context.framework().exchange;
  const Ratio contention = framework.contention;
  if (context.cluster.networks.empty() || !(link > Seconds{})) return contention;
  return Figure(
      "Compute lost to communication beside it",
      contention * min(1.0, moved / link / (framework.contention_share * context.cluster.networks.front().bandwidth)),
      "over the link time; less where slower links move fewer bytes per second");
}

namespace {

// `framework` has nodes. Inputs that the roofline scales are bound before scaling, members that rules fill afterwards.
std::shared_ptr<const StepCluster> ClusterWithNodes(const Cluster& cluster, const Framework& framework, Tape& tape) {
  Cluster asked = cluster;
  BindNetworks(asked.networks, tape);
  BindInputs(asked.devices, "cluster.devices", &tape);
  if (framework.utilization) {
    CompleteEfficiency(asked.device);
    asked.device = WithNodes(asked.device, tape);
  }
  auto step = std::make_shared<StepCluster>(*PrepareCluster(asked, framework));
  for (Cluster* part : {&step->cluster, &step->stated, &step->requested}) part->device = WithNodes(part->device, tape);
  return step;
}

}  // namespace

TrainingContext ContextWithNodes(const Model& model, const Cluster& cluster, const TrainingRun& run, Tape& tape) {
  struct Asked {
    Model model;
    TrainingRun run;
  };
  using Kept = std::deque<Asked>;
  Asked& asked = tape.Kept<Kept>("training", [] { return std::make_shared<Kept>(); }).emplace_back(Asked{model, run});
  BindInputs(asked.model, "model", &tape);
  BindInputs(asked.run, "training", &tape);
  TrainingContext context = MakeContext(asked.model, ClusterWithNodes(cluster, asked.run.framework, tape), asked.run);
  context.tape = &tape;
  return context;
}

}  // namespace slipstick
