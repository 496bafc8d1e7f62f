#include "core/base/field_table.h"
#include "core/economics/system_inputs.h"

namespace slipstick {

constexpr FieldRow kSystemInputsFields[] = {
    Of<&SystemInputs::preset>("preset", "Preset; fields below override it. Default: the cluster's own").Derived(),
    Of<&SystemInputs::devices_per_host>("devices_per_host", "Devices per server").Between(1, 1 << 16).Derived(),
    Of<&SystemInputs::host>("host", "Price of a server without its devices; null: a share of their price")
        .In(kUsd)
        .AtLeast(0)
        .AtMost(1'000'000'000),
    Of<&SystemInputs::host_share>("host_share", "Server price as a share of its devices' price")
        .Between(0, 100)
        .Advanced(),
    Of<&SystemInputs::host_power>("host_power", "Server power as a ratio to the TDP of its devices")
        .Between(1, 100)
        .Advanced(),
    Of<&SystemInputs::load>("load", "Mean power draw as a share of server power").Between(0, 1),
    Of<&SystemInputs::pue>("pue", "PUE: facility power / server power").Between(1, 10),
    Of<&SystemInputs::pue_band>("pue_band", "Uncertainty of the PUE").Advanced(),
    Of<&SystemInputs::power_delivery>("power_delivery", "Power delivery (transformers, UPS, distribution) per power")
        .In(kUsdPerW)
        .AtLeast(0)
        .AtMost(1000)
        .Advanced(),
    Of<&SystemInputs::cooling>("cooling", "Cooling plant per power").In(kUsdPerW).AtLeast(0).AtMost(1000).Advanced(),
    Of<&SystemInputs::building>("building", "Land, shell and fit-out per power")
        .In(kUsdPerW)
        .AtLeast(0)
        .AtMost(1000)
        .Advanced(),
    Of<&SystemInputs::colocation>("colocation", "Colocation rent per power; above 0, no building is paid for")
        .In(kUsdPerKWMonth)
        .AtLeast(0)
        .AtMost(100'000),
    Of<&SystemInputs::switch_planes>("switch_planes",
                                     "Separate switch fabrics that the devices of a server are divided over, such as "
                                     "one per rail; 1: the rails meet in the spine switches")
        .Between(1, 1 << 16)
        .Advanced(),
    Of<&SystemInputs::switch_ports>("switch_ports", "Ports per switch; null: the network port's value")
        .Between(2, 1 << 16)
        .Advanced(),
    Of<&SystemInputs::switch_price>("switch_price", "Price of a switch; null: the network port's value")
        .In(kUsd)
        .AtLeast(0)
        .AtMost(100'000'000)
        .Advanced(),
    Of<&SystemInputs::cables_one_tier>(
        "cables_one_tier", "Cables and optics per port of a device, one switch tier; null: the network port's value")
        .Label("Cables and optics, one tier")
        .In(kUsd)
        .AtLeast(0)
        .AtMost(1'000'000)
        .Advanced(),
    Of<&SystemInputs::cables_two_tiers>(
        "cables_two_tiers", "Cables and optics per port of a device, two switch tiers; null: the network port's value")
        .Label("Cables and optics, two tiers")
        .In(kUsd)
        .AtLeast(0)
        .AtMost(1'000'000)
        .Advanced(),
    Of<&SystemInputs::cables_three_tiers>(
        "cables_three_tiers",
        "Cables and optics per port of a device, three switch tiers; null: the network port's value")
        .Label("Cables and optics, three tiers")
        .In(kUsd)
        .AtLeast(0)
        .AtMost(1'000'000)
        .Advanced(),
    Of<&SystemInputs::link_price>("link_price",
                                  "Price of direct links per bandwidth of a device; null: the network port's value")
        .In(kUsdPerGBps)
        .AtLeast(0)
        .AtMost(1'000'000)
        .Advanced(),
    Of<&SystemInputs::fabric_included>("fabric_included",
                                       "Bandwidth between a server's devices that its price and power include, per "
                                       "device; more costs extra, less is deducted; null: all of it")
        .Label("Network that the server includes")
        .In(kGBps)
        .Between(0, 1'000'000)
        .Advanced()
        .Derived(),
    Of<&SystemInputs::adapters_included>(
        "adapters_included",
        "Value of the adapters (NICs) that a server's price includes, per device; more costs extra, less is deducted; "
        "null: all of them")
        .Label("Adapters that the server includes")
        .In(kUsd)
        .Between(0, 1'000'000)
        .Advanced()
        .Derived(),
    Of<&SystemInputs::adapter_power_included>(
        "adapter_power_included",
        "Power of the adapters (NICs) that a server's power includes, per device; null: all of them")
        .Label("Adapter power that the server includes")
        .In(kWatt)
        .Between(0, 10'000)
        .Advanced()
        .Derived(),
    Of<&SystemInputs::maintenance>("maintenance", "Maintenance per year as a share of capital").Between(0, 10),
    Of<&SystemInputs::cost_of_capital>("cost_of_capital", "Cost of capital (interest per year)").Between(0, 1),
    Of<&SystemInputs::utilisation>("utilisation", "Utilization: share of the hours in use").Share(),
    Of<&SystemInputs::utilisation_band>("utilisation_band", "Uncertainty of the utilization").Advanced(),
    Of<&SystemInputs::margin>("margin", "Operator's margin as a share of the price").Between(0, 0.99)};
constinit const Fields Schema<SystemInputs>::fields(kSystemInputsFields);

}  // namespace slipstick
