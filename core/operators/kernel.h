// The result of every operator model.
#pragma once

#include "core/base/field.h"
#include "core/workload/precision.h"

namespace slipstick {

enum class Bound { kCompute, kMemory, kNetwork, kLatency, kL1, kL2 };
ENUM_NAMES(Bound, {kCompute, "compute"}, {kMemory, "memory"}, {kNetwork, "network"}, {kLatency, "latency"}, {kL1, "l1"},
           {kL2, "l2"});
static_assert(EnumNames<Bound>::names.size() == static_cast<std::size_t>(Bound::kL2) + 1);

struct KernelTime {
  Seconds time;
  Seconds compute;  // time of computation by itself
  Seconds memory;   // time of data movement by itself
  Bound bound = Bound::kCompute;
  Flops flops;         // useful FLOPs, without padding
  Bytes bytes;         // to and from device memory
  Bytes l2_bytes{};    // between L2 and the SMs
  Bytes l1_bytes{};    // between L1 or shared memory and the tensor cores
  Seconds l2{}, l1{};  // time of that traffic at the stated bandwidths, or of the SMs' intake if that bounds
                       // them; 0: neither
};

// The size of an element with the node of the choice of its format, if there is one; otherwise from the format.
inline Bytes SizeOf(Bytes chosen, Precision format) { return chosen > Bytes{} ? chosen : ElementSize(format); }

}  // namespace slipstick
