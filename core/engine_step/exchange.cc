#include "core/engine_step/exchange.h"

#include "core/base/figure.h"
#include "core/collectives/group_view.h"
#include "core/collectives/moe_exchange.h"
#include "core/operators/cache_levels.h"
#include "core/operators/efficiency.h"
#include "core/workload/exchanges.h"

namespace slipstick {
namespace {

// Ranks of a group, its ranks in one scale-up domain, and the number of domains.
struct GroupSizes {
  Ratio ranks = 1, inner = 1, domains = 1;
};

// The group of the first `ranks` devices of a replica.
GroupSizes FirstRanks(const Deployment& deployment, Ratio ranks) {
  if (deployment.cluster.networks.size() < 2) return {ranks, ranks};
  const Ratio domains =
      Figure("Scale-up domains that a group spans", ceil(ranks / Ratio(deployment.cluster.networks.front().size)));
  return {ranks, Figure("Ranks of a group in a scale-up domain", ranks / domains), domains};
}

// The ranks that split a prompt: one device of each tensor group.
GroupSizes PromptRanks(const Deployment& deployment) {
  const Ratio ranks = deployment.mapping.prefill_cp, domain(deployment.cluster.networks.front().size);
  const Ratio inner =
      Figure("Ranks of a group in a scale-up domain",
             min(ranks, max(1, floor(domain / deployment.mapping.devices_per_group))), "one of each tensor group");
  return {ranks, inner, Figure("Scale-up domains that a group spans", ranks / inner)};
}

// The number of a placement; as the formula that explains it, if that gives the same value.
Ratio As(Ratio formula, Ratio placed) { return formula == placed ? formula : placed; }

// The network's view of a group. `sizes_of()` gives its sizes as formulas of the degrees.
template <class SizesOf>
GroupView ViewOf(const GroupPlacement& group, const Deployment& deployment, const SizesOf& sizes_of) {
  GroupView view = ViewOf(group, deployment.cluster);
  if (view.count == 0 || view.levels[0].devices.node() == nullptr) return view;
  const GroupSizes sizes = sizes_of();
  view.ranks = As(sizes.ranks, view.ranks);
  view.nodes = As(sizes.domains, view.nodes);
  for (int i = 0; i < view.count; ++i) {
    LevelView& level = view.levels[i];
    level.ranks = As(level.index == 0 ? sizes.inner : sizes.domains, level.ranks);
    RestOnBlock(level);
  }
  if (view.count == 1) view.ranks = view.levels[0].ranks;
  return view;
}

template <class SizesOf>
Seconds Collective(const Deployment& deployment, std::string_view group_name, const CollectiveCall& call,
                   const GroupPlacement& group, const SizesOf& sizes_of) {
  if (deployment.log != nullptr) deployment.log->Add(group_name, call, group, deployment.cluster);
  return TimeOf(call, ViewOf(group, deployment, sizes_of), deployment.cluster.collectives).time;
}

// The group of devices that share the experts.
Ratio ExpertGroup(const Deployment& deployment) {
  return Figure("Devices that share the experts",
                deployment.mapping.devices_per_group * deployment.mapping.attention_dp, "of all attention groups");
}
Seconds AmongExperts(const Deployment& deployment, CollectiveType type, Bytes bytes) {
  return Collective(deployment, "ep", {.type = type, .bytes = bytes}, deployment.network.experts_group,
                    [&] { return FirstRanks(deployment, ExpertGroup(deployment)); });
}

// Among the ranks that split a prompt.
Seconds AmongPrompts(const Deployment& deployment, CollectiveType type, Bytes bytes) {
  return Collective(deployment, "prefill_cp", {.type = type, .bytes = bytes}, deployment.network.prompt_group,
                    [&] { return PromptRanks(deployment); });
}

}  // namespace

ExchangeCost AllReduce(const Deployment& deployment, Bytes bytes, bool waits_for_host) {
  const Ratio devices = deployment.mapping.devices_per_group;
  if (devices <= 1) return {};
  const GroupPlacement& group = deployment.network.tensor_group;
  CollectiveCall call{.type = CollectiveType::kAllReduce, .bytes = bytes};
  call.custom = deployment.network.custom_all_reduce;
  // Hosts launch independently: the wait for the last host grows with log2 of the ranks.
  if (waits_for_host)
    call.launch =
        Figure("Wait for the last host", deployment.engine.communication.nccl_launch * log2(As(devices, group.Ranks())),
               "hosts launch independently");
  const Seconds taken = Collective(deployment, "tp", call, group, [&] { return FirstRanks(deployment, devices); });
  if (!call.custom) return {NetworkTime(taken), true};
  return {NetworkTime(Figure("All-reduce inside a step", taken + deployment.engine.communication.rank_skew,
                             "its own time and the skew between ranks"))};
}

namespace {

ExchangeKernel KernelOf(const ExchangeKernels& row, Phase phase) {
  return phase == Phase::kDecode ? row.decode : row.prefill;
}

// One direction, dispatch or combine, by the engine's kernels.
ExpertExchange OneWay(const Deployment& deployment, Ratio busiest_tokens, Phase phase) {
  const Moe& moe = *deployment.model.moe;
  const ExchangeKernels& row = *deployment.network.expert_exchange;
  ExpertExchange one;
  one.kernel = KernelOf(row, phase);
  one.tokens = busiest_tokens;
  one.top_k = moe.top_k;
  one.experts = deployment.shapes.experts;
  one.hidden = RoutedWidth(deployment.model);
  one.kernel_units = row.units;
  one.architecture = deployment.device.architecture;
  SetWires(ViewOf(deployment.network.experts_group, deployment,
                  [&] { return FirstRanks(deployment, ExpertGroup(deployment)); }),
           deployment.cluster, one);
  one.max_nodes_per_token = moe.node_limit > 0 ? Ratio(moe.node_limit) : one.nodes;
  return one;
}

// Dispatch and combine by the engine's kernels.
ExpertTraffic OwnKernels(const Deployment& deployment, Ratio rows, Phase phase) {
  const Ratio own_tokens = Figure("Tokens of a device", rows / deployment.mapping.tp, "of its attention group");
  ExpertExchange one = OneWay(deployment,
                              Figure("Tokens that the busiest device receives and returns",
                                     own_tokens * ImbalanceOf(deployment), "its link is the bottleneck"),
                              phase);
  const Precision format = NativePrecision(deployment.device, deployment.formats.activations);
  one.element_bytes = deployment.InputAt("serving.precision.activations", Ratio(DispatchedElement(format)));
  const Seconds dispatch = Figure("Dispatch", TimeOf(one).time, "in the experts' format");
  one.is_combine = true;
  one.element_bytes = 2;
  const Seconds combine = Figure("Combine", TimeOf(one).time, "in 16 bit");
  return {NetworkTime(Figure("Dispatch and combine", dispatch + combine)), dispatch, combine, own_tokens};
}

}  // namespace

Ratio AllTokens(const Deployment& deployment, Ratio rows, Phase phase) {
  const ServingDegrees& mapping = deployment.mapping;
  const Ratio groups = phase == Phase::kPrefill ? mapping.prefilling_groups : mapping.attention_dp;
  return Figure("Tokens of all attention groups", groups * rows);
}

Ratio UnitsTaken(const Deployment& deployment, Phase phase) {
  const ExchangeKernels* row = deployment.network.expert_exchange;
  if (row == nullptr || KernelOf(*row, phase) != ExchangeKernel::kNormal) return 0;
  return Figure("Share of the SMs that the exchange occupies",
                min(0.9, Ratio(row->units) / Ratio(deployment.device.units)));
}

ExpertTraffic GatherTokens(const Deployment& deployment, Ratio rows, Phase phase) {
  const Ratio all_tokens = AllTokens(deployment, rows, phase);
  const Bytes bytes = RoutedBytes(all_tokens, RoutedWidth(deployment.model));
  const Seconds dispatch = AmongExperts(deployment, CollectiveType::kAllGather, bytes),
                combine = AmongExperts(deployment, CollectiveType::kReduceScatter, bytes);
  const Seconds both = Figure("Dispatch and combine", dispatch + combine,
                              "all-gather of the tokens of all groups, reduce-scatter of the experts' results");
  return {NetworkTime(both), dispatch, combine, all_tokens};
}

ExpertTraffic SendTokens(const Deployment& deployment, Ratio rows, Phase phase) {
  if (deployment.network.expert_exchange != nullptr) return OwnKernels(deployment, rows, phase);
  // Experts split over all devices (ep 1) need every token on every device.
  const bool is_split = deployment.mapping.ep <= 1;
  const Ratio ranks = As(ExpertGroup(deployment), deployment.network.experts_group.Ranks());
  const Ratio copies = is_split ? ranks : OwnersReached(ranks, Ratio(deployment.model.moe->top_k));
  const Ratio sent = Figure("Copies of its tokens that a rank sends", rows / deployment.mapping.tp * copies,
                            "one per rank that holds an expert");
  const Seconds one_way =
      AmongExperts(deployment, CollectiveType::kAllToAll, RoutedBytes(sent, RoutedWidth(deployment.model)));
  const Seconds both = Figure("Dispatch and combine", 2 * one_way,
                              "an all-to-all each way: one copy per rank that holds an expert of the token");
  return {NetworkTime(both), one_way, one_way, is_split ? AllTokens(deployment, rows, phase) : rows};
}

Seconds TimeOfSend(std::string_view title, Bytes bytes, const Route& route, const Deployment& deployment,
                   std::string_view note) {
  const StepTable& step = deployment.device.architecture->step;
  const Seconds one_wire = Figure(title, step.send_launch + bytes / (step.send_efficiency * route.link), note);
  if (route.wires <= 1) return one_wire;
  return Figure("The message over all wires", one_wire + (route.wires - 1) * route.wire_latency);
}

namespace {

// Elements of a query per head; with latent attention, of the latent query.
Ratio QueryWidth(const Deployment& deployment) {
  return deployment.model.mla ? Ratio(deployment.model.mla->kv_lora_rank) : deployment.shapes.head_dim;
}

// Sends queries to the ranks of a tensor group that split a context, and partial results back.
Seconds ExchangeInGroup(const Deployment& deployment, Ratio rows) {
  const Bytes bytes = QueryBytes(rows, deployment.shapes.decode_heads, QueryWidth(deployment));
  const auto taken = [&](CollectiveType type) {
    return Collective(deployment, "cp", {.type = type, .bytes = bytes}, deployment.network.context_group,
                      [&] { return FirstRanks(deployment, deployment.mapping.cp); });
  };
  const Seconds queries = taken(CollectiveType::kAllGather), answers = taken(CollectiveType::kReduceScatter);
  return Figure("Queries to the parts of a context and partial results back", queries + answers,
                "each rank attends to its part; weighted sums are added", "Helix parallelism, arXiv 2507.07120");
}

}  // namespace

KernelTime ContextExchange(const Deployment& deployment, Ratio rows) {
  if (deployment.mapping.context_ranks <= 1) return {};
  Seconds exchange;
  if (deployment.mapping.cp > 1) exchange += ExchangeInGroup(deployment, rows);
  // The tensor groups that split a context add up their partial results.
  if (deployment.mapping.prefill_cp > 1)
    exchange += AmongPrompts(deployment, CollectiveType::kAllReduce,
                             QueryBytes(rows, deployment.shapes.widths.heads, QueryWidth(deployment)));
  return NetworkTime(Figure("Exchange of a context's parts per layer", exchange));
}

KernelTime StageSend(const Deployment& deployment, Ratio rows) {
  if (deployment.mapping.pp <= 1) return {};
  const Ratio streams = deployment.model.compressed ? Ratio(deployment.model.compressed->streams) : Ratio(1);
  const Bytes sent = SentBytes(rows, streams, Ratio(deployment.model.hidden));
  return NetworkTime(TimeOfSend("Activations to the next pipeline stage", sent, deployment.network.stage, deployment,
                                "send and launch; estimate"));
}

namespace {

constexpr std::string_view kRingSource =
    "ring attention, pass-KV: Context Parallelism for Scalable Million-Token Inference, arXiv 2411.01783";

// Keys and values of all ranks, as one rank receives them.
Bytes GatheredBytes(const Deployment& deployment, const PrefillPass& pass) {
  const Ratio seen =
      Figure("Tokens with keys and values", pass.sequences * (pass.tokens + pass.cached), "of all prompts");
  const std::optional<Mla>& mla = deployment.model.mla;
  // The latent and its rotary part.
  if (mla) return KeyValueBytes(seen, 1, Ratio(mla->kv_lora_rank), Ratio(mla->rope_head_dim));
  const RankShapes& shapes = deployment.shapes;
  return KeyValueBytes(seen, shapes.widths.kv_heads, shapes.head_dim, shapes.head_dim);
}

// Attention to each rank's part is a separate kernel; its result is added to the earlier ones.
Seconds MergeTime(const Deployment& deployment, const PrefillPass& pass) {
  const Ratio prefill_cp = deployment.mapping.prefill_cp;
  const Ratio value_dim =
      deployment.model.mla ? Ratio(deployment.model.mla->value_head_dim) : deployment.shapes.head_dim;
  const Seconds launch = *deployment.device.efficiency.launch_latency;
  const BytesPerSecond bandwidth = SlowestStream(deployment.device).bandwidth;
  const Bytes merged =
      Figure("Bytes of adding a part to the result",
             pass.sequences * pass.tokens / prefill_cp * deployment.shapes.widths.heads * value_dim * (10 * kB),
             "a sum in fp32 read and written, a new part in 16 bit read");
  return Figure("Further kernels of a ring",
                (prefill_cp - 1) *
                    (2 * launch + merged / (deployment.engine.kernels.elementwise_bandwidth_efficiency * bandwidth)),
                "attention to each further part, and the addition of its result", kRingSource);
}

}  // namespace

KernelTime PromptExchangeTime(const Deployment& deployment, const PrefillPass& pass, Seconds own_attention) {
  const Ratio prefill_cp = deployment.mapping.prefill_cp;
  const Seconds transfer = AmongPrompts(deployment, CollectiveType::kAllGather, GatheredBytes(deployment, pass));
  if (deployment.engine.communication.prompt_exchange != PromptExchange::kRing)
    return NetworkTime(Figure("Keys and values of all ranks, per layer", transfer, "gathered before attention",
                              "vLLM issue 25749; SGLang pull request 12207"));
  const Seconds merging = MergeTime(deployment, pass);
  return NetworkTime(Figure("Exchange of a ring, per layer",
                            max(0 * kS, transfer - (prefill_cp - 1) / prefill_cp * own_attention) + merging,
                            "each part is sent while attention works on the one before", kRingSource));
}

std::vector<NetworkLevelTime> NetworkTimeByLevel(const Deployment& deployment, const OperatorBreakdown& operators,
                                                 Seconds network) {
  const Cluster& cluster = deployment.cluster;
  const ServingNetwork& groups = deployment.network;
  const auto level_of = [&](std::string_view name) {
    if (name == kStageSend) return groups.stage.level;
    if (name == kExpertExchange) return SlowestLevel(CollectiveType::kAllToAll, groups.experts_group, cluster);
    const GroupPlacement& context = deployment.mapping.prefill_cp > 1 ? groups.prompt_group : groups.context_group;
    return SlowestLevel(CollectiveType::kAllReduce, name == kContextExchange ? context : groups.tensor_group, cluster);
  };
  Seconds sum;
  for (const OperatorTime& one : operators) {
    if (one.kernel.bound == Bound::kNetwork) sum += one.count * one.kernel.time;
  }
  NetworkLevelTimes levels(cluster);
  Seconds to_host;
  for (const OperatorTime& one : operators) {
    if (one.kernel.bound != Bound::kNetwork) continue;
    const Seconds part = network * (one.count * one.kernel.time / sum);
    if (WaitsForHost(one.name)) {
      to_host += part;
    } else {
      levels.Add(level_of(one.name), part);
    }
  }
  return levels.List(to_host);
}

BytesPerSecond RateOfCopies(BytesPerSecond host_link, const EngineCommunication& engine) {
  return Figure("Rate of large copies over the host link", engine.host_copy_efficiency * host_link);
}

namespace {

// Engines balance the experts if they replicate some, or exchange tokens over many devices with their own kernels;
// within a server no engine does. The mean load of n experts deviates by 1/sqrt(n) of one expert's deviation, and the
// busiest of p devices lies sqrt(2 ln p) deviations above the mean.
Ratio ExpectedImbalance(const Deployment& deployment) {
  const Ratio experts = deployment.shapes.experts, ep = deployment.mapping.ep;
  const bool is_balanced = deployment.load.redundant_experts > 0 || deployment.network.expert_exchange != nullptr;
  const Ratio variation = is_balanced ? deployment.engine.kernels.load_variation
                                      : deployment.device.architecture->experts.routing_preference;
  return Figure(
      "Imbalance to expect",
      min(min(ep, experts / Ratio(deployment.model.moe->top_k)), 1 + variation * sqrt(2 * log(ep) * ep / experts)),
      "of how much likelier some experts are, or what a balancer with redundant copies leaves of that; a "
      "token goes to each expert once");
}

}  // namespace

// Every device holds the same number of copies. If the model states an imbalance, redundant copies share the tokens of
// the busiest experts; if not, the expected imbalance applies.
Ratio ImbalanceOf(const Deployment& deployment) {
  const Ratio ep = deployment.mapping.ep, redundant(deployment.load.redundant_experts);
  if (ep <= 1) return 1;
  if (!deployment.model.moe->imbalance) return ExpectedImbalance(deployment);
  const Ratio stated = *deployment.model.moe->imbalance, shared = 1 + (stated - 1) / (1 + redundant / ep);
  return Figure("Tokens of the busiest device over the mean",
                Exactly(redundant > 0 ? shared.base() : stated.base(), shared),
                "the excess is shared with the redundant copies of the busiest experts");
}

}  // namespace slipstick
