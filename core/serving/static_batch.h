// A batch whose requests start together: one prefill of all of them, then `output` decode steps.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/serving/serving_memory.h"

namespace slipstick {

struct StaticBatch {
  Seconds ttft, tpot, latency;
};
StaticBatch TimeStaticBatch(const Deployment& deployment, Ratio sequences, const KvCacheBudget& budget);

}  // namespace slipstick
