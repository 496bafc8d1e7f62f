#include "core/economics/interface.h"

namespace slipstick {

LinkNeed NeedOf(const LinkInterface& interface, BytesPerSecond bandwidth) {
  const double modules = std::ceil(bandwidth / interface.module_bandwidth - 1e-9);
  return {static_cast<Count>(modules), modules * interface.module_area, modules * interface.module_edge, bandwidth * interface.energy};
}

}  // namespace slipstick
