// Kernels of a serving engine that dispatch tokens to their experts and combine the results.
//
// An engine's rows (member `expert_exchange` of its preset) are in order of preference; if none applies, the ranks use
// a library's collectives.
#pragma once

#include "core/base/field.h"
#include "core/base/tally.h"

namespace slipstick {

enum class ExchangeKernel { kLowLatency, kNormal, kDomain };
ENUM_NAMES(ExchangeKernel, {kLowLatency, "low_latency"}, {kNormal, "normal"}, {kDomain, "domain"});

struct ExchangeKernels {
  Tally min_ranks = 2;        // expert-parallel ranks
  Tally min_domain_size = 1;  // devices of the scale-up domain
  ExchangeKernel decode = ExchangeKernel::kLowLatency;
  ExchangeKernel prefill = ExchangeKernel::kNormal;
  Tally units = 24;  // SMs that kNormal occupies while it runs
};
FIELDS_OF(ExchangeKernels);

}  // namespace slipstick
