#include "core/engine_step/host_link.h"

#include "core/base/figure.h"

namespace slipstick {

BytesPerSecond RateOfCopies(BytesPerSecond host_link, const Engine& engine) {
  return Figure("Rate of large copies over the host link", engine.communication.host_copy_efficiency * host_link);
}

BytesPerSecond RateOfCopies(BytesPerSecond host_link, const Engine& engine, Trace& trace) {
  const double host_copies = engine.communication.host_copy_efficiency;
  trace.Input("host_copies", host_copies, "serving.engine.host_copies");
  FIGURE(trace, host_rate, host_copies * host_link, (Note{"Rate of large copies over the host link"}), host_copies,
         host_link);
  return host_rate;
}

}  // namespace slipstick
