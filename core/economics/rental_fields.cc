#include "core/base/field_table.h"
#include "core/economics/rental.h"

namespace slipstick {

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

}  // namespace slipstick
