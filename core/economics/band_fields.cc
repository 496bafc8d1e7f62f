#include "core/base/field_table.h"
#include "core/economics/band.h"

namespace slipstick {

constexpr FieldRow kBandFields[] = {
    Of<&Band::low>("low", "Low end over the value. No figure of a report uses it: it acts in a cost study").Above(0).AtMost(1).Advanced(),
    Of<&Band::high>("high", "High end over the value. No figure of a report uses it: it acts in a cost study").Between(1, 100).Advanced()};
constinit const Fields Schema<Band>::fields(kBandFields);

}  // namespace slipstick
