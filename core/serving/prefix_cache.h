// Prefixes that hit the cache in host memory or on SSD: loaded once per request.
#pragma once

#include "core/engine_step/deployment.h"
#include "core/engine_step/step.h"

namespace slipstick {

// Time to load contexts that are in host memory and on SSD; those on SSD come over the host link, too.
Seconds TimeOfLoad(const Deployment& deployment, Bytes host, Bytes ssd);
// The part of a load that a pass does not hide, if it is awaited. By layer, each layer's load overlaps the computation
// of the layers before; the first layer's is never hidden.
Seconds ExposedLoad(const Deployment& deployment, Seconds load, Seconds pass_time);

// For a pass of `sequences` prompts, each with `cached` tokens in the prefix cache. `pass_time`: time of the pass
// without loading. Returns zeros if there are no tiers.
PrefixLoad LoadPrefixes(const Deployment& deployment, Ratio sequences, Ratio cached, Seconds pass_time);

}  // namespace slipstick
