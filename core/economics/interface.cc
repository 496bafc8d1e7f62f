#include "core/economics/interface.h"

namespace slipstick {

LinkNeed NeedOf(const LinkInterface& interface, BytesPerSecond bandwidth) {
  const double modules = WholeAbove(bandwidth / interface.module_bandwidth);
  return {modules * interface.module_area, modules * interface.module_edge, bandwidth * interface.energy};
}

}  // namespace slipstick
