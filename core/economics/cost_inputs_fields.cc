#include "core/base/field_table.h"
#include "core/economics/cost_inputs.h"

namespace slipstick {

constexpr FieldRow kCostInputsFields[] = {
    Of<&CostInputs::electricity>("electricity", "Price of electricity").In(kUsdPerKWh).AtLeast(0),
    Of<&CostInputs::electricity_band>("electricity_band", "How far it may lie from that").Advanced(),
    Of<&CostInputs::lifetime>("lifetime", "Years over which the system is written off").In(kYear).Above(0).AtMost(100),
    Of<&CostInputs::lifetime_band>("lifetime_band", "How far it may lie from that").Advanced(),
    Of<&CostInputs::device>("device", "What a device is made of"),
    Of<&CostInputs::system>("system", "What stands around the devices"),
    Of<&CostInputs::carbon>("carbon", "What making and running them emits").Advanced()};
constinit const Fields Schema<CostInputs>::fields(kCostInputsFields);

}  // namespace slipstick
