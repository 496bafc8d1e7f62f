#include "core/base/field_table.h"
#include "core/hardware/cluster.h"

namespace slipstick {

constexpr FieldRow kClusterFields[] = {Of<&Cluster::preset>("preset", "Catalogue entry that the other members override"),
                                       Of<&Cluster::name>("name", "What to call it"), Of<&Cluster::device>("device", "The accelerator"),
                                       Of<&Cluster::devices>("devices", "How many there are").Between(1, 1 << 24),
                                       Of<&Cluster::networks>("networks", "Levels from the innermost out").Advanced()};
constinit const Fields Schema<Cluster>::fields(kClusterFields);

}  // namespace slipstick
