#include "core/base/field_table.h"
#include "core/software/custom_all_reduce.h"

namespace slipstick {

constexpr FieldRow kCustomAllReduceFields[] = {
    Of<&CustomAllReduce::architecture>("architecture", "Family of devices that the row is for"),
    Of<&CustomAllReduce::min_domain_size>("domain", "Devices of the scale-up domain from which the row holds").Between(1, 1 << 20),
    Of<&CustomAllReduce::base_latency>("start", "Fixed cost").In(kUs).Between(0, 1'000'000),
    Of<&CustomAllReduce::per_peer_latency>("peer", "Of the barrier, for each peer").In(kUs).Between(0, 1'000'000),
    Of<&CustomAllReduce::bandwidth_efficiency>("stream", "Share of the link's bandwidth").Above(0).AtMost(1),
    Of<&CustomAllReduce::two_shot_penalty>("second_pass", "What two-shot pays more than one-shot").In(kUs).Between(0, 1'000'000),
    Of<&CustomAllReduce::kernel_rate>("kernel_rate", "What the kernel's thread blocks can pull").In(kGBps).Above(0)};
constinit const Fields Schema<CustomAllReduce>::fields(kCustomAllReduceFields);

}  // namespace slipstick
