#include "core/base/schema.h"
#include "core/study/kernel.h"

namespace slipstick {

Result<Json> EvaluateCollective(const Json&) { return Issues{{"collective.kind", "is needed"}}; }

}  // namespace slipstick
