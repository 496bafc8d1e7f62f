// A batch whose requests start together: one prefill of all of them, then `output` decode steps.
#pragma once

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"
#include "core/serving/serving_memory.h"

namespace slipstick {

struct StaticBatch {
  Seconds ttft, tpot, latency;
};
StaticBatch TimeStaticBatch(const Deployment& deployment, double sequences, const KvCacheBudget& budget, Trace& trace);

}  // namespace slipstick
