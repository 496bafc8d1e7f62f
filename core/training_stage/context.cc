#include "core/training_stage/context.h"

#include <array>
#include <string_view>

#include "core/collectives/fabric.h"
#include "core/collectives/group_view.h"
#include "core/collectives/named_terms.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/operators/named_terms.h"
#include "core/operators/roofline.h"
#include "core/training_stage/collective_memo.h"
#include "core/training_stage/schedule_types.h"

namespace slipstick {
namespace {

// At line rate: no share of the bandwidth lost, the level's own latency.
// Link to the rank `stride` devices further, over the innermost level that joins the whole group.
Link LinkOver(const StepCluster& prepared, bool at_line_rate, const Span& span, double innermost) {
  const auto& [stride, size] = span;
  const std::vector<NetworkLevel>& levels = prepared.cluster.networks;
  double joined = 1;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    joined *= static_cast<double>(levels[i].size);
    if (stride * size > joined && i + 1 < levels.size()) continue;
    const FabricConstants& fabric = *levels[i].fabric;
    const NetworkLevel& level = prepared.stated.networks[i];
    const double spacing = max(1.0, stride * static_cast<double>(level.size) / joined);
    const BytesPerSecond link = NeighborOf(prepared.stated, i, spacing, innermost).share * level.bandwidth;
    if (at_line_rate) return {link, level.latency};
    return i == 0 ? Link{fabric.in_step.hop_efficiency * link, fabric.in_step.hop_latency}
                  : Link{fabric.in_step.nic_hop_efficiency * link, fabric.in_step.nic_hop_latency};
  }
  return {1 * kGBps, Fabric()->in_step.nic_hop_latency};
}

}  // namespace

double InnermostRanks(std::string_view order, const TrainingShape& shape) {
  const double sharing = shape.expert * shape.expert_tensor;
  while (!order.empty()) {
    const std::size_t dash = order.find('-');
    const std::string_view name = order.substr(0, dash);
    order.remove_prefix(dash == std::string_view::npos ? order.size() : dash + 1);
    if (name == "tp" && shape.tensor > 1) return shape.tensor;
    if (name == "cp" && shape.context > 1) return shape.context;
    if (name == "dp" && shape.data > 1) return sharing > 1 ? sharing : shape.data;
    if (name == "pp" && shape.pipeline > 1) return shape.pipeline;
  }
  return 1;
}

Strides StridesOf(std::string_view order, const TrainingShape& shape) {
  Strides strides;
  double stride = 1;
  while (!order.empty()) {
    const std::size_t dash = order.find('-');
    const std::string_view name = order.substr(0, dash);
    order.remove_prefix(dash == std::string_view::npos ? order.size() : dash + 1);
    if (name == "tp") strides.tensor = stride, stride *= shape.tensor;
    if (name == "cp") strides.context = stride, stride *= shape.context;
    if (name == "dp") strides.data = stride, stride *= shape.data;
    if (name == "pp") strides.pipeline = stride, stride *= shape.pipeline;
  }
  return strides;
}

std::shared_ptr<const StepCluster> PrepareCluster(const Cluster& cluster, const Framework& framework) {
  const Cluster used = framework.utilization ? AtUtilizations(cluster, *framework.utilization) : cluster;
  auto prepared = std::make_shared<StepCluster>(StepCluster{used, used, cluster});
  CompleteEfficiency(prepared->cluster.device);
  for (std::size_t i = 1; i < cluster.networks.size(); ++i)
    prepared->cluster.networks[i].bandwidth *= framework.exchange.network_share;
  return prepared;
}

