// A file of recorded requests. The requests read are counted, not simulated.
#include "core/replay/read_trace.h"
#include "core/replay/trace_summary.h"
#include "tests/fuzz/text_fuzz.h"

FUZZ_JSON(text) {
  slipstick::Result<slipstick::RequestTrace> trace = slipstick::ReadTrace(text);
  if (trace.value.has_value() == !trace.issues.empty()) std::abort();
  if (!trace) return;
  slipstick::SetArrivals(*trace, {});
  if (slipstick::SummaryOf(*trace).requests < 1) std::abort();
}
