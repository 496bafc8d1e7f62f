#include "core/study/evaluate.h"

namespace slipstick {

Result<Json> Evaluate(const Scenario& scenario, const ReportDetail&) { return Json{{"version", 1}, {"scenario", Write(scenario)}}; }

}  // namespace slipstick
