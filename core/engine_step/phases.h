// Types: prefill and decode of a load's requests on one attention group.
#pragma once

#include "core/engine_step/step.h"

namespace slipstick {

// The time that one prompt's prefill adds to the decode steps of the other sequences, and the time of the decode-only
// steps that its steps replace.
struct PrefillStall {
  Seconds added, replaced;
};

struct PrefillTimes {
  PassCost alone;  // one prompt in its own pass, on the devices
  Seconds first;   // `alone` plus the engine's overhead for that step
  Seconds shared;  // device time per prompt in a pass with as many prompts as the engine admits
  PrefillStall stall;
};

struct DecodeTimes {
  PassCost step;
  Seconds token;  // step time per output token and sequence: less than a step if drafts are accepted
  // KV cache that exceeds device memory, streamed from the host during the step.
  Bytes offloaded;
  Seconds transfer, exposed;  // over the host link; `exposed`: the part that the step does not hide
};

}  // namespace slipstick
