#include "core/base/field_table.h"
#include "core/collectives/fabric.h"

namespace slipstick {

constexpr FieldRow kFabricConstantsFields[] = {
    Of<&FabricConstants::preset>("preset", "Fabric that the other members override"),
    Of<&FabricConstants::name>("name", "What to call it"),
    Of<&FabricConstants::scales_out>("scales_out", "Joins nodes through NICs"),
    Of<&FabricConstants::peer_access>("peer_access", "Made for devices to read each other's memory"),
    Of<&FabricConstants::setup>("setup", "Fixed cost of a collective").In(kUs).AtLeast(0),
    Of<&FabricConstants::ring, &RingConstants::ll_efficiency>("short_rate", "Short protocol").Above(0).AtMost(1),
    Of<&FabricConstants::ring, &RingConstants::simple_efficiency>("long_rate", "Long protocol").Above(0).AtMost(1),
    Of<&FabricConstants::all_to_all, &AllToAllConstants::simple_efficiency>("exchange_rate", "Long protocol, all-to-all")
        .Above(0)
        .AtMost(1),
    Of<&FabricConstants::ring, &RingConstants::local_copy_rate>("own_rate", "A rank's own block, over the bandwidth; 0: hidden").AtLeast(0),
    Of<&FabricConstants::all_to_all, &AllToAllConstants::local_copy_rate>("copy_rate", "The same in an all-to-all").Above(0),
    Of<&FabricConstants::send, &SendConstants::switch_efficiency>("pair_rate", "Send and receive").Above(0).AtMost(1),
    Of<&FabricConstants::send, &SendConstants::direct_efficiency>("direct_pair_rate", "The same over a link without a switch")
        .Above(0)
        .AtMost(1),
    Of<&FabricConstants::in_network, &InNetworkConstants::efficiency>("reduction_rate", "In-network reduction over 8 ranks")
        .Above(0)
        .AtMost(1),
    Of<&FabricConstants::ring, &RingConstants::shared_root_port_fraction>("beyond_pair", "Left where more than two ranks share root ports")
        .Above(0)
        .AtMost(1),
    Of<&FabricConstants::scale_out, &ScaleOutConstants::nic_efficiency>("outer_rate", "Of a NIC that scales out").Above(0).AtMost(1),
    Of<&FabricConstants::scale_out, &ScaleOutConstants::ll_efficiency>("outer_short_rate", "The same, short protocol").Above(0).AtMost(1),
    Of<&FabricConstants::send, &SendConstants::nic_efficiency>("outer_pair_rate", "The same, send and receive, at most").Above(0).AtMost(1),
    Of<&FabricConstants::ring, &RingConstants::simple_step>("long_step", "A step of the long protocol over one of the short").AtLeast(1),
    Of<&FabricConstants::ring, &RingConstants::simple_setup>("long_setup", "That the long protocol adds").In(kUs).AtLeast(0),
    Of<&FabricConstants::all_to_all, &AllToAllConstants::ll_efficiency>("exchange_short_rate", "Short protocol, all-to-all")
        .Above(0)
        .AtMost(1),
    Of<&FabricConstants::all_to_all, &AllToAllConstants::steps_per_peer>("exchange_peer", "Steps for each peer").AtLeast(0),
    Of<&FabricConstants::all_to_all, &AllToAllConstants::simple_setup>("exchange_long_setup", "That the long protocol adds there")
        .In(kUs)
        .AtLeast(0),
    Of<&FabricConstants::scale_out, &ScaleOutConstants::reduction_gain>("outer_reduction_gain", "Of switches that reduce between nodes")
        .AtLeast(1),
    Of<&FabricConstants::scale_out, &ScaleOutConstants::tree_fraction>("tree_share",
                                                                       "Of what rings reach, when trees follow in-network reduction")
        .Above(0)
        .AtMost(1),
    Of<&FabricConstants::in_network, &InNetworkConstants::min_ranks>("reduction_from", "Ranks from which switches reduce").AtLeast(2),
    Of<&FabricConstants::in_network, &InNetworkConstants::loss_per_doubling>("reduction_fall",
                                                                             "Of that rate, each time the ranks double beyond 8")
        .AtLeast(0),
    Of<&FabricConstants::in_network, &InNetworkConstants::setup>("reduction_setup", "Start of that pipeline up to 8 ranks")
        .In(kUs)
        .AtLeast(0),
    Of<&FabricConstants::in_network, &InNetworkConstants::setup_per_rank>("reduction_setup_rank", "Each further rank").In(kUs).AtLeast(0),
    Of<&FabricConstants::in_step, &InStepConstants::hop_efficiency>("hop_rate", "A message to the next rank inside a training step")
        .Above(0)
        .AtMost(1),
    Of<&FabricConstants::in_step, &InStepConstants::nic_hop_efficiency>("outer_hop_rate", "The same through a NIC").Above(0).AtMost(1),
    Of<&FabricConstants::in_step, &InStepConstants::hop_latency>("hop_latency", "Fixed cost of it").In(kUs).AtLeast(0),
    Of<&FabricConstants::in_step, &InStepConstants::nic_hop_latency>("outer_hop_latency", "The same through a NIC").In(kUs).AtLeast(0),
    Of<&FabricConstants::in_step, &InStepConstants::routed_efficiency>("routed_rate", "Tokens to their experts inside a training step")
        .Above(0)
        .AtMost(1),
    Of<&FabricConstants::in_step, &InStepConstants::nic_routed_efficiency>("outer_routed_rate", "The same through a NIC")
        .Above(0)
        .AtMost(1),
    Of<&FabricConstants::in_step, &InStepConstants::routed_setup>("routed_setup", "Fixed cost of it").In(kUs).AtLeast(0)};
constinit const Fields Schema<FabricConstants>::fields(kFabricConstantsFields);

}  // namespace slipstick
