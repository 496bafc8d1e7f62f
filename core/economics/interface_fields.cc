#include "core/base/field_table.h"
#include "core/economics/interface.h"

namespace slipstick {

constexpr FieldRow kLinkInterfaceFields[] = {
    Of<&LinkInterface::preset>("preset", "Preset; fields below override it"),
    Of<&LinkInterface::name>("name", "Name"),
    Of<&LinkInterface::module_bandwidth>("module_bandwidth", "Bandwidth per module, both directions")
        .In(kGBps)
        .Above(0)
        .AtMost(1'000'000),
    Of<&LinkInterface::module_area>("module_area", "Die area per module").In(kMm2).AtLeast(0).AtMost(1000),
    Of<&LinkInterface::module_edge>("module_edge", "Die edge (shoreline) per module").In(kMm).AtLeast(0).AtMost(100),
    Of<&LinkInterface::energy>("energy", "Energy per bit transferred").In(kPJPerBit).AtLeast(0).AtMost(1000),
    Of<&LinkInterface::energy_band>("energy_band", "Uncertainty of the energy").Advanced()};
constinit const Fields Schema<LinkInterface>::fields(kLinkInterfaceFields);

}  // namespace slipstick
