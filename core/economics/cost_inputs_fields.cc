#include "core/base/field_table.h"
#include "core/economics/cost_inputs.h"

namespace slipstick {

constexpr FieldRow kPoolInputsFields[] = {
    Of<&PoolInputs::device>("device", "Bill of materials per device of the pool"),
    Of<&PoolInputs::system>("system", "Servers, network and data center of the pool"),
    Of<&PoolInputs::rental>("rental", "Rent instead of buying the pool's devices").Label("Rented devices")};
constinit const Fields Schema<PoolInputs>::fields(kPoolInputsFields);

constexpr FieldRow kCostInputsFields[] = {
    Of<&CostInputs::electricity>("electricity", "Electricity price").Label("Electricity").In(kUsdPerKWh).AtLeast(0),
    Of<&CostInputs::electricity_band>("electricity_band", "Uncertainty of the electricity price").Advanced(),
    Of<&CostInputs::lifetime>("lifetime", "Depreciation period").In(kYear).Above(0).AtMost(100),
    Of<&CostInputs::lifetime_band>("lifetime_band", "Uncertainty of the depreciation period").Advanced(),
    Of<&CostInputs::device>("device", "Bill of materials per device"),
    Of<&CostInputs::system>("system", "Servers, network and data center"),
    Of<&CostInputs::rental>(
        "rental",
        "Rent instead of buying: a dated price per GPU-hour pays for devices, servers, network, hosting and power")
        .Label("Rented devices"),
    Of<&CostInputs::prefill_pool>(
        "prefill_pool",
        "Cost of the prefill pool where it has another device "
        "(serving.disaggregated.prefill_device); default: that device's catalogue bill and "
        "the system it is usually bought in. Its servers are joined by the cluster's networks")
        .Advanced(),
    Of<&CostInputs::carbon>("carbon", "Embodied and operational carbon").Advanced()};
constinit const Fields Schema<CostInputs>::fields(kCostInputsFields);

}  // namespace slipstick
