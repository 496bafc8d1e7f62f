// Prefill of a recurrent layer (linear attention, state space): a short convolution, tokens in chunks, and the state
// between chunks. An estimate: no such kernel was measured.
#pragma once

#include "core/base/trace.h"
#include "core/hardware/device.h"
#include "core/operators/kernel.h"
#include "core/workload/model.h"

namespace slipstick {

struct Recurrence {
  const LinearAttention& layer;
  double rows = 1;                // tokens over all sequences
  double tokens = 1;              // per sequence
  double heads = 1;               // on the device
  double columns = 0, inner = 0;  // input and output elements per token, on the device
};
KernelTime TimeOf(const Recurrence& recurrence, const Device& device, Trace& trace);

}  // namespace slipstick
