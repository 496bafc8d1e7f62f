#include "core/base/field_table.h"
#include "core/hardware/cluster.h"
#include "core/hardware/collective_choice.h"
#include "core/hardware/network.h"

namespace slipstick {

constexpr auto kNetworkPortFields = Advanced(
    {Of<&NetworkPort::preset>("preset",
                              "Preset; fields below override it: ports, switches and adapters of a generation")
         .Basic(),
     Of<&NetworkPort::name>("name", "Name").Basic(),
     Of<&NetworkPort::bandwidth>(
         "bandwidth", "Bandwidth of a port, one direction; 0: wiring that is priced by its bandwidth, not by the port")
         .Label("Bandwidth of a port")
         .In(kGBps)
         .Between(0, 1'000'000),
     Of<&NetworkPort::adapter_price>("adapter_price", "Price of an adapter (NIC), per port")
         .In(kUsd)
         .AtLeast(0)
         .AtMost(1'000'000),
     Of<&NetworkPort::adapter_power>("adapter_power", "Power of an adapter (NIC), per port")
         .In(kWatt)
         .Between(0, 10'000),
     Of<&NetworkPort::switch_ports>("switch_ports", "Ports per switch").Between(2, 1 << 16),
     Of<&NetworkPort::switch_price>("switch_price", "Price of a switch").In(kUsd).AtLeast(0).AtMost(100'000'000),
     Of<&NetworkPort::switch_power>("switch_power", "Power of a switch, without the optics in its ports")
         .In(kWatt)
         .Between(0, 1'000'000),
     Of<&NetworkPort::cables_one_tier>("cables_one_tier", "Cables and optics per port of a device, one switch tier")
         .Label("Cables and optics, one tier")
         .In(kUsd)
         .AtLeast(0)
         .AtMost(1'000'000),
     Of<&NetworkPort::cables_two_tiers>("cables_two_tiers", "Cables and optics per port of a device, two switch tiers")
         .Label("Cables and optics, two tiers")
         .In(kUsd)
         .AtLeast(0)
         .AtMost(1'000'000),
     Of<&NetworkPort::cables_three_tiers>("cables_three_tiers",
                                          "Cables and optics per port of a device, three switch tiers")
         .Label("Cables and optics, three tiers")
         .In(kUsd)
         .AtLeast(0)
         .AtMost(1'000'000),
     Of<&NetworkPort::optics_power>("optics_power", "Power of a link's optics, both ends; a device has a link per tier")
         .In(kWatt)
         .Between(0, 10'000),
     Of<&NetworkPort::link_price>("link_price", "Price of direct links per bandwidth of a device")
         .In(kUsdPerGBps)
         .AtLeast(0)
         .AtMost(1'000'000),
     Of<&NetworkPort::fabric_price>(
         "fabric_price",
         "Price of the switches between links that are not bought by the port, per bandwidth "
         "of a device")
         .In(kUsdPerGBps)
         .AtLeast(0)
         .AtMost(1'000'000),
     Of<&NetworkPort::fabric_energy>("fabric_energy", "Energy of links and switches that are not bought by the port")
         .In(kPJPerBit)
         .Between(0, 1'000'000)});
constinit const Fields Schema<NetworkPort>::fields(kNetworkPortFields);

constexpr FieldRow kNetworkLevelFields[] = {
    Of<&NetworkLevel::name>("name", "Name of this level"),
    Of<&NetworkLevel::fabric>("fabric", "Fabric: selects the protocol constants").Advanced(),
    Of<&NetworkLevel::topology>("topology", "Topology of this level"),
    Of<&NetworkLevel::size>(
        "size", "Domain size: groups of the level below (devices, for the innermost level) joined by this level")
        .Between(1, 1 << 24),
    Of<&NetworkLevel::bandwidth>("bandwidth", "Bandwidth per device, one direction")
        .In(kGBps)
        .Above(0)
        .AtMost(1'000'000),
    Of<&NetworkLevel::latency>("latency", "Latency per hop, software included").In(kUs).Between(0, 1'000'000),
    Of<&NetworkLevel::dims>("dims",
                            "Sides of a mesh or torus; their product is the size. For a fat tree, the first is the "
                            "number of groups under a leaf; none: as many as a leaf switch has ports for")
        .Between(1, 1 << 20)
        .Advanced(),
    Of<&NetworkLevel::wrap_every>(
        "wrap_every", "Torus: a slice's side closes to a ring if it is a multiple of this; 0: only full sides do")
        .Label("Torus slices close every")
        .Between(0, 1 << 20)
        .Advanced(),
    Of<&NetworkLevel::oversubscription>(
        "oversubscription", "Oversubscription of a fat tree: bandwidth into the leaves over bandwidth out of them")
        .Between(1, 64)
        .Advanced(),
    Of<&NetworkLevel::in_network_reduction>("in_network_reduction", "In-network reduction (SHARP, NVLS)").Advanced(),
    Of<&NetworkLevel::base_latency>("base_latency", "Fixed latency per collective")
        .In(kUs)
        .Between(0, 1'000'000)
        .Advanced(),
    Of<&NetworkLevel::hop_latency>("hop_latency", "Latency per ring step").In(kUs).Between(0, 1'000'000).Advanced(),
    Of<&NetworkLevel::bandwidth_fraction>("bandwidth_fraction", "Fraction of the bandwidth reached by large messages")
        .Share()
        .Advanced(),
    Of<&NetworkLevel::reduction_fraction>("reduction_fraction",
                                          "Fraction of the bandwidth reached by in-network reduction")
        .Share()
        .Advanced(),
    Of<&NetworkLevel::copy_fraction>("copy_fraction",
                                     "Local copy rate of a rank's own block in an all-to-all, over the bandwidth")
        .Above(0)
        .AtMost(16)
        .Advanced(),
    Of<&NetworkLevel::port>("port", "What its ports, switches and cables cost and draw")
        .Label("Ports, switches and cables")
        .Advanced()};
constinit const Fields Schema<NetworkLevel>::fields(kNetworkLevelFields);

constexpr FieldRow kClusterFields[] = {
    Of<&Cluster::preset>("preset", "Preset; fields below override it"),
    Of<&Cluster::name>("name", "Name"),
    Of<&Cluster::device>("device", "The accelerator").Label("Device"),
    Of<&Cluster::devices>("devices", "Number of devices").Label("Devices").Between(1, 1 << 24),
    Of<&Cluster::networks>("networks", "Network levels, innermost first").Label("Network").Advanced(),
    Of<&Cluster::collectives>("collectives", "Collectives: library and algorithms").Advanced()};
constinit const Fields Schema<Cluster>::fields(kClusterFields);

constexpr auto kCollectiveChoiceFields = Advanced(
    {Of<&CollectiveChoice::library>(
         "library",
         "Times of collectives: measured (what NCCL and engines reach on this wiring), analytic (the fastest "
         "of its closed-form algorithms for the wiring, at line rate) or alpha_beta (textbook equations); absent: "
         "measured, and alpha_beta under the roofline framework and engine")
         .Basic(),
     Of<&CollectiveChoice::all_reduce>("all_reduce", "Algorithm of an all-reduce; auto: the fastest")
         .Label("All-reduce algorithm"),
     Of<&CollectiveChoice::all_gather>("all_gather", "Algorithm of an all-gather; auto: the fastest")
         .Label("All-gather algorithm"),
     Of<&CollectiveChoice::reduce_scatter>("reduce_scatter", "Algorithm of a reduce-scatter; auto: the fastest")
         .Label("Reduce-scatter algorithm"),
     Of<&CollectiveChoice::all_to_all>("all_to_all", "Algorithm of an all-to-all; auto: the fastest")
         .Label("All-to-all algorithm"),
     Of<&CollectiveChoice::send_recv>("send_recv", "Algorithm of a send; auto: the fastest").Label("P2P algorithm")});
constinit const Fields Schema<CollectiveChoice>::fields(kCollectiveChoiceFields);

}  // namespace slipstick
