#include "core/base/field_table.h"
#include "core/economics/ownership.h"

namespace slipstick {

constexpr FieldRow kSystemInputsFields[] = {
    Of<&SystemInputs::preset>("preset", "Catalogue entry that the other members override; otherwise the cluster's").Derived(),
    Of<&SystemInputs::devices_per_host>("devices_per_host", "Devices in a server").Between(1, 1 << 16).Derived(),
    Of<&SystemInputs::host>("host", "A server without its devices; null: a share of their price").In(kUsd).AtLeast(0).AtMost(1'000'000'000),
    Of<&SystemInputs::host_share>("host_share", "A server's price over that of its devices").Between(0, 100).Advanced(),
    Of<&SystemInputs::host_power>("host_power", "Power of a server over the rated power of its devices").Between(1, 100).Advanced(),
    Of<&SystemInputs::load>("load", "Mean draw over that power").Between(0, 1),
    Of<&SystemInputs::pue>("pue", "Power of the building over that of its servers").Between(1, 10),
    Of<&SystemInputs::pue_band>("pue_band", "How far it may lie from that").Advanced(),
    Of<&SystemInputs::power_delivery>("power_delivery", "Transformers, UPS and distribution")
        .In(kUsdPerW)
        .AtLeast(0)
        .AtMost(1000)
        .Advanced(),
    Of<&SystemInputs::cooling>("cooling", "Cooling plant").In(kUsdPerW).AtLeast(0).AtMost(1000).Advanced(),
    Of<&SystemInputs::building>("building", "Land, shell and fitting out").In(kUsdPerW).AtLeast(0).AtMost(1000).Advanced(),
    Of<&SystemInputs::colocation>("colocation", "Rent by power; above 0, nothing is built").In(kUsdPerKWMonth).AtLeast(0).AtMost(100'000),
    Of<&SystemInputs::switch_ports>("switch_ports", "Ports of a switch").Between(2, 1 << 16).Advanced(),
    Of<&SystemInputs::switch_price>("switch_price", "A switch").In(kUsd).AtLeast(0).AtMost(100'000'000).Advanced(),
    Of<&SystemInputs::cables_one_tier>("cables_one_tier", "Cables and optics of a device under one tier of switches")
        .In(kUsd)
        .AtLeast(0)
        .AtMost(1'000'000)
        .Advanced(),
    Of<&SystemInputs::cables_two_tiers>("cables_two_tiers", "The same under two tiers").In(kUsd).AtLeast(0).AtMost(1'000'000).Advanced(),
    Of<&SystemInputs::cables_three_tiers>("cables_three_tiers", "The same under three tiers")
        .In(kUsd)
        .AtLeast(0)
        .AtMost(1'000'000)
        .Advanced(),
    Of<&SystemInputs::link_price>("link_price", "A direct link, by bandwidth").In(kUsdPerGBps).AtLeast(0).AtMost(1'000'000).Advanced(),
    Of<&SystemInputs::maintenance>("maintenance", "A year, of the capital").Between(0, 10),
    Of<&SystemInputs::cost_of_capital>("cost_of_capital", "Interest a year").Between(0, 1),
    Of<&SystemInputs::utilisation>("utilisation", "Share of the hours that are used").Above(0).AtMost(1),
    Of<&SystemInputs::utilisation_band>("utilisation_band", "How far it may lie from that").Advanced(),
    Of<&SystemInputs::margin>("margin", "The operator's, of the price").Between(0, 0.99)};
constinit const Fields Schema<SystemInputs>::fields(kSystemInputsFields);

}  // namespace slipstick
