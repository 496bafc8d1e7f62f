#include "core/base/field_table.h"
#include "core/hardware/network.h"

namespace slipstick {

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
    Of<&NetworkLevel::dims>("dims", "Sides of a mesh or torus; their product is the size")
        .Between(1, 1 << 20)
        .Advanced(),
    Of<&NetworkLevel::wrap_every>(
        "wrap_every", "Torus: sides of a slice that are multiples of this close to rings; 0: only whole sides do")
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
        .Above(0)
        .AtMost(1)
        .Advanced(),
    Of<&NetworkLevel::reduction_fraction>("reduction_fraction",
                                          "Fraction of the bandwidth reached by in-network reduction")
        .Above(0)
        .AtMost(1)
        .Advanced(),
    Of<&NetworkLevel::copy_fraction>("copy_fraction",
                                     "Local copy rate of a rank's own block in an all-to-all, over the bandwidth")
        .Above(0)
        .AtMost(16)
        .Advanced()};
constinit const Fields Schema<NetworkLevel>::fields(kNetworkLevelFields);

}  // namespace slipstick
