#include "core/base/field_table.h"
#include "core/collectives/fabric.h"

namespace slipstick {

constexpr FieldRow kFabricConstantsFields[] = {
    Of<&FabricConstants::preset>("preset", "Fabric; fields below override it"),
    Of<&FabricConstants::name>("name", "Name"),
    Of<&FabricConstants::scales_out>("scales_out", "Joins nodes through NICs"),
    Of<&FabricConstants::peer_access>("peer_access", "Devices can read each other's memory"),
    Of<&FabricConstants::setup>("setup", "Fixed latency of a collective").In(kUs).AtLeast(0),
    Of<&FabricConstants::ring, &RingConstants::ll_efficiency>("short_rate", "Bandwidth efficiency of LL").Share(),
    Of<&FabricConstants::ring, &RingConstants::simple_efficiency>("long_rate", "Bandwidth efficiency of Simple")
        .Share(),
    Of<&FabricConstants::all_to_all, &AllToAllConstants::simple_efficiency>(
        "exchange_rate", "Bandwidth efficiency of Simple in an all-to-all")
        .Share(),
    Of<&FabricConstants::ring, &RingConstants::local_copy_rate>(
        "own_rate", "Local copy rate of a rank's own block over the bandwidth; 0: hidden")
        .AtLeast(0),
    Of<&FabricConstants::all_to_all, &AllToAllConstants::local_copy_rate>(
        "copy_rate", "Local copy rate of a rank's own block in an all-to-all, over the bandwidth")
        .Above(0),
    Of<&FabricConstants::send, &SendConstants::switch_efficiency>(
        "pair_rate", "Bandwidth efficiency of send and receive through a switch")
        .Share(),
    Of<&FabricConstants::send, &SendConstants::direct_efficiency>(
        "direct_pair_rate", "Bandwidth efficiency of send and receive over a direct link")
        .Share(),
    Of<&FabricConstants::in_network, &InNetworkConstants::efficiency>(
        "reduction_rate", "Bandwidth efficiency of in-network reduction over 8 ranks")
        .Share(),
    Of<&FabricConstants::ring, &RingConstants::shared_root_port_fraction>(
        "beyond_pair", "Fraction of the bandwidth where more than two ranks share root ports")
        .Share(),
    Of<&FabricConstants::ring, &RingConstants::by_sides>("by_sides",
                                                         "On a torus or mesh the library reduces side after side"),
    Of<&FabricConstants::scale_out, &ScaleOutConstants::nic_efficiency>("outer_rate", "Bandwidth efficiency of a NIC")
        .Share(),
    Of<&FabricConstants::scale_out, &ScaleOutConstants::ll_efficiency>("outer_short_rate",
                                                                       "Bandwidth efficiency of LL through a NIC")
        .Share(),
    Of<&FabricConstants::ring, &RingConstants::simple_step>("long_step",
                                                            "Duration of a Simple step over that of an LL step")
        .AtLeast(1),
    Of<&FabricConstants::ring, &RingConstants::simple_setup>("long_setup", "Latency added by Simple")
        .In(kUs)
        .AtLeast(0),
    Of<&FabricConstants::all_to_all, &AllToAllConstants::ll_efficiency>("exchange_short_rate",
                                                                        "Bandwidth efficiency of LL in an all-to-all")
        .Share(),
    Of<&FabricConstants::all_to_all, &AllToAllConstants::steps_per_peer>("exchange_peer",
                                                                         "Steps per peer in an all-to-all")
        .AtLeast(0),
    Of<&FabricConstants::scale_out, &ScaleOutConstants::tree_fraction>(
        "tree_share", "Fraction of the rings' rate reached by trees after in-network reduction")
        .Share(),
    Of<&FabricConstants::in_network, &InNetworkConstants::min_ranks>("reduction_from",
                                                                     "Minimum ranks for in-network reduction")
        .AtLeast(2),
    Of<&FabricConstants::in_network, &InNetworkConstants::loss_per_doubling>(
        "reduction_fall", "Efficiency loss per doubling of the ranks beyond 8")
        .AtLeast(0),
    Of<&FabricConstants::in_network, &InNetworkConstants::setup>("reduction_setup",
                                                                 "Latency of in-network reduction up to 8 ranks")
        .In(kUs)
        .AtLeast(0),
    Of<&FabricConstants::in_network, &InNetworkConstants::setup_per_rank>("reduction_setup_rank",
                                                                          "Latency per rank beyond 8")
        .In(kUs)
        .AtLeast(0),
    Of<&FabricConstants::in_step, &InStepConstants::pod_jitter>(
        "pod_jitter", "Relative slow-down of a training step per doubling of the pods")
        .Between(0, 1),
    Of<&FabricConstants::in_step, &InStepConstants::hop_efficiency>(
        "hop_rate", "Bandwidth efficiency of a hop to the next rank inside a training step")
        .Share(),
    Of<&FabricConstants::in_step, &InStepConstants::hop_latency>("hop_latency", "Latency of such a hop")
        .In(kUs)
        .AtLeast(0),
    Of<&FabricConstants::in_step, &InStepConstants::routed_efficiency>(
        "routed_rate", "Bandwidth efficiency of tokens to their experts inside a training step")
        .Share(),
    Of<&FabricConstants::in_step, &InStepConstants::nic_routed_efficiency>(
        "outer_routed_rate", "Bandwidth efficiency of tokens to their experts through a NIC")
        .Share(),
    Of<&FabricConstants::in_step, &InStepConstants::routed_setup>("routed_setup", "Latency of that all-to-all")
        .In(kUs)
        .AtLeast(0)};
constinit const Fields Schema<FabricConstants>::fields(kFabricConstantsFields);

}  // namespace slipstick
