#include "core/study/kernel.h"

#include "core/base/schema.h"

namespace slipstick {

Result<Json> EvaluateKernel(const Json& request) {
  if (!request.is_object()) return Issues{{"", "expected an object; got " + internal::Shown(request)}};
  const bool has_operator = request.contains("operator"), has_collective = request.contains("collective");
  if (has_operator && has_collective) return Issues{{"collective", "expected either an operator or a collective; got both"}};
  if (has_operator) return EvaluateOperator(request);
  if (has_collective) return EvaluateCollective(request);
  return Issues{{"operator", "is needed, or a collective"}};
}

}  // namespace slipstick
