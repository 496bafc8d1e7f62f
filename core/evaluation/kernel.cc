#include "core/evaluation/kernel.h"

#include <utility>

#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/catalogue/presets.h"
#include "core/scenario/designed_device.h"

namespace slipstick {
namespace {

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

Cluster ReadCluster(const Json& request, Issues& issues) {
  Cluster cluster;
  Json json = request.contains("cluster") ? request["cluster"] : Json{{"preset", "dgx-h100"}};
  ExpandPresets<Cluster>(json, "cluster", FindPreset, NearestPresets, issues);
  if (issues.empty()) Read(json, "cluster", issues, cluster);
  if (issues.empty()) BuildDesign(cluster, std::nullopt, "cluster.device.design", issues);
  return cluster;
}

}  // namespace slipstick
