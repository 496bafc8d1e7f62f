#include "core/collectives/named_terms.h"

#include "core/base/bind_inputs.h"
#include "core/collectives/library_network.h"

namespace slipstick {

FabricConstants Named(FabricConstants fabric, Trace& trace) {
  if (!trace.on()) return fabric;
  BindInputs(fabric, "fabrics." + fabric.id, [&trace](const BoundNumber& number) {
    const auto is_part = [&number](const char* key) { return number.path.find(key) != std::string::npos; };
    const bool is_in_step = is_part("hop_") || is_part("routed") || is_part("pod_jitter");
    return trace.tape().Constant(number.path, number.value, number.dimension, number.help,
                                 is_in_step ? kInStepSource : kLibrarySource);
  });
  return fabric;
}

}  // namespace slipstick
