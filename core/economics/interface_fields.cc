#include "core/base/field_table.h"
#include "core/economics/interface.h"

namespace slipstick {

constexpr FieldRow kLinkInterfaceFields[] = {
    Of<&LinkInterface::preset>("preset", "Catalogue entry that the other members override"),
    Of<&LinkInterface::name>("name", "What to call it"),
    Of<&LinkInterface::module_bandwidth>("module_bandwidth", "Of one module, both directions").In(kGBps).Above(0).AtMost(1'000'000),
    Of<&LinkInterface::module_area>("module_area", "Of one module on a die").In(kMm2).AtLeast(0).AtMost(1000),
    Of<&LinkInterface::module_edge>("module_edge", "Die edge that one module takes").In(kMm).AtLeast(0).AtMost(100),
    Of<&LinkInterface::energy>("energy", "Of what crosses").In(kPJPerBit).AtLeast(0).AtMost(1000),
    Of<&LinkInterface::energy_band>("energy_band", "How far it may lie from that").Advanced()};
constinit const Fields Schema<LinkInterface>::fields(kLinkInterfaceFields);

}  // namespace slipstick
