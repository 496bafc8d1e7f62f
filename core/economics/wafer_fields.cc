#include "core/base/field_table.h"
#include "core/economics/wafer.h"

namespace slipstick {

constexpr auto kWaferFields =
    Advanced({Of<&Wafer::diameter>("diameter", "Wafer diameter").In(kMm).Between(25, 1000),
              Of<&Wafer::edge>("edge", "Edge exclusion").In(kMm).Between(0, 10),
              Of<&Wafer::scribe>("scribe", "Scribe line between dies").In(kMm).Between(0, 5),
              Of<&Wafer::reticle_width>("reticle_width", "Reticle field width").In(kMm).Between(1, 200),
              Of<&Wafer::reticle_height>("reticle_height", "Reticle field height").In(kMm).Between(1, 200)});
constinit const Fields Schema<Wafer>::fields(kWaferFields);

}  // namespace slipstick
