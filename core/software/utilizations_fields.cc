#include "core/base/field_table.h"
#include "core/software/utilizations.h"

namespace slipstick {

constexpr FieldRow kUtilizationsFields[] = {
    Of<&Utilizations::compute>("compute", "Fraction of the dense peak that every operator reaches")
        .Label("Share of the dense peak")
        .Share(),
    Of<&Utilizations::memory>("memory",
                              "Fraction of the bandwidth of the memory and of each cache that every operator reaches")
        .Label("Share of memory and cache bandwidth")
        .Share(),
    Of<&Utilizations::network>("network", "Fraction of the bandwidth of each network level that every transfer reaches")
        .Label("Share of network bandwidth")
        .Share()};
constinit const Fields Schema<Utilizations>::fields(kUtilizationsFields);

}  // namespace slipstick
