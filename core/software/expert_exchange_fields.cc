#include "core/base/field_table.h"
#include "core/software/expert_exchange.h"

namespace slipstick {

constexpr FieldRow kExchangeKernelsFields[] = {
    Of<&ExchangeKernels::min_ranks>("ranks", "Expert parallel ranks from which the row holds").Between(2, 1 << 20),
    Of<&ExchangeKernels::min_domain_size>("domain", "Devices of the scale-up domain from which the row holds").Between(1, 1 << 20),
    Of<&ExchangeKernels::decode>("decode", "Kernel of decode steps"),
    Of<&ExchangeKernels::prefill>("prefill", "Kernel of steps that prefill"),
    Of<&ExchangeKernels::units>("units", "SMs that a normal kernel takes while it runs").Between(1, 1024),
    Of<&ExchangeKernels::imbalance>("imbalance", "Tokens of the busiest device over the mean, where the model states none").Between(1, 64)};
constinit const Fields Schema<ExchangeKernels>::fields(kExchangeKernelsFields);

}  // namespace slipstick
