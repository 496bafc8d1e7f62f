#include "core/collectives/fabric.h"

#include <array>

namespace slipstick {
namespace {

// nvlink, pcie: fitted to ai-dynamo/aiconfigurator NCCL tables at 095f58a (A100 to GB200, RTX PRO 6000); levels of the
// catalogue state their own setup and step. xgmi: RCCL bus bandwidths of 2 to 8 MI300X, AMD. infiniband: plateaus of DGX
// A100 and H100, 0.925 to 0.967 of the NIC. gaudi, neuronlink, ici, roce, efa, tcp: estimates from vendors' plateaus.
constexpr std::array<FabricConstants, 11> kFabrics{{
    // fabric          out    setup     short long  exch  own  copy pair  nvls beyond outer
    {Fabric::kNvlink, false, 7 * kUs, 0.32, 0.82, 0.72, 1.3, 1.8, 0.77, 0.6, 1, 0.95},
    {Fabric::kPcie, false, 4 * kUs, 0.32, 0.82, 0.72, 1.3, 1.8, 0.77, 0.6, 0.55, 0.95},
    {Fabric::kXgmi, false, 15 * kUs, 0.32, 0.72, 0.72, 0, 1.8, 0.72, 0.6, 1, 0.95},
    {Fabric::kIci, false, 7 * kUs, 0.32, 0.85, 0.85, 0, 1.8, 0.85, 0.6, 1, 0.9},
    {Fabric::kGaudi, false, 15 * kUs, 0.32, 0.75, 0.75, 0, 1.8, 0.75, 0.6, 1, 0.9},
    {Fabric::kNeuronlink, false, 15 * kUs, 0.32, 0.75, 0.75, 0, 1.8, 0.75, 0.6, 1, 0.8},
    {Fabric::kInfiniband, true, 7 * kUs, 0.4, 0.95, 0.95, 0, 1.8, 0.92, 0.6, 1, 0.95},
    {Fabric::kRoce, true, 7 * kUs, 0.4, 0.9, 0.9, 0, 1.8, 0.9, 0.6, 1, 0.9},
    {Fabric::kEfa, true, 7 * kUs, 0.4, 0.8, 0.8, 0, 1.8, 0.8, 0.6, 1, 0.8},
    {Fabric::kTcp, true, 7 * kUs, 0.4, 0.7, 0.7, 0, 1.8, 0.7, 0.6, 1, 0.7},
    {Fabric::kGeneric, false, 7 * kUs, 0.32, 0.82, 0.72, 1.3, 1.8, 0.77, 0.6, 1, 0.95},
}};

}  // namespace

const FabricConstants& ConstantsOf(Fabric fabric) {
  for (const FabricConstants& row : kFabrics) {
    if (row.fabric == fabric) return row;
  }
  return kFabrics.back();
}

}  // namespace slipstick
