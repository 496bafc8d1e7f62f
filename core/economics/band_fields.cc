#include "core/base/field_table.h"
#include "core/economics/band.h"

namespace slipstick {

constexpr FieldRow kBandFields[] = {
    Of<&Band::low>("low", "Low end as a ratio to the value, for cost studies").Share().Advanced().OutsideReports(),
    Of<&Band::high>("high", "High end as a ratio to the value, for cost studies")
        .Between(1, 100)
        .Advanced()
        .OutsideReports()};
constinit const Fields Schema<Band>::fields(kBandFields);

}  // namespace slipstick
