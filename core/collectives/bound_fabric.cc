#include "core/collectives/bound_fabric.h"

#include <memory>

#include "core/base/bind_inputs.h"
#include "core/collectives/fabric.h"
#include "core/collectives/library_network.h"

namespace slipstick {
namespace {

FabricConstants WithNodes(FabricConstants fabric, Tape& tape) {
  BindNumbers(fabric, "fabrics." + fabric.id, [&tape](const BoundNumber& number) {
    const auto is_part = [&number](const char* key) { return number.path.find(key) != std::string::npos; };
    const bool is_in_step = is_part("hop_") || is_part("routed") || is_part("pod_jitter");
    return tape.Constant(number.path, number.value, number.dimension, number.help,
                         is_in_step ? kInStepSource : kLibrarySource);
  });
  return fabric;
}

}  // namespace

void BindNetworks(std::vector<NetworkLevel>& networks, Tape& tape) {
  BindInputs(networks, "cluster.networks", &tape);
  for (NetworkLevel& level : networks) {
    const FabricConstants& plain = *level.fabric;
    level.fabric = Fabric(tape.Kept<FabricConstants>(
        "fabrics." + plain.id, [&plain, &tape] { return std::make_shared<FabricConstants>(WithNodes(plain, tape)); }));
  }
}

}  // namespace slipstick
