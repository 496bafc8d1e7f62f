// One pass of the transformer on one of the devices that share it.
#pragma once

#include "core/diffusion/latents.h"

namespace slipstick {

// Total time and work of several kernels.
struct KernelSum {
  Seconds time;
  Flops flops;
  Bytes bytes;
  void Add(const KernelTime& kernel, Ratio times);
};

struct TransformerPass {
  KernelSum products, attention, row_kernels;
  Seconds communication;
  Ratio launches = 0;  // operations that the host launches one by one
  [[nodiscard]] Seconds OnDevice() const { return products.time + attention.time + row_kernels.time + communication; }
};
TransformerPass PassOf(const Request& request, const Device& device, const Cluster& cluster);

// A product in a given format, in a step that runs long.
KernelTime ProductOf(Ratio rows, Ratio outputs, Ratio inputs, Precision precision, const Device& device);

}  // namespace slipstick
