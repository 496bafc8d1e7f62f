// The recurrence of a layer in place of attention, over whole sequences: a short convolution, then tokens in chunks, and the state between
// them. An estimate: no kernel of these was measured here.
#pragma once

#include "core/base/trace.h"
#include "core/hardware/device.h"
#include "core/operators/kernel.h"
#include "core/workload/model.h"

namespace slipstick {

struct Recurrence {
  const LinearAttention& layer;
  double rows = 1;                // tokens of all sequences
  double tokens = 1;              // of a sequence, at once
  double heads = 1;               // on the device
  double columns = 0, inner = 0;  // elements of a token that go in and come out, on the device
};
KernelTime TimeOf(const Recurrence& recurrence, const Device& device, Trace& trace);

}  // namespace slipstick
