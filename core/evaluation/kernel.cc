#include "core/evaluation/kernel.h"

#include <utility>

#include "core/base/fix.h"
#include "core/base/schema.h"

namespace slipstick {

Result<Json> EvaluateKernel(const Json& request) {
  if (!request.is_object()) return Issues{{"", "Must be an object, not " + internal::Shown(request)}};
  const bool has_operator = request.contains("operator"), has_collective = request.contains("collective");
  if (has_operator && has_collective)
    return Issues{{"collective", "Give an operator or a collective, not both", {LeaveOut("collective"), LeaveOut("operator")}}};
  if (!has_operator && !has_collective) return Issues{{"operator", "Give an operator or a collective"}};
  Result<Json> answer = has_operator ? EvaluateOperator(request) : EvaluateCollective(request);
  if (answer && (*answer)["time_s"].is_number() && (*answer)["bytes"].is_number() && (*answer)["time_s"].get<double>() > 0) {
    (*answer)["bytes_per_s"] = (*answer)["bytes"].get<double>() / (*answer)["time_s"].get<double>();
  }
  return answer;
}

}  // namespace slipstick
