// Types: prefill and decode of a load's requests on one attention group.
#pragma once

#include "core/engine_step/step.h"

namespace slipstick {

// What one prompt's prefill adds to the decode steps of the other sequences, and the decode-only steps that its steps
// stand for.
struct PrefillStall {
  Seconds added, replaced;
};

struct PrefillTimes {
  PassCost alone;  // one prompt in a pass of its own, on the devices
  Seconds first;   // `alone` with the engine's overhead of that step
  Seconds shared;  // devices' time per prompt when a pass takes as many prompts as the engine admits
  PrefillStall stall;
};

struct DecodeTimes {
  PassCost step;
  Seconds token;  // step time per output token and sequence: shorter than a step when drafts are accepted
  // KV cache beyond the device's memory, streamed from the host during the step.
  Bytes offloaded;
  Seconds transfer, exposed;  // over the host link; the part not hidden by the step
};

}  // namespace slipstick
