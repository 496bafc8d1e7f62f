#include "core/base/field_table.h"
#include "core/hardware/cluster.h"

namespace slipstick {

constexpr FieldRow kClusterFields[] = {
    Of<&Cluster::preset>("preset", "Preset; fields below override it"),
    Of<&Cluster::name>("name", "Name"),
    Of<&Cluster::device>("device", "The accelerator").Label("Device"),
    Of<&Cluster::devices>("devices", "Number of devices").Label("Devices").Between(1, 1 << 24),
    Of<&Cluster::networks>("networks", "Network levels, innermost first").Label("Network").Advanced(),
    Of<&Cluster::collectives>("collectives", "Collectives: library and algorithms").Advanced()};
constinit const Fields Schema<Cluster>::fields(kClusterFields);

}  // namespace slipstick
