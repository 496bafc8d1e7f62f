#include "core/base/field_table.h"
#include "core/economics/partition.h"

namespace slipstick {

constexpr FieldRow kPartitionFields[] = {
    Of<&Partition::chiplets>("chiplets", "Chiplets: equal dies that the compute silicon is split into").Between(1, 64),
    Of<&Partition::overhead>("overhead", "Die-to-die share of the area, when no bandwidth is given").Between(0, 1),
    Of<&Partition::bandwidth>("bandwidth", "Die-to-die link bandwidth, both directions")
        .In(kGBps)
        .AtLeast(0)
        .AtMost(10'000'000),
    Of<&Partition::interface>("interface", "Die-to-die interface"),
    Of<&Partition::io_share>("io_share", "Share of the circuits moved to an I/O die").Between(0, 0.9),
    Of<&Partition::io_node>("io_node", "Process node of the I/O die"),
    Of<&Partition::package>("package", "Packaging; null: the device's own")};
constinit const Fields Schema<Partition>::fields(kPartitionFields);

}  // namespace slipstick
