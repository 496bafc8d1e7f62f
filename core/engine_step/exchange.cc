#include "core/engine_step/exchange.h"

#include <string>
#include <utility>
#include <vector>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/base/sum.h"
#include "core/collectives/named_terms.h"
#include "core/engine_step/kernel_terms.h"
#include "core/operators/efficiency.h"
#include "core/operators/kernel_family_fields.h"
#include "core/operators/named_terms.h"
#include "core/workload/exchanges.h"
#include "core/workload/named_terms.h"

namespace slipstick {

namespace {

// A group of `ranks` devices, by its size's symbol: those of one scale-up domain, and the domains.
void ExplainGroup(const GroupPlacement& group, const Deployment& deployment, std::string_view size_symbol,
                  Trace& trace) {
  if (!trace.on()) return;
  const double group_size = group.Ranks(), inner_ranks = group.extent.front(), nodes = group_size / inner_ranks;
  trace.Alias("ranks", group_size, size_symbol);
  trace.Alias("group_size", group_size, size_symbol);
  if (group.extent.size() < 2) return trace.Alias("inner_ranks", inner_ranks, size_symbol);
  const auto domain = static_cast<double>(deployment.cluster.networks.front().size);
  trace.Input("domain", domain, "cluster.networks.0.size");
  trace.Record("nodes", "ceil(group_size / domain)", nodes, Note{"Scale-up domains that a group spans", ""},
               "group_size, domain", group_size, domain);
  trace.Record("inner_ranks", "group_size / nodes", inner_ranks, Note{"Ranks of a group in a scale-up domain", ""},
               "group_size, nodes", group_size, nodes);
}

// One device of each tensor group that works on a prompt.
void ExplainPromptGroup(const Deployment& deployment, Trace& trace) {
  if (!trace.on()) return;
  const GroupPlacement& group = deployment.network.prompt_group;
  const double ranks = group.Ranks(), inner_ranks = group.extent.front(), nodes = ranks / inner_ranks,
               group_devices = deployment.mapping.devices_per_group;
  const auto domain = static_cast<double>(deployment.cluster.networks.front().size);
  trace.Alias("ranks", ranks, "prefill_cp");
  trace.Alias("group_size", ranks, "prefill_cp");
  trace.Input("domain", domain, "cluster.networks.0.size");
  trace.Record("inner_ranks", "min(ranks, max(1, floor(domain / group_devices)))", inner_ranks,
               Note{"Ranks of a group in a scale-up domain", "one of each tensor group"},
               "ranks, domain, group_devices", ranks, domain, group_devices);
  trace.Record("nodes", "ranks / inner_ranks", nodes, Note{"Scale-up domains that a group spans", ""},
               "ranks, inner_ranks", ranks, inner_ranks);
}

// The engine's all-reduce, with the nodes of its constants.
std::optional<CustomAllReduce> OwnKernel(const Deployment& deployment, Trace& trace) {
  const std::optional<CustomAllReduce>& own = deployment.network.custom_all_reduce;
  if (!trace.on() || !own) return own;
  PeerReduceTable table = deployment.device.architecture->peer_reduce;
  BindConstants(table, KernelTable(deployment.device, "peer_reduce"), table.source, trace);
  Seconds second_pass = own->second_pass;
  BindInputs(second_pass, "serving.engine.second_pass", trace);
  return CustomAllReduceOf(table, second_pass);
}

CollectiveTime Collective(const Deployment& deployment, std::string_view group_name, const CollectiveCall& call,
                          const GroupPlacement& group, Trace& trace) {
  if (deployment.log != nullptr) deployment.log->Add(group_name, call, group, deployment.cluster);
  return TimeOf(call, group, deployment.cluster, trace);
}

}  // namespace

ExchangeCost AllReduce(const Deployment& deployment, Bytes bytes, bool waits_for_host, Trace& trace) {
  ExchangeCost exchange;
  if (deployment.mapping.devices_per_group <= 1) return exchange;
  CollectiveCall call;
  call.type = CollectiveType::kAllReduce;
  call.bytes = bytes;
  call.custom = OwnKernel(deployment, trace);
  // Hosts launch independently: the wait for the last one grows with log2 of the ranks.
  const double tensor_ranks = deployment.network.tensor_group.Ranks();
  ExplainGroup(deployment.network.tensor_group, deployment, "group_devices", trace);
  if (waits_for_host) {
    const Seconds nccl_launch = deployment.engine.communication.nccl_launch;
    trace.Alias("tensor_ranks", tensor_ranks, "group_devices");
    FIGURE(trace, host_wait, nccl_launch * log2(tensor_ranks),
           (Note{"Wait for the last host", "hosts launch independently"}), nccl_launch, tensor_ranks);
    call.launch = trace.Carry("host_wait", host_wait);
  }
  const CollectiveTime taken = Collective(deployment, "tp", call, deployment.network.tensor_group, trace);
  trace.Alias("reduction_time", taken.time, "collective_time");
  exchange.kernel.time = taken.time;
  exchange.kernel.bound = Bound::kNetwork;
  exchange.launched_apart = !deployment.network.custom_all_reduce;
  if (deployment.network.custom_all_reduce) {
    const Seconds collective_time = taken.time, rank_skew = deployment.engine.communication.rank_skew;
    FIGURE(trace, reduction_time, collective_time + rank_skew,
           (Note{"All-reduce inside a step", "its own time and the skew between ranks"}), collective_time, rank_skew);
    exchange.kernel.time = reduction_time;
  }
  return exchange;
}

namespace {

// Path of the engine's row of exchange kernels.
std::string ExchangeRow(const Deployment& deployment) {
  const auto row = deployment.network.expert_exchange - deployment.engine.communication.expert_exchange.data();
  return "serving.engine.expert_exchange." + std::to_string(row);
}

KernelTime NetworkTime(Seconds time) {
  KernelTime kernel;
  kernel.time = time;
  kernel.bound = Bound::kNetwork;
  return kernel;
}

ExchangeKernel KernelOf(const ExchangeKernels& row, Phase phase) {
  return phase == Phase::kDecode ? row.decode : row.prefill;
}

// The devices that share the experts.
void ExplainExpertsGroup(const Deployment& deployment, Trace& trace) {
  if (!trace.on()) return;
  const double group_devices = deployment.mapping.devices_per_group, attention_dp = deployment.mapping.attention_dp;
  FIGURE(trace, expert_group, group_devices * attention_dp,
         (Note{"Devices that share the experts", "of all attention groups"}), group_devices, attention_dp);
  ExplainGroup(deployment.network.experts_group, deployment, "expert_group", trace);
}

// Dispatch and combine by the engine's kernels.
ExpertTraffic OwnKernels(const Deployment& deployment, double tokens, Phase phase, Trace& trace) {
  const double tp = deployment.mapping.tp;
  trace.Alias("tokens", tokens, "rows");
  FIGURE(trace, own_tokens, tokens / tp, (Note{"Tokens of a device", "of its attention group"}), tokens, tp);
  ExplainExpertsGroup(deployment, trace);
  ExpertExchange one = ExchangeOf(deployment.model, deployment.cluster, deployment.network.experts_group, trace);
  one.kernel = KernelOf(*deployment.network.expert_exchange, phase);
  one.experts = deployment.shapes.experts;
  one.kernel_units = static_cast<double>(deployment.network.expert_exchange->units);
  if (trace.on()) trace.Input("kernel_units", one.kernel_units, ExchangeRow(deployment) + ".units");
  const auto time_of = [&](std::string_view name, bool is_combine, double element_bytes) {
    const Seconds time = [&] {
      const Trace::Scope scope(trace, name);
      one.is_combine = is_combine;
      one.element_bytes = element_bytes;
      if (!is_combine) trace.Input("element_bytes", element_bytes, "serving.precision.activations");
      if (is_combine) trace.Constants("formats", "combined in 16 bit", "element_bytes", element_bytes);
      return TimeOf(one, trace).time;
    }();
    trace.Alias(name, time, "exchange_time");
    return time;
  };
  const double imbalance = ImbalanceOf(deployment, trace);
  FIGURE(trace, busiest_tokens, own_tokens * imbalance,
         (Note{"Tokens that the busiest device receives and returns", "its link is the bottleneck"}), own_tokens,
         imbalance);
  one.tokens = busiest_tokens;
  trace.Alias("tokens", busiest_tokens, "busiest_tokens");
  const Precision format = NativePrecision(deployment.device, deployment.formats.activations);
  const Seconds dispatch = time_of("dispatch", false, DispatchedElement(format)), combine = time_of("combine", true, 2);
  FIGURE(trace, exchange_time, dispatch + combine,
         (Note{"Dispatch and combine", "dispatch in the experts' format, combine in 16 bit"}), dispatch, combine);
  trace.Alias("held_tokens", own_tokens, "own_tokens");
  trace.Alias("dispatch", dispatch, "dispatch");
  trace.Alias("combine", combine, "combine");
  return {NetworkTime(exchange_time), dispatch, combine, own_tokens};
}

}  // namespace

double UnitsTaken(const Deployment& deployment, Phase phase, Trace& trace) {
  if (deployment.network.expert_exchange == nullptr ||
      KernelOf(*deployment.network.expert_exchange, phase) != ExchangeKernel::kNormal) {
    return trace.Constant("taken", 0.0, "serving.exchange", "the kernels of this exchange occupy no SMs meanwhile");
  }
  const double exchange_units = static_cast<double>(deployment.network.expert_exchange->units),
               units = static_cast<double>(deployment.device.units);
  if (trace.on()) trace.Input("exchange_units", exchange_units, ExchangeRow(deployment) + ".units");
  FIGURE(trace, taken, min(0.9, exchange_units / units), (Note{"Share of the SMs that the exchange occupies", ""}),
         exchange_units, units);
  return taken;
}

ExpertTraffic GatherTokens(const Deployment& deployment, double rows, Trace& trace) {
  const double attention_dp = deployment.mapping.attention_dp;
  FIGURE(trace, all_tokens, attention_dp * rows, (Note{"Tokens of all attention groups", ""}), attention_dp, rows);
  ExplainExpertsGroup(deployment, trace);
  CollectiveCall call;
  call.type = CollectiveType::kAllGather;
  call.bytes = RoutedBytes(deployment.model, all_tokens, "all_tokens", trace);
  trace.Alias("bytes", call.bytes, "residual_bytes");
  const Seconds dispatch = Collective(deployment, "ep", call, deployment.network.experts_group, trace).time;
  trace.Alias("dispatch", dispatch, "collective_time");
  call.type = CollectiveType::kReduceScatter;
  const Seconds combine = Collective(deployment, "ep", call, deployment.network.experts_group, trace).time;
  trace.Alias("combine", combine, "collective_time");
  FIGURE(
      trace, exchange_time, dispatch + combine,
      (Note{"Dispatch and combine", "all-gather of the tokens of all groups, reduce-scatter of the experts' results"}),
      dispatch, combine);
  trace.Alias("held_tokens", all_tokens, "all_tokens");
  return {NetworkTime(exchange_time), dispatch, combine, all_tokens};
}

ExpertTraffic SendTokens(const Deployment& deployment, double rows, Phase phase, Trace& trace) {
  if (deployment.network.expert_exchange != nullptr) return OwnKernels(deployment, rows, phase, trace);
  const double ranks = deployment.network.experts_group.Ranks(), tp = deployment.mapping.tp,
               top_k = static_cast<double>(deployment.model.moe->top_k);
  ExplainExpertsGroup(deployment, trace);
  const double copies = deployment.mapping.ep > 1 ? OwnersReached("copies", ranks, "ranks", top_k, trace) : ranks;
  if (deployment.mapping.ep <= 1) trace.Alias("copies", copies, "ranks");
  FIGURE(trace, dispatched_tokens, rows / tp * copies,
         (Note{"Copies of its tokens that a rank sends", "one per rank that holds an expert"}), rows, tp, copies);
  CollectiveCall call;
  call.type = CollectiveType::kAllToAll;
  call.bytes = RoutedBytes(deployment.model, dispatched_tokens, "dispatched_tokens", trace);
  trace.Alias("bytes", call.bytes, "residual_bytes");
  const Seconds one_way = Collective(deployment, "ep", call, deployment.network.experts_group, trace).time;
  trace.Alias("one_way", one_way, "collective_time");
  trace.Alias("dispatch", one_way, "collective_time");
  trace.Alias("combine", one_way, "collective_time");
  FIGURE(trace, exchange_time, 2 * one_way,
         (Note{"Dispatch and combine", "an all-to-all each way: one copy per rank that holds an expert of the token"}),
         one_way);
  if (deployment.mapping.ep > 1) {
    trace.Alias("held_tokens", rows, "rows");
    return {NetworkTime(exchange_time), one_way, one_way, rows};
  }
  // Experts split over all devices (ep 1) need every token on every device.
  const double attention_dp = deployment.mapping.attention_dp;
  FIGURE(trace, all_tokens, attention_dp * rows, (Note{"Tokens of all attention groups", ""}), attention_dp, rows);
  trace.Alias("held_tokens", all_tokens, "all_tokens");
  return {NetworkTime(exchange_time), one_way, one_way, all_tokens};
}

void BindLevelLink(std::string_view symbol, BytesPerSecond link, double devices, const Deployment& deployment,
                   Trace& trace) {
  if (!trace.on()) return;
  const std::vector<NetworkLevel>& levels = deployment.cluster.networks;
  std::size_t place = 0;
  double joined = 1;
  for (place = 0; place + 1 < levels.size(); ++place) {
    joined *= static_cast<double>(levels[place].size);
    if (joined >= devices) break;
  }
  trace.Input(symbol, link, "cluster.networks." + std::to_string(place) + ".bandwidth");
}

void BindRoute(const Route& route, const Deployment& deployment, Trace& trace) {
  if (!trace.on()) return;
  const std::string path = "cluster.networks." + std::to_string(route.level) + ".bandwidth";
  if (route.wire_share == 1) return trace.Input("stage_link", route.link, path);
  const NetworkLevel& level = deployment.cluster.networks[route.level];
  const BytesPerSecond stated = level.bandwidth;
  const double wire_share = route.wire_share;
  trace.Input("stated", stated, path);
  BindNeighborShare("wire_share", wire_share, level, route.level, trace);
  trace.Record("stage_link", "wire_share * stated", route.link,
               Note{"Bandwidth of a device on this way", "as the topology splits it"}, "wire_share, stated", wire_share,
               stated);
}

Seconds OverFurtherWires(Seconds time, std::string_view symbol, const Route& route, const Deployment& deployment,
                         Trace& trace) {
  if (route.wires <= 1) return time;
  const double wires = route.wires;
  const Seconds wire_latency = route.wire_latency, all = time + (wires - 1) * wire_latency;
  if (!trace.on()) return all;
  const NetworkLevel& level = deployment.cluster.networks[route.level];
  const std::string path = "cluster.networks." + std::to_string(route.level);
  const auto size = static_cast<double>(level.size);
  trace.Input("size", size, path + ".size");
  trace.Input("wire_latency", wire_latency, path + (level.hop_latency ? ".hop_latency" : ".latency"));
  trace.Procedure("wires", wires, Note{"Wires in a row", "through the devices in between"}, "size", size);
  trace.Alias("over_the_first", time, symbol);
  trace.Record(symbol, "over_the_first + (wires - 1) * wire_latency", all, Note{"The message over all wires"},
               "over_the_first, wires, wire_latency", time, wires, wire_latency);
  return all;
}

namespace {

// Partial results of the tensor groups that split a context are added.
Seconds MergeOverPrompts(const Deployment& deployment, double rows, Trace& trace) {
  const Trace::Scope scope(trace, "merge");
  MixerCore core;
  core.heads = deployment.shapes.widths.heads;
  core.query_width = deployment.model.mla ? Ratio(deployment.model.mla->kv_lora_rank) : deployment.shapes.head_dim;
  trace.Alias("query_heads", core.heads, "rank_heads");
  trace.Input("query_width", core.query_width, deployment.model.mla ? "model.mla.kv_lora_rank" : "model.head_dim");
  ExplainPromptGroup(deployment, trace);
  CollectiveCall call;
  call.type = CollectiveType::kAllReduce;
  call.bytes = QueryBytes(core, rows, "rows", trace);
  trace.Alias("bytes", call.bytes, "query_bytes");
  return Collective(deployment, "prefill_cp", call, deployment.network.prompt_group, trace).time;
}

// Queries go to the ranks of a tensor group that split a context, partial results return.
Seconds ExchangeInGroup(const Deployment& deployment, double rows, Trace& trace) {
  MixerCore core;
  core.heads = deployment.shapes.decode_heads;
  core.query_width = deployment.model.mla ? Ratio(deployment.model.mla->kv_lora_rank) : deployment.shapes.head_dim;
  trace.Alias("query_heads", core.heads, "decode_heads");
  trace.Input("query_width", core.query_width, deployment.model.mla ? "model.mla.kv_lora_rank" : "model.head_dim");
  ExplainGroup(deployment.network.context_group, deployment, "cp", trace);
  CollectiveCall call;
  call.type = CollectiveType::kAllGather;
  call.bytes = QueryBytes(core, rows, "rows", trace);
  trace.Alias("bytes", call.bytes, "query_bytes");
  const Seconds queries = Collective(deployment, "cp", call, deployment.network.context_group, trace).time;
  trace.Alias("queries", queries, "collective_time");
  call.type = CollectiveType::kReduceScatter;
  const Seconds answers = Collective(deployment, "cp", call, deployment.network.context_group, trace).time;
  trace.Alias("answers", answers, "collective_time");
  FIGURE(trace, in_group, queries + answers,
         (Note{"Queries to the parts of a context and partial results back",
               "each rank attends to its part; weighted sums are added", "Helix parallelism, arXiv 2507.07120"}),
         queries, answers);
  return in_group;
}

}  // namespace

KernelTime ContextExchange(const Deployment& deployment, double rows, Trace& trace) {
  KernelTime kernel;
  if (deployment.mapping.context_ranks <= 1) return kernel;
  const Trace::Scope scope(trace, "context_exchange");
  const Seconds none{};
  const Seconds in_group = deployment.mapping.cp > 1 ? ExchangeInGroup(deployment, rows, trace) : none;
  const Seconds merged = deployment.mapping.prefill_cp > 1 ? MergeOverPrompts(deployment, rows, trace) : none;
  if (deployment.mapping.prefill_cp > 1) trace.Alias("merged", merged, "collective_time");
  kernel.time = Sum<Seconds>(trace, "context_exchange", Note{"Exchange of a context's parts per layer"},
                             {{"in_group", in_group, in_group > none}, {"merged", merged, merged > none}});
  kernel.bound = Bound::kNetwork;
  return kernel;
}

Seconds GatherPrompts(const Deployment& deployment, Bytes bytes, Trace& trace) {
  ExplainPromptGroup(deployment, trace);
  CollectiveCall call;
  call.type = CollectiveType::kAllGather;
  call.bytes = bytes;
  return Collective(deployment, "prefill_cp", call, deployment.network.prompt_group, trace).time;
}

KernelTime StageSend(const Deployment& deployment, double rows, Trace& trace) {
  KernelTime kernel;
  if (deployment.mapping.pp <= 1) return kernel;
  const Bytes residual_bytes = SentBytes(deployment.model, rows, "rows", trace);
  const StepTable& step = deployment.device.architecture->step;
  const Seconds send_start = step.send_launch;
  const double send_rate = step.send_efficiency;
  BindEstimate("send_start", send_start, deployment.device, trace);
  BindEstimate("send_rate", send_rate, deployment.device, trace);
  const Route& route = deployment.network.stage;
  const BytesPerSecond stage_link = route.link;
  BindRoute(route, deployment, trace);
  FIGURE(trace, hop_time, send_start + residual_bytes / (send_rate * stage_link),
         (Note{"Activations to the next pipeline stage", "send and launch; estimate"}), send_start, residual_bytes,
         send_rate, stage_link);
  kernel.time = OverFurtherWires(hop_time, "hop_time", route, deployment, trace);
  kernel.bound = Bound::kNetwork;
  return kernel;
}

}  // namespace slipstick
