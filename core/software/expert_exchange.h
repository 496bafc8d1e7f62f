// Which kernels of a serving engine carry tokens to their experts and the results back.
//
// An engine states rows in order of preference (member `expert_exchange` of its preset); without a row that fits, the ranks
// use a library's collectives.
#pragma once

#include <array>
#include <utility>

#include "core/base/field.h"

namespace slipstick {

enum class ExchangeKernel { kLowLatency, kNormal, kDomain };
template <>
struct EnumNames<ExchangeKernel> {
  static constexpr std::array<std::pair<ExchangeKernel, std::string_view>, 3> names{
      {{ExchangeKernel::kLowLatency, "low_latency"}, {ExchangeKernel::kNormal, "normal"}, {ExchangeKernel::kDomain, "domain"}}};
};

struct ExchangeKernels {
  Count ranks = 2;   // expert parallel ranks from which the row holds
  Count domain = 1;  // devices of the scale-up domain from which it holds
  ExchangeKernel decode = ExchangeKernel::kLowLatency;
  ExchangeKernel prefill = ExchangeKernel::kNormal;
  Count units = 24;      // SMs that a normal kernel takes from the others while it runs
  double imbalance = 1;  // tokens of the busiest device over the mean, where the model states none
};
template <>
struct Schema<ExchangeKernels> {
  static const Fields fields;
};

}  // namespace slipstick
