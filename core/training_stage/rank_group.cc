// Groups of ranks and their collectives, as explanations name them.
#include <string>
#include <utility>
#include <vector>

#include "core/collectives/fabric.h"
#include "core/collectives/named_terms.h"
#include "core/training_stage/exchange.h"

namespace slipstick {
namespace {

const GroupPlacement& PlacementOf(const TrainingContext& context, RankGroup group) {
  switch (group) {
    case RankGroup::kTensor:
      return context.tensor;
    case RankGroup::kContext:
      return context.context_group;
    case RankGroup::kData:
      break;
    case RankGroup::kShard:
      return context.shard;
    case RankGroup::kReplica:
      return context.replica;
    case RankGroup::kExperts:
      return context.experts;
    case RankGroup::kExpertData:
      return context.expert_data;
    case RankGroup::kExpertTensor:
      return context.expert_tensor;
  }
  return context.data;
}

// A degree's distance in devices: the product of the degrees inside it, in the order of the mapping.
void ExplainStride(const TrainingContext& context, std::string_view degree, double stride, std::string_view symbol,
                   Trace& trace) {
  std::string inside;
  std::string_view order = context.run.mapping.order;
  const auto product = [&](std::string_view name) {
    if (name == "ep") return;  // regroups the ranks of the others
    if (!inside.empty()) inside += " * ";
    inside += name;
  };
  while (order.substr(0, order.find('-')) != degree && order.find('-') != std::string_view::npos) {
    product(order.substr(0, order.find('-')));
    order.remove_prefix(order.find('-') + 1);
  }
  if (inside.empty()) return trace.Input(symbol, stride, "training.mapping.order");
  const TrainingShape& shape = context.shape;
  const double tp = shape.tensor, cp = shape.context, dp = shape.data, pp = shape.pipeline;
  std::vector<internal::Value> values{internal::ValueOf(stride)};
  std::string names;
  for (const auto& [name, value] :
       {std::pair{"tp", tp}, std::pair{"cp", cp}, std::pair{"dp", dp}, std::pair{"pp", pp}}) {
    if (inside.find(name) == std::string::npos) continue;
    names += (names.empty() ? "" : ", ") + std::string(name);
    values.push_back(internal::ValueOf(value));
  }
  const internal::FigureText text{symbol, inside, names,
                                  Note{"Distance between neighbors of a group", "in devices: the groups inside it"}};
  trace.Record(text, values);
}

// Ranks of an outer and an inner degree; `inner` 1: of the outer alone.
struct Degrees {
  std::string_view inner_is, outer_is;
  double inner, outer;
  double inner_stride, outer_stride;
};

void BindRanks(double group_ranks, double inner_ranks, Trace& trace) {
  trace.Alias("ranks", inner_ranks, "inner_ranks");
  trace.Alias("ranks", group_ranks, "group_ranks");
  trace.Alias("ranks_in_node", inner_ranks, "inner_ranks");
}

// Distance between neighbors of a group: in devices, and in nodes.
void ExplainSpacing(double stride, std::string_view stride_is, double node_devices, Trace& trace) {
  trace.Alias("spacing", stride, stride_is);
  trace.Alias("stride", stride, stride_is);
  if (stride <= node_devices) return;
  FIGURE(trace, spacing, stride / node_devices, (Note{"Distance between neighbors of a group", "in nodes"}), stride,
         node_devices);
}

void ExplainRanks(const TrainingContext& context, const Degrees& degrees, Trace& trace) {
  const double inner = degrees.inner, outer = degrees.outer, node_devices = context.node_devices;
  const double inner_stride = degrees.inner_stride, outer_stride = degrees.outer_stride;
  trace.Input("node_devices", node_devices, "cluster.networks.0.size");
  trace.Alias("inner", inner, degrees.inner_is);
  trace.Alias("outer", outer, degrees.outer_is);
  ExplainSpacing(inner > 1 ? inner_stride : outer_stride, inner > 1 ? "inner_stride" : "outer_stride", node_devices,
                 trace);
  if (degrees.inner_is.empty()) {
    trace.Alias("group_ranks", outer, "outer");
    FIGURE(trace, inner_ranks, max(1.0, min(outer, node_devices / outer_stride)),
           (Note{"Ranks of the group in a node"}), outer, node_devices, outer_stride);
    const double group_ranks = outer;
    FIGURE(trace, nodes, group_ranks / inner_ranks, (Note{"Nodes of the group"}), group_ranks, inner_ranks);
    return BindRanks(group_ranks, inner_ranks, trace);
  }
  FIGURE(trace, group_ranks, inner * outer, (Note{"Ranks of the group"}), inner, outer);
  FIGURE(trace, inner_ranks,
         max(1.0, min(inner, node_devices / inner_stride)) * max(1.0, min(outer, node_devices / outer_stride)),
         (Note{"Ranks of the group in a node"}), inner, node_devices, inner_stride, outer, outer_stride);
  FIGURE(trace, nodes, group_ranks / inner_ranks, (Note{"Nodes of the group"}), group_ranks, inner_ranks);
  BindRanks(group_ranks, inner_ranks, trace);
}

// The innermost group, whose ranks decide the slice of a torus.
void ExplainInnermost(const TrainingContext& context, Trace& trace) {
  const TrainingShape& shape = context.shape;
  const double innermost = context.innermost, ep = shape.expert, expert_tp = shape.expert_tensor;
  for (std::string_view order = context.run.mapping.order; !order.empty();) {
    const std::string_view name = order.substr(0, order.find('-'));
    order.remove_prefix(std::min(order.size(), name.size() + 1));
    if (InnermostRanks(name, shape) <= 1) continue;
    if (name != "dp" || ep * expert_tp == 1) return trace.Alias("innermost", innermost, name);
    trace.Record("innermost", "ep * expert_tp", innermost, Note{"Ranks of the innermost group"}, "ep, expert_tp", ep,
                 expert_tp);
    return;
  }
}

}  // namespace

void ExplainGroup(const TrainingContext& context, RankGroup group, Trace& trace) {
  if (!trace.on()) return;
  const TrainingShape& shape = context.shape;
  const Strides& strides = context.strides;
  const double tp = shape.tensor, cp = shape.context, dp = shape.data, ep = shape.expert,
               expert_tp = shape.expert_tensor;
  const double one = 1;
  ExplainInnermost(context, trace);
  switch (group) {
    case RankGroup::kTensor:
      ExplainStride(context, "tp", strides.tensor, "outer_stride", trace);
      return ExplainRanks(context, {"", "tp", one, tp, one, strides.tensor}, trace);
    case RankGroup::kContext:
      ExplainStride(context, "cp", strides.context, "outer_stride", trace);
      return ExplainRanks(context, {"", "cp", one, cp, one, strides.context}, trace);
    case RankGroup::kExperts: {
      trace.Constants("training.placement", "ranks that share experts are neighbors", "outer_stride", one);
      FIGURE(trace, sharing, ep * expert_tp, (Note{"Ranks that share a layer's experts"}), ep, expert_tp);
      return ExplainRanks(context, {"", "sharing", one, sharing, one, one}, trace);
    }
    case RankGroup::kExpertTensor:
      trace.Constants("training.placement", "ranks of expert tensor parallelism are neighbors", "outer_stride", one);
      return ExplainRanks(context, {"", "expert_tp", one, expert_tp, one, one}, trace);
    case RankGroup::kExpertData: {
      FIGURE(trace, outer_stride, ep * expert_tp, (Note{"Distance between holders of the same experts", "in devices"}),
             ep, expert_tp);
      FIGURE(trace, expert_copies, dp * cp * tp / (ep * expert_tp), (Note{"Ranks that hold the same experts"}), dp, cp,
             tp, ep, expert_tp);
      return ExplainRanks(context, {"", "expert_copies", one, expert_copies, one, outer_stride}, trace);
    }
    default:
      break;
  }
  ExplainStride(context, "cp", strides.context, "inner_stride", trace);
  ExplainStride(context, "dp", strides.data, "outer_stride", trace);
  const double shards = ShardRanks(context.run, shape.DataRanks());
  if (group == RankGroup::kData || shards == shape.DataRanks()) {
    return ExplainRanks(context, {"cp", "dp", cp, dp, strides.context, strides.data}, trace);
  }
  const auto shard_within = static_cast<double>(context.run.mapping.shard_within.value_or(1));
  const double kept_stride = strides.data;
  trace.Alias("kept_stride", kept_stride, "outer_stride");
  if (group == RankGroup::kShard) {
    return ExplainRanks(context, {"cp", "shard_within", cp, shards / cp, strides.context, strides.data}, trace);
  }
  FIGURE(trace, outer_stride, kept_stride * shard_within,
         (Note{"Distance between holders of the same shard", "in devices"}), kept_stride, shard_within);
  FIGURE(trace, replicas, dp / shard_within, (Note{"Ranks that hold the same shard"}), dp, shard_within);
  ExplainRanks(context, {"", "replicas", one, replicas, one, outer_stride}, trace);
}

void ExplainHop(const TrainingContext& context, const Link& link, double stride, double size, Trace& trace) {
  const std::vector<NetworkLevel>& levels = context.cluster.networks;
  if (!trace.on() || levels.empty()) return;
  std::size_t level = 0;
  for (double joined = static_cast<double>(levels[0].size); stride * size > joined && level + 1 < levels.size();) {
    joined *= static_cast<double>(levels[++level].size);
  }
  const FabricConstants& fabric = *levels[level].fabric;
  const BytesPerSecond bandwidth = context.prepared->stated.networks[level].bandwidth;
  const std::string table = "fabrics." + levels[level].fabric->id;
  trace.Input("bandwidth", bandwidth, "cluster.networks." + std::to_string(level) + ".bandwidth");
  double share = 1;
  if (context.framework().utilization) {
    const Seconds hop_latency = levels[level].latency;
    trace.Input("hop_latency", hop_latency, "cluster.networks." + std::to_string(level) + ".latency");
    trace.Input("share", share, "training.framework.utilization");
  } else if (level == 0) {
    const double hop_rate = share = fabric.in_step.hop_efficiency;
    const Seconds hop_latency = fabric.in_step.hop_latency;
    CONSTANTS(trace, table, kInStepSource, hop_rate, hop_latency);
    trace.Alias("share", hop_rate, "hop_rate");
  } else {
    const double outer_hop_rate = share = fabric.in_step.nic_hop_efficiency;
    const Seconds outer_hop_latency = fabric.in_step.nic_hop_latency;
    CONSTANTS(trace, table, kInStepSource, outer_hop_rate, outer_hop_latency);
    trace.Alias("share", outer_hop_rate, "outer_hop_rate");
    trace.Alias("hop_latency", outer_hop_latency, "outer_hop_latency");
  }
  const double wire_share = link.rate / (share * bandwidth);
  if (context.prepared->stated.networks[level].topology == Topology::kSwitch || wire_share == 1) {
    trace.Record("hop_rate", "share * bandwidth", link.rate, Note{"Rate of a send to the next rank", "", kInStepSource},
                 "share, bandwidth", share, bandwidth);
    return;
  }
  BindNeighborShare("wire_share", wire_share, levels[level], level, trace);
  trace.Record("hop_rate", "share * bandwidth * wire_share", link.rate,
               Note{"Rate of a send to the next rank", "", kInStepSource}, "share, bandwidth, wire_share", share,
               bandwidth, wire_share);
}

void ExplainNetworks(const TrainingContext& context, Trace& trace) {
  if (!trace.on()) return;
  const double network_share = context.framework().exchange.network_share;
  for (std::size_t i = 1; i < context.cluster.networks.size(); ++i) {
    const std::string path = "cluster.networks." + std::to_string(i);
    const Trace::Scope scope(trace, "network " + std::to_string(i));
    const BytesPerSecond stated = context.prepared->stated.networks[i].bandwidth,
                         nic = context.cluster.networks[i].bandwidth;
    trace.Input("stated", stated, path + ".bandwidth");
    trace.Record("nic", "network_share * stated", nic,
                 Note{"Bandwidth that a step's collectives reach between nodes", "of one device"},
                 "network_share, stated", network_share, stated);
    trace.Alias(path + ".bandwidth", nic, "nic");
  }
}

void ExplainContention(const TrainingContext& context, Bytes moved, Seconds link, std::string_view link_is,
                       const std::vector<Seconds>& links, double contention, Trace& trace) {
  if (!trace.on()) return;
  const double framework_contention = context.framework().exchange.contention,
               contention_share = context.framework().exchange.contention_share;
  trace.Input("framework_contention", framework_contention, "training.framework.exchange.contention");
  if (context.cluster.networks.empty() || !(link > Seconds{}))
    return trace.Alias("contention", contention, "framework_contention");
  const BytesPerSecond scale_up = context.cluster.networks.front().bandwidth;
  trace.Input("contention_share", contention_share, "training.framework.exchange.contention_share");
  trace.Input("scale_up", scale_up, "cluster.networks.0.bandwidth");
  std::vector<internal::Value> values{internal::ValueOf(contention), internal::ValueOf(framework_contention),
                                      internal::ValueOf(moved)};
  std::string names = "framework_contention, moved";
  std::string_view rest = link_is;
  for (const Seconds one : links) {
    names += ", " + std::string(rest.substr(0, rest.find(" + ")));
    rest.remove_prefix(rest.find(" + ") == std::string_view::npos ? rest.size() : rest.find(" + ") + 3);
    values.push_back(internal::ValueOf(one));
  }
  values.push_back(internal::ValueOf(contention_share));
  values.push_back(internal::ValueOf(scale_up));
  names += ", contention_share, scale_up";
  const std::string formula =
      "framework_contention * min(1, moved / (" + std::string(link_is) + ") / (contention_share * scale_up))";
  trace.Record({"contention", formula, names,
                Note{"Compute lost to communication beside it",
                     "over the link time; less where slower links move fewer bytes per second"}},
               values);
}

void RecordNone(std::initializer_list<std::string_view> symbols, std::string_view vanishing, const Note& note,
                std::string_view degree_is, double degree, Trace& trace) {
  if (!trace.on()) return;
  for (const std::string_view symbol : symbols) {
    trace.Record(symbol, std::string(vanishing) + " * 0", Seconds(), note, degree_is, degree);
  }
}

Seconds TimeCollective(const TrainingContext& context, const CollectiveCall& call, std::string_view bytes_are,
                       RankGroup group, std::string_view name, std::string_view symbol, Trace& trace) {
  const GroupPlacement& placement = PlacementOf(context, group);
  if (context.log != nullptr) context.log->Add(NameOf(group), call, placement, NetworkFor(context, call));
  if (!trace.on()) return Collective(context, call, placement);
  if (!(call.bytes > Bytes{})) return {};
  if (placement.Ranks() <= 1) {
    const Trace::Scope scope(trace, name);
    ExplainGroup(context, group, trace);
    RecordNone({symbol}, "(group_ranks - 1)", Note{"Time of the collective", "none in a group of one rank"},
               "group_ranks", placement.Ranks(), trace);
    return {};
  }
  {
    const Trace::Scope scope(trace, name);
    trace.Alias("bytes", call.bytes, bytes_are);
    ExplainGroup(context, group, trace);
  }
  const Seconds time = Collective(context, call, placement, name, trace);
  trace.Alias(symbol, time, "collective_time");
  return time;
}

}  // namespace slipstick
