#include "core/collectives/named_terms.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/collectives/group_view.h"
#include "core/collectives/library_network.h"
#include "core/operators/kernel_family_fields.h"
#include "core/workload/named_terms.h"

namespace slipstick {
namespace {

// A group on a network whose numbers have nodes.
class NamedGroup {
 public:
  NamedGroup(const GroupPlacement& group, const Cluster& cluster, Trace& trace) : cluster_(cluster) {
    BindInputs(cluster_.networks, "cluster.networks", trace);
    BindInputs(cluster_.devices, "cluster.devices", trace);
    view_ = ViewOf(group, cluster_);
    view_.ranks = trace.Carry("ranks", view_.ranks);
    view_.nodes = trace.Carry("nodes", view_.nodes);
    for (int i = 0; i < view_.count; ++i) Name(view_.levels[i], trace);
    if (view_.count == 1) view_.ranks = view_.levels[0].ranks;
  }
  NamedGroup(const NamedGroup&) = delete;  // the view points into the cluster and the fabrics
  NamedGroup& operator=(const NamedGroup&) = delete;
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const GroupView& view() const { return view_; }

 private:
  void Name(LevelView& level, Trace& trace) {
    FabricConstants& fabric = fabrics_[static_cast<std::size_t>(&level - view_.levels.data())];
    fabric = Named(*level.fabric, trace);
    level.fabric = &fabric;
    if (view_.count == 1) level.ranks = view_.ranks;
    level.ranks = trace.Carry(level.index == 0 ? "inner_ranks" : "nodes", level.ranks);
    if (level.apart > 1) level.apart = trace.Carry("spacing", level.apart);
    if (level.innermost > 1) level.innermost = trace.Carry("innermost", level.innermost);
    RestOnBlock(level);
  }

  Cluster cluster_;
  GroupView view_;
  std::array<FabricConstants, kMaxLevels> fabrics_;
};

}  // namespace

FabricConstants Named(FabricConstants fabric, Trace& trace) {
  if (!trace.on()) return fabric;
  BindInputs(fabric, "fabrics." + fabric.id, [&trace](const BoundNumber& number) {
    const auto is_part = [&number](const char* key) { return number.path.find(key) != std::string::npos; };
    const bool is_in_step = is_part("hop_") || is_part("routed");
    return trace.tape().Constant(number.path, number.value, number.dimension, number.help,
                                 is_in_step ? kInStepSource : kLibrarySource);
  });
  return fabric;
}

CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster, Trace& trace) {
  if (!trace.on()) return TimeOf(call, group, cluster);
  const NamedGroup named(group, cluster, trace);
  CollectiveCall carried = call;
  carried.bytes = trace.Carry("bytes", call.bytes);
  const CollectiveTime made = TimeOf(carried, named.view(), cluster.collectives);
  trace.Alias("collective_time", made.time, "time of this collective");
  return made;
}

ExpertExchange ExchangeOf(const Model& model, const Cluster& cluster, const GroupPlacement& group, Trace& trace) {
  const Moe& moe = *model.moe;
  const auto input = [&trace](Count value, const std::string& path) {
    const Ratio number(value);
    return trace.on() ? Ratio::FromBase(number.base(), trace.InputNode(path, number.base(), Ratio::kDimension))
                      : number;
  };
  ExpertExchange exchange;
  exchange.top_k = input(moe.top_k, "model.moe.top_k");
  exchange.experts = moe.experts;
  exchange.hidden = trace.Carry("routed_width", Ratio(RoutedWidth(model, trace)));
  if (trace.on()) {
    const NamedGroup named(group, cluster, trace);
    SetWires(named.view(), named.cluster(), exchange);
  } else {
    SetWires(ViewOf(group, cluster), cluster, exchange);
  }
  exchange.max_nodes_per_token = moe.node_limit > 0 ? input(moe.node_limit, "model.moe.node_limit") : exchange.nodes;
  exchange.architecture = cluster.device.architecture;
  return exchange;
}

ExpertExchangeTime TimeOf(const ExpertExchange& exchange, Trace& trace) {
  if (!trace.on()) return TimeOf(exchange);
  ExpertExchange carried = exchange;
  carried.tokens = trace.Carry("tokens", exchange.tokens);
  carried.experts = trace.Carry("held_experts", exchange.experts);
  carried.element_bytes = trace.Carry("element_bytes", exchange.element_bytes);
  carried.kernel_units = trace.Carry("kernel_units", exchange.kernel_units);
  ExpertExchangeTable table = exchange.architecture->expert_exchange;
  const std::string path = "kernels." + exchange.architecture->id + ".expert_exchange";
  BindConstants(table.domain_dispatch, path + ".domain_dispatch", table.domain_source, trace);
  BindConstants(table.domain_combine, path + ".domain_combine", table.domain_source, trace);
  BindConstants(table, path, table.source, trace);
  const ExpertExchangeTime made = TimeOf(carried, table);
  trace.Alias("exchange_time", made.time, "time of this exchange");
  return made;
}

void BindNeighborShare(std::string_view symbol, double wire_share, const NetworkLevel& level, std::size_t index,
                       Trace& trace) {
  if (!trace.on()) return;
  const auto size = static_cast<double>(level.size);
  trace.Input("size", size, "cluster.networks." + std::to_string(index) + ".size");
  const std::vector<std::pair<std::string, double>> among{{"the wire to the next rank", wire_share},
                                                          {"through a switch", 1}};
  trace.Choice(symbol, wire_share,
               Note{"Share of the bandwidth on the wire to the next rank", "as the topology splits it"}, among, 0,
               "size", size);
}

}  // namespace slipstick
