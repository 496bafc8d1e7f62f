#include "core/base/field_table.h"
#include "core/hardware/network.h"

namespace slipstick {

constexpr FieldRow kNetworkLevelFields[] = {
    Of<&NetworkLevel::name>("name", "What to call this level"),
    Of<&NetworkLevel::fabric>("fabric", "The link's family: sets protocol constants").Advanced(),
    Of<&NetworkLevel::topology>("topology", "Wiring of this level"),
    Of<&NetworkLevel::size>("size", "Members of the level below (devices, for the first) that this level joins").Between(1, 1 << 24),
    Of<&NetworkLevel::bandwidth>("bandwidth", "One direction, per device").In(kGBps).Above(0).AtMost(1'000'000),
    Of<&NetworkLevel::latency>("latency", "Per hop, software included").In(kUs).Between(0, 1'000'000),
    Of<&NetworkLevel::dims>("dims", "Sides of a mesh or torus; their product is the size").Between(1, 1 << 20).Advanced(),
    Of<&NetworkLevel::wrap_every>("wrap_every", "Torus: sides of a part that are multiples of this close to rings; 0: whole sides only")
        .Between(0, 1 << 20)
        .Advanced(),
    Of<&NetworkLevel::oversubscription>("oversubscription", "Fat tree: bandwidth into the leaves over bandwidth out of them")
        .Between(1, 64)
        .Advanced(),
    Of<&NetworkLevel::in_network_reduction>("in_network_reduction", "Switches reduce (NVLS, SHARP)").Advanced(),
    Of<&NetworkLevel::base_latency>("base_latency", "Fixed cost of one collective").In(kUs).Between(0, 1'000'000).Advanced(),
    Of<&NetworkLevel::hop_latency>("hop_latency", "Cost of one step of a ring").In(kUs).Between(0, 1'000'000).Advanced(),
    Of<&NetworkLevel::bandwidth_fraction>("bandwidth_fraction", "Share of the bandwidth that large messages reach")
        .Above(0)
        .AtMost(1)
        .Advanced(),
    Of<&NetworkLevel::reduction_fraction>("reduction_fraction", "Share of the bandwidth that in-network reduction reaches")
        .Above(0)
        .AtMost(1)
        .Advanced(),
    Of<&NetworkLevel::copy_fraction>("copy_fraction", "Rate at which a rank moves its own block, over the bandwidth")
        .Above(0)
        .AtMost(16)
        .Advanced()};
constinit const Fields Schema<NetworkLevel>::fields(kNetworkLevelFields);

}  // namespace slipstick
