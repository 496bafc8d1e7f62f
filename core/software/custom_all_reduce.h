// The all-reduce kernels that serving engines use in place of a library's: every rank reads its peers' memory.
//
// An engine states one row for each family of devices (member `all_reduce` of its preset).
#pragma once

#include <optional>
#include <vector>

#include "core/base/architecture.h"
#include "core/base/field.h"

namespace slipstick {

struct CustomAllReduce {
  Architecture architecture;                  // generic: wherever no other row fits
  Count domain = 1;                           // devices of the scale-up domain from which the row holds
  Seconds start = 4.5 * kUs;                  // fixed cost
  Seconds peer = 0.08 * kUs;                  // of the barrier, for each peer
  double stream = 0.6;                        // share of the link's bandwidth
  Seconds second_pass = 5 * kUs;              // what two-shot pays more than one-shot
  std::optional<BytesPerSecond> kernel_rate;  // that the kernel's few thread blocks can pull, whatever the link
};
template <>
struct Schema<CustomAllReduce> {
  static const Fields fields;
};

// The row for a family of devices and the size of their scale-up domain, else the generic one, else null (the engine has
// no such kernel).
inline const CustomAllReduce* RowFor(const std::vector<CustomAllReduce>& rows, Architecture architecture, Count domain) {
  const CustomAllReduce *best = nullptr, *generic = nullptr;
  for (const CustomAllReduce& row : rows) {
    if (row.architecture == Architecture()) generic = &row;
    if (row.architecture != architecture || row.domain > domain) continue;
    if (best == nullptr || row.domain > best->domain) best = &row;
  }
  return best != nullptr ? best : generic;
}

}  // namespace slipstick
