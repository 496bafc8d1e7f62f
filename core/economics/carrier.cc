#include "core/economics/carrier.h"

namespace slipstick {

std::optional<std::string> CarrierWarning(const DeviceBill& bill) {
  if (!bill.memory.in_package || bill.memory.stacks == 0 || bill.package.holds_hbm) return std::nullopt;
  return bill.memory.name + " needs a silicon interposer or bridge: an organic substrate cannot carry HBM";
}

}  // namespace slipstick
