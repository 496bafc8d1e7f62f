#include "core/base/field_table.h"
#include "core/software/custom_all_reduce.h"

namespace slipstick {

constexpr FieldRow kCustomAllReduceFields[] = {
    Of<&CustomAllReduce::architecture>("architecture", "Device architecture of the row"),
    Of<&CustomAllReduce::min_domain_size>("domain", "Smallest scale-up domain, in devices, that the row applies to")
        .Between(1, 1 << 20),
    Of<&CustomAllReduce::base_latency>("start", "Base latency").In(kUs).Between(0, 1'000'000),
    Of<&CustomAllReduce::per_peer_latency>("peer", "Latency per peer (barrier)").In(kUs).Between(0, 1'000'000),
    Of<&CustomAllReduce::bandwidth_efficiency>("stream", "Share of the link bandwidth").Above(0).AtMost(1),
    Of<&CustomAllReduce::two_shot_penalty>("second_pass", "Added latency of two-shot over one-shot")
        .In(kUs)
        .Between(0, 1'000'000),
    Of<&CustomAllReduce::kernel_rate>("kernel_rate", "Maximum rate of the kernel's thread blocks").In(kGBps).Above(0)};
constinit const Fields Schema<CustomAllReduce>::fields(kCustomAllReduceFields);

}  // namespace slipstick
