#include "core/base/field_table.h"
#include "core/software/expert_exchange.h"

namespace slipstick {

constexpr FieldRow kExchangeKernelsFields[] = {
    Of<&ExchangeKernels::min_ranks>("ranks", "Smallest number of expert-parallel ranks that the row applies to")
        .Between(2, 1 << 20),
    Of<&ExchangeKernels::min_domain_size>("domain", "Smallest scale-up domain, in devices, that the row applies to")
        .Between(1, 1 << 20),
    Of<&ExchangeKernels::decode>("decode", "Kernel in decode steps"),
    Of<&ExchangeKernels::prefill>("prefill", "Kernel in steps that hold prefill"),
    Of<&ExchangeKernels::units>("units", "SMs that a normal kernel occupies").Between(1, 1024)};
constinit const Fields Schema<ExchangeKernels>::fields(kExchangeKernelsFields);

}  // namespace slipstick