GroupPlacement PlaceSpans(const Cluster& cluster, const Span* spans, int count) {
  GroupPlacement placement;
  double joined = 1, placed = 1, ranks = 1;
  for (int i = 0; i < count; ++i) ranks *= spans[i].size;
  for (std::size_t level = 0; level < cluster.networks.size(); ++level) {
    const double below = joined;  // devices in a part of this level
    joined *= static_cast<double>(cluster.networks[level].size);
    double members = 1, nearest = 0;
    for (int i = 0; i < count; ++i) {
      members *= max(1.0, min(spans[i].size, joined / spans[i].stride));
      const bool reaches_out = spans[i].size * spans[i].stride > below;
      if (reaches_out && (nearest == 0 || spans[i].stride < nearest)) nearest = spans[i].stride;
    }
    if (level + 1 == cluster.networks.size()) members = ranks;
    placement.extent.push_back(members / placed);
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
  context.sustained_clock_derating = SustainedClockDerating(own.device);
  Trace off = Trace::Off();
  const Stream stream = SlowestStream(own.device, off);
  const BytesPerSecond memory_rate = *own.device.efficiency.bandwidth_efficiency * own.device.memory.bandwidth;
  context.stream_rate = min(memory_rate, stream.bandwidth);
  if (stream.bandwidth < memory_rate) context.stream_bound = stream.bound;
  context.elementwise_rate = framework.compute.element_wise * context.stream_rate;
  context.node_devices = own.networks.empty() ? 1 : static_cast<double>(own.networks.front().size);

  const Strides strides = context.strides = StridesOf(run.mapping.order, shape);
  const bool at_line_rate = framework.utilization.has_value();
  const double innermost = context.innermost = InnermostRanks(run.mapping.order, shape);
  context.pipeline_link = LinkOver(*context.prepared, at_line_rate, {strides.pipeline, shape.pipeline}, innermost);
  context.context_link = LinkOver(*context.prepared, at_line_rate, {strides.context, shape.context}, innermost);
  const auto place = [&](std::initializer_list<Span> spans) {
    GroupPlacement placement = PlaceSpans(own, spans.begin(), static_cast<int>(spans.size()));
    placement.innermost = innermost;
    return placement;
  };
  context.tensor = place({{strides.tensor, shape.tensor}});
  context.context_group = place({{strides.context, shape.context}});
  context.data = place({{strides.context, shape.context}, {strides.data, shape.data}});
  const double shards = ShardRanks(run, shape.DataRanks());
  if (shards == shape.DataRanks()) {
    context.shard = context.data;
    context.replica = place({});
  } else {
    const double inner = min(shape.context, shards), within = shards / inner;
    context.shard = place({{strides.context, inner}, {strides.data, within}});
    context.replica = place({{strides.data * within, shape.data / within}});
  }
  context.experts = place({{1, shape.expert * shape.expert_tensor}});
  context.expert_data = place({{shape.expert * shape.expert_tensor, shape.ExpertDataRanks()}});
  context.expert_tensor = place({{1, shape.expert_tensor}});
  return context;
}

bool SplitsBackward(const TrainingContext& context) {
  return context.shape.pipeline > 1 && SplitsBackward(context.run.mapping.schedule);
}

double ContentionBeside(const TrainingContext& context, Bytes moved, Seconds link) {
  const FrameworkExchange& framework = context.framework().exchange;
  const double contention = framework.contention;
  if (context.cluster.networks.empty() || !(link > Seconds{})) return contention;
  return contention *
         min(1.0, moved / link / (framework.contention_share * context.cluster.networks.front().bandwidth));
}

Seconds Collective(const TrainingContext& context, const CollectiveCall& call, const GroupPlacement& group) {
  if (group.Ranks() <= 1 || !(call.bytes > Bytes{})) return {};
  const auto time = [&] { return TimeOf(call, group, NetworkFor(context, call)).time; };
  return context.collectives != nullptr ? context.collectives->Get(call, group, time) : time();
}

Seconds Collective(const TrainingContext& context, const CollectiveCall& call, const GroupPlacement& group,
                   std::string_view name, Trace& trace) {
  if (!trace.on() || group.Ranks() <= 1 || !(call.bytes > Bytes{})) return Collective(context, call, group);
  Trace::Scope scope(trace, name);
  return TimeOf(call, group, NetworkFor(context, call), trace).time;
}

namespace {

BytesPerSecond ExplainStreamRate(const TrainingContext& context, double bandwidth_efficiency, Trace& trace) {
  constexpr Note kNote{"Achievable memory bandwidth", "of long streaming kernels; a slower cache on the way limits it"};
  const BytesPerSecond bandwidth = SlowestStream(context.device(), trace).bandwidth,
                       memory_bandwidth = context.device().memory.bandwidth;
  if (bandwidth < memory_bandwidth) {
    FIGURE(trace, stream_rate, min(bandwidth_efficiency * memory_bandwidth, bandwidth), kNote, bandwidth_efficiency,
           memory_bandwidth, bandwidth);
    return stream_rate;
  }
  FIGURE(trace, stream_rate, bandwidth_efficiency * bandwidth, kNote, bandwidth_efficiency, bandwidth);
  return stream_rate;
}

void ExplainDocuments(const TrainingContext& context, Trace& trace) {
  const TrainingRun& run = context.run;
  const double sequence = context.shape.sequence;
  trace.Alias("counted", context.shape.counted, IsPadded(run) ? "length" : "sequence");
  if (!run.documents || IsPadded(run)) return trace.Alias("attended", sequence, "sequence");
  const double length = static_cast<double>(run.documents->length), variation = run.documents->variation;
  trace.Input("length", length, "training.documents.length");
  trace.Input("variation", variation, "training.documents.variation");
  FIGURE(trace, attended, min(sequence, length * (1 + variation * variation)),
         (Note{"Length of the document that a token is in, in the mean",
               "long documents hold more of the tokens; none passes a sequence"}),
         sequence, length, variation);
}

}  // namespace

void ExplainShape(const TrainingContext& context, Trace& trace) {
  if (!trace.on()) return;
  Trace::Scope scope(trace, "shape");
  const TrainingShape& shape = context.shape;
  const double micro_batch = shape.micro_batch, sequence = shape.sequence, cp = shape.context, dp = shape.data;
  const double global_batch = static_cast<double>(context.run.global_batch), split = shape.sequence_split;
  trace.Input("tensor", shape.tensor, "training.mapping.tp");
  trace.Input("ranks", shape.tensor, "training.mapping.tp");
  trace.Input("chunks", shape.chunks, "training.mapping.virtual_stages");
  trace.Input("query_heads", static_cast<double>(context.model.heads), "model.heads");
  trace.Input("vocabulary", static_cast<double>(context.model.vocab), "model.vocab");
  trace.Input("split", split,
              context.run.mapping.sequence_parallel ? "training.mapping.tp" : "training.mapping.sequence_parallel");
  trace.Input("visible", UsableMemory(context.device()), "cluster.device.memory.usable");
  trace.Input("element_share", context.framework().compute.element_wise, "training.framework.compute.element_wise");
  ExplainDocuments(context, trace);
  FIGURE(trace, micro_batches, global_batch / (dp * micro_batch),
         (Note{"Micro-batches per step", "of one data-parallel replica"}), global_batch, dp, micro_batch);
  FIGURE(trace, tokens, micro_batch * sequence / cp, (Note{"Tokens of a micro-batch on one device"}), micro_batch,
         sequence, cp);
  FIGURE(trace, own_tokens, tokens / split,
         (Note{"Tokens whose residual stream the device holds", "sequence parallelism splits them over the TP ranks"}),
         tokens, split);
  const double bandwidth_efficiency = *context.device().efficiency.bandwidth_efficiency,
               element_share = context.framework().compute.element_wise;
  trace.Input("bandwidth_efficiency", bandwidth_efficiency, "cluster.device.efficiency.stream");
  const BytesPerSecond stream_rate = ExplainStreamRate(context, bandwidth_efficiency, trace);
  FIGURE(trace, element_rate, element_share * stream_rate,
         (Note{"Rate of elementwise passes",
               "operands counted once per pass; the framework's factor says how much it fuses"}),
         element_share, stream_rate);
}

}  // namespace slipstick
