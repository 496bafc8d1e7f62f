#include "core/base/field_table.h"
#include "core/economics/band.h"
#include "core/economics/cost_inputs.h"
#include "core/economics/rental.h"

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

constexpr FieldRow kRentalFields[] = {
    Of<&Rental::preset>("preset", "Preset; fields below override it"),
    Of<&Rental::name>("name", "Name"),
    Of<&Rental::price>("price", "Price per GPU-hour, with server, network, hosting and power")
        .Label("Price per GPU-hour")
        .In(kUsdPerHour)
        .AtLeast(0),
    Of<&Rental::date>("date", "Price read on: the day on which the price was read; prices move"),
    Of<&Rental::term>("term",
                      "Reserved for a contract term: paid for every hour, busy or idle. On demand, and spot, which may "
                      "be taken back at "
                      "short notice: paid for the hours in use")
        .Label("Terms of the rent"),
    Of<&Rental::provider>("provider", "Provider"),
    Of<&Rental::device>("device", "Device preset that it is the price of; empty: any").Advanced()};
constinit const Fields Schema<Rental>::fields(kRentalFields);

constexpr FieldRow kBandFields[] = {
    Of<&Band::low>("low", "Low end as a ratio to the value, for cost studies").Share().Advanced().OutsideReports(),
    Of<&Band::high>("high", "High end as a ratio to the value, for cost studies")
        .Between(1, 100)
        .Advanced()
        .OutsideReports()};
constinit const Fields Schema<Band>::fields(kBandFields);

}  // namespace slipstick
