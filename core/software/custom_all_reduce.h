// All-reduce kernels of serving engines, used in place of a library's: every rank reads its peers' memory.
//
// An engine has one row per device architecture (member `all_reduce` of its preset).
#pragma once

#include <optional>
#include <vector>

#include "core/base/architecture.h"
#include "core/base/field.h"

namespace slipstick {

struct CustomAllReduce {
  Architecture architecture;  // generic: wherever no other row applies
  Count min_domain_size = 1;  // devices of the scale-up domain
  Seconds base_latency;
  Seconds per_peer_latency;                   // of the barrier
  double bandwidth_efficiency = 0;            // share of the link bandwidth
  Seconds two_shot_penalty;                   // two-shot over one-shot
  std::optional<BytesPerSecond> kernel_rate;  // upper bound of the kernel's few thread blocks, whatever the link
};
template <>
struct Schema<CustomAllReduce> {
  static constexpr std::string_view standard = "custom_all_reduce";
  static const Fields fields;
};

// The row of an architecture with the largest min_domain_size that `domain_size` reaches, else the generic row, else
// null: the engine has no such kernel.
inline const CustomAllReduce* RowFor(const std::vector<CustomAllReduce>& rows, Architecture architecture,
                                     Count domain_size) {
  const CustomAllReduce *best = nullptr, *generic = nullptr;
  for (const CustomAllReduce& row : rows) {
    if (row.architecture == Architecture()) generic = &row;
    if (row.architecture != architecture || row.min_domain_size > domain_size) continue;
    if (best == nullptr || row.min_domain_size > best->min_domain_size) best = &row;
  }
  return best != nullptr ? best : generic;
}

}  // namespace slipstick
