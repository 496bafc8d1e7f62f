// Prefixes that hit the cache in host memory or on SSD: loaded once per request.
#pragma once

#include "core/engine_step/deployment.h"

namespace slipstick {

struct PrefixLoad {
  Seconds time;     // over the links
  Seconds exposed;  // not hidden by the pass
  Seconds stalls;   // part of `exposed` for which the other requests of the pass wait, too
};
// For a pass of `sequences` prompts, each with `cached` tokens in the prefix cache. `pass_time`: time of the pass
// without loading. Returns zeros if there are no tiers.
PrefixLoad LoadPrefixes(const Deployment& deployment, Ratio sequences, Ratio cached, Seconds pass_time);

}  // namespace slipstick
