// Prefill of a recurrent layer (linear attention, state space): a short convolution, tokens in chunks, and the state
// between chunks. An estimate: no such kernel was measured.
#pragma once

#include "core/hardware/device.h"
#include "core/operators/kernel.h"

namespace slipstick {

struct Recurrence {
  bool by_channel = false;  // Mamba's first version: no matrix products
  Ratio head_dim = 1, state = 1;
  Ratio rows = 1;                // tokens over all sequences
  Ratio tokens = 1;              // per sequence
  Ratio heads = 1;               // on the device
  Ratio columns = 0, inner = 0;  // input and output elements per token, on the device
};
KernelTime TimeOf(const Recurrence& layer, const Device& device);

}  // namespace slipstick
