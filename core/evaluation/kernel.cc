#include "core/evaluation/kernel.h"

#include <algorithm>
#include <optional>

#include "core/base/field_table.h"
#include "core/base/fix.h"
#include "core/base/nearest_names.h"
#include "core/base/schema.h"
#include "core/collectives/collective.h"
#include "core/collectives/group_view.h"
#include "core/collectives/moe_exchange.h"
#include "core/hardware/cluster.h"
#include "core/mapping/placement.h"
#include "core/operators/kernel.h"
#include "core/scenario/designed_device.h"
#include "core/scenario/network_presets.h"
#include "core/software/engine.h"
#include "core/workload/exchanges.h"

namespace slipstick {
namespace {

// The request's cluster; default: dgx-h100.
Cluster ReadCluster(const Json& request, Issues& issues) {
  Cluster cluster;
  Json json = request.contains("cluster") ? request["cluster"] : Json{{"preset", "dgx-h100"}};
  ExpandNetworks(json, issues);
  if (json.contains("device")) DetachFromPreset(json["device"]);
  ExpandPresets<Cluster>(json, "cluster", issues);
  if (issues.empty()) Read(json, "cluster", issues, cluster);
  if (issues.empty() && cluster.device.design)
    issues = OverspentBudgets(*cluster.device.design, "cluster.device.design");
  if (issues.empty()) BuildDesign(cluster, std::nullopt, "cluster.device.design", issues);
  return cluster;
}

struct CollectiveRequest {
  CollectiveType kind = CollectiveType::kAllReduce;
  Bytes bytes;
  Count ranks = 1;
  std::string algorithm = "auto";
  std::string library = "nccl";
  SecondsPerByte reduction;
  Count chunks = 0;
  bool overlaps = false;
  double hops = 1;
};

}  // namespace

template <>
struct Schema<CollectiveRequest> {
  static constexpr FieldRow kRows[] = {
      Of<&CollectiveRequest::kind>("kind", "Collective").Required(),
      Of<&CollectiveRequest::bytes>("bytes", "Message size, as nccl-tests counts it").In(kMB).AtLeast(0).Required(),
      Of<&CollectiveRequest::ranks>("ranks", "Devices in the group").Between(1, 1 << 24).Required(),
      Of<&CollectiveRequest::algorithm>("algorithm", "Algorithm; auto: the fastest"),
      Of<&CollectiveRequest::library>(
          "library", "nccl, ideal (latency and bandwidth only), or a serving engine with its own kernels"),
      Of<&CollectiveRequest::reduction>("reduction", "ideal: time to reduce one received byte").AtLeast(0),
      Of<&CollectiveRequest::chunks>("chunks", "ideal: chunks of a pipelined algorithm; 0: the best number")
          .Between(0, 1 << 20),
      Of<&CollectiveRequest::overlaps>("overlaps", "ideal: latencies overlap with later messages (LogGP)"),
      Of<&CollectiveRequest::hops>("hops", "ideal: links per message").Between(1, 1 << 20)};
  static constexpr Fields fields{kRows};
};

namespace {

constexpr std::string_view kLibrary = "nccl", kIdeal = "ideal";

// Time that the second pass of an engine's all-reduce adds; nothing for other libraries.
std::optional<Seconds> SecondPassOf(const std::string& library, Issues& issues) {
  if (library == kLibrary || library == kIdeal) return {};
  Json json{{"preset", library}};
  if (FindPreset("engine", library) == nullptr) {
    std::vector<std::string> near = NearestPresets("engine", library);
    if (near.empty()) near.emplace_back(kLibrary);
    issues.push_back({"collective.library",
                      "Unknown library " + internal::Shown(Json(library)) + ": choose nccl, ideal or an engine",
                      SetToEach("collective.library", near)});
    return {};
  }
  Engine engine;
  ExpandPresets<Engine>(json, "collective.library", issues);
  if (issues.empty()) Read(json, "collective.library", issues, engine);
  return engine.communication.second_pass;
}

Result<Json> EvaluateCollective(const Json& request) {
  Issues issues;
  CollectiveRequest line;
  Read(request["collective"], "collective", issues, line);
  Cluster cluster = ReadCluster(request, issues);
  const std::optional<Seconds> second_pass = SecondPassOf(line.library, issues);
  if (issues.empty() && cluster.networks.empty() && line.ranks > 1) {
    issues.push_back({"cluster.networks", "Add a network level: " + std::to_string(line.ranks) + " ranks need one"});
  }
  if (!issues.empty()) return issues;

  cluster.devices = std::max<Count>(cluster.devices, line.ranks);
  CollectiveCall call{.type = line.kind, .bytes = line.bytes, .algorithm = line.algorithm};
  if (line.library == kIdeal) call.library = CollectiveLibrary::kAnalytic;
  call.alpha_beta = {.reduction = line.reduction, .hops = line.hops, .chunks = line.chunks, .overlaps = line.overlaps};
  if (second_pass) call.custom = CustomAllReduceOf(cluster.device.architecture->peer_reduce, *second_pass);
  const GroupPlacement group = PlaceFirst(cluster, static_cast<double>(line.ranks));
  const CollectiveTime answer = TimeOf(call, group, cluster);
  if (!answer.applies) {
    const std::vector<std::string_view> known = AlgorithmsFor(call, group, cluster);
    std::string names = "auto";
    for (const std::string_view name : known) names += ", " + std::string(name);
    std::vector<std::string> near = NearestNames(line.algorithm, known);
    near.emplace_back("auto");
    return Issues{{"collective.algorithm",
                   internal::Shown(Json(line.algorithm)) + " does not apply here: choose " + names,
                   SetToEach("collective.algorithm", near)}};
  }
  const bool is_short = answer.latency > 0.5 * answer.time;
  return Json{{"time_s", answer.time.base()},
              {"latency_s", answer.latency.base()},
              {"bound", NameOf(is_short ? Bound::kLatency : Bound::kNetwork)},
              {"flops", 0},
              {"bytes", answer.bytes.base()},
              {"algorithm", answer.algorithm}};
}

}  // namespace

// Dispatch or combine of an expert-parallel group by an engine's own kernels, timed alone.
enum class ExchangeDirection { kDispatch, kCombine };
ENUM_NAMES(ExchangeDirection, {kDispatch, "dispatch"}, {kCombine, "combine"});

namespace {

struct ExchangeRequest {
  ExchangeDirection kind{};
  ExchangeKernel kernel = ExchangeKernel::kLowLatency;
  Count tokens = 1, ranks = 8, experts = 256, top_k = 8, hidden = 7168;
  Precision precision = Precision::kFp8;
  std::optional<Count> node_limit;
  Count units = 24;
};

}  // namespace

template <>
struct Schema<ExchangeRequest> {
  static constexpr Count kMaxCount = Count{1} << 40;
  static constexpr FieldRow kRows[] = {
      Of<&ExchangeRequest::kind>("kind", "dispatch: tokens to their experts; combine: results back").Required(),
      Of<&ExchangeRequest::kernel>("kernel",
                                   "low_latency and normal (DeepEP), or domain (all ranks in one scale-up domain)"),
      Of<&ExchangeRequest::tokens>("tokens", "Tokens per rank").Between(1, kMaxCount).Required(),
      Of<&ExchangeRequest::ranks>("ranks", "Expert-parallel ranks").Between(1, 1 << 24).Required(),
      Of<&ExchangeRequest::experts>("experts", "Experts per layer").Between(1, 65536),
      Of<&ExchangeRequest::top_k>("top_k", "Experts per token (top-k)").Between(1, 65536),
      Of<&ExchangeRequest::hidden>("hidden", "Hidden size").Between(1, kMaxCount),
      Of<&ExchangeRequest::precision>("precision", "Precision of dispatched tokens; results return in 16 bit"),
      Of<&ExchangeRequest::node_limit>("node_limit", "Nodes that the experts of a token may lie on; default: all")
          .Between(1, 65536),
      Of<&ExchangeRequest::units>("units", "SMs that a normal kernel occupies").Between(1, 1024)};
  static constexpr Fields fields{kRows};
};

namespace {

Result<Json> EvaluateExchange(const Json& request) {
  Issues issues;
  ExchangeRequest line;
  Read(request["exchange"], "exchange", issues, line);
  const Cluster cluster = ReadCluster(request, issues);
  if (issues.empty() && cluster.networks.empty()) {
    issues.push_back({"cluster.networks", "Add a network level: ranks exchange their tokens over it"});
  }
  if (!issues.empty()) return issues;

  const auto ranks = static_cast<double>(line.ranks);
  const GroupPlacement group = PlaceFirst(cluster, ranks);
  ExpertExchange exchange;
  exchange.kernel = line.kernel;
  exchange.is_combine = line.kind == ExchangeDirection::kCombine;
  exchange.tokens = static_cast<double>(line.tokens);
  exchange.top_k = static_cast<double>(line.top_k);
  exchange.experts = static_cast<double>(line.experts);
  exchange.hidden = static_cast<double>(line.hidden);
  exchange.element_bytes = exchange.is_combine ? BytesPerElement(Precision::kBf16) : DispatchedElement(line.precision);
  SetWires(ViewOf(group, cluster), cluster, exchange);
  exchange.kernel_units = static_cast<double>(line.units);
  exchange.max_nodes_per_token = line.node_limit ? Ratio(*line.node_limit) : exchange.nodes;
  exchange.architecture = cluster.device.architecture;
  const ExpertExchangeTime answer = TimeOf(exchange);
  return Json{{"time_s", answer.time.base()},
              {"bound", NameOf(Bound::kNetwork)},
              {"flops", 0},
              {"bytes", answer.bytes.base()},
              {"algorithm", NameOf(line.kernel)}};
}

struct KernelForm {
  const char* member;
  Result<Json> (*evaluate)(const Json&);
};
constexpr KernelForm kForms[] = {
    {"operator", EvaluateOperator}, {"collective", EvaluateCollective}, {"exchange", EvaluateExchange}};

}  // namespace

Result<Json> EvaluateKernel(const Json& request) {
  if (!request.is_object()) return Issues{{"", "Must be an object, not " + internal::Shown(request)}};
  const KernelForm* form = nullptr;
  for (const KernelForm& one : kForms) {
    if (!request.contains(one.member)) continue;
    if (form != nullptr) {
      return Issues{{one.member,
                     "Give one of operator, collective and exchange, not several",
                     {LeaveOut(one.member), LeaveOut(form->member)}}};
    }
    form = &one;
  }
  if (form == nullptr) return Issues{{"operator", "Give an operator, a collective or an exchange"}};
  Result<Json> answer = form->evaluate(request);
  if (answer && (*answer)["time_s"].is_number() && (*answer)["bytes"].is_number() &&
      (*answer)["time_s"].get<double>() > 0) {
    (*answer)["bytes_per_s"] = (*answer)["bytes"].get<double>() / (*answer)["time_s"].get<double>();
  }
  return answer;
}

}  // namespace slipstick
