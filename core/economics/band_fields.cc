#include "core/base/field_table.h"
#include "core/economics/band.h"

namespace slipstick {

constexpr FieldRow kBandFields[] = {
    Of<&Band::low>("low", "Low end as a ratio to the value. Used by cost studies only, by no figure of a report")
        .Above(0)
        .AtMost(1)
        .Advanced(),
    Of<&Band::high>("high", "High end as a ratio to the value. Used by cost studies only, by no figure of a report")
        .Between(1, 100)
        .Advanced()};
constinit const Fields Schema<Band>::fields(kBandFields);

}  // namespace slipstick
