#include "core/engine_step/host_link.h"

#include "core/base/figure.h"

namespace slipstick {

BytesPerSecond RateOfCopies(BytesPerSecond host_link, const EngineCommunication& engine) {
  return Figure("Rate of large copies over the host link", engine.host_copy_efficiency * host_link);
}

}  // namespace slipstick
