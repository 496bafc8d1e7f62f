#include <algorithm>

#include "core/base/field_table.h"
#include "core/base/fix.h"
#include "core/base/nearest_names.h"
#include "core/base/schema.h"
#include "core/catalogue/presets.h"
#include "core/collectives/collective.h"
#include "core/evaluation/kernel.h"
#include "core/operators/kernel.h"
#include "core/operators/kernel_family.h"
#include "core/software/engine.h"

namespace slipstick {
namespace {

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

// What a second pass of an engine's all-reduce adds; none for other libraries.
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
  ExpandPresets<Engine>(json, "collective.library", FindPreset, NearestPresets, issues);
  if (issues.empty()) Read(json, "collective.library", issues, engine);
  return engine.communication.second_pass;
}

std::string Joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace

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
    const std::string names = Joined(known);
    std::vector<std::string> near = NearestNames(line.algorithm, known);
    near.emplace_back("auto");
    return Issues{{"collective.algorithm",
                   internal::Shown(Json(line.algorithm)) + " does not apply here: choose auto" +
                       (names.empty() ? "" : ", " + names),
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

}  // namespace slipstick
