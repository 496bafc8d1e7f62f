#include "core/base/schema.h"
#include "core/study/kernel.h"

namespace slipstick {

Result<Json> EvaluateOperator(const Json&) { return Issues{{"operator.kind", "is needed"}}; }

}  // namespace slipstick
