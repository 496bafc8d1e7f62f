// Prefixes that hit the cache in host memory or on SSD: loaded once per request.
#pragma once

#include "core/engine_step/deployment.h"

namespace slipstick {

struct PrefixLoad {
  Seconds time;     // over the links
  Seconds exposed;  // not hidden by the pass
  Seconds stalls;   // of that, what the other requests of the pass wait for too
};
// For a pass of `sequences` prompts, each with `cached` tokens in the prefix cache, that takes `pass_time` without it.
// Nothing without tiers.
PrefixLoad LoadPrefixes(const Deployment& deployment, Ratio sequences, Ratio cached, Seconds pass_time);

}  // namespace slipstick
