#include "core/engine_step/host_link.h"

namespace slipstick {

BytesPerSecond RateOfCopies(BytesPerSecond host_link, Trace& trace) {
  FIGURE(trace, host_rate, 0.85 * host_link,
         (Note{"Rate of large copies over the host link", "0.85 of its bandwidth; estimate"}), host_link);
  return host_rate;
}

}  // namespace slipstick
