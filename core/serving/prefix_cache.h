// Prefixes that hit the cache in host memory or on SSD: loaded once per request.
#pragma once

#include <string_view>

#include "core/base/trace.h"
#include "core/engine_step/deployment.h"

namespace slipstick {

struct PrefixLoad {
  Seconds time;     // over the links
  Seconds exposed;  // not hidden by the pass
};
// For a pass of `sequences` prompts, each with `cached` tokens in the prefix cache. `pass_time_is`: the figure of the
// pass without it. Recorded as prefix_load and exposed_load. Nothing without tiers.
PrefixLoad LoadPrefixes(const Deployment& deployment, double sequences, double cached, Seconds pass_time,
                        std::string_view pass_time_is, Trace& trace);

}  // namespace slipstick
