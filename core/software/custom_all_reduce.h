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
  Architecture architecture = Architecture::kGeneric;  // generic: wherever no other row fits
  Count domain = 1;                                    // devices of the scale-up domain from which the row holds
  Seconds start = 4.5 * kUs;                           // fixed cost
  Seconds peer = 0.08 * kUs;                           // of the barrier, for each peer
  double stream = 0.6;                                 // share of the link's bandwidth
  Seconds second_pass = 5 * kUs;                       // what two-shot pays more than one-shot
  std::optional<BytesPerSecond> kernel_rate;           // that the kernel's few thread blocks can pull, whatever the link
};
template <>
struct Schema<CustomAllReduce> {
  static constexpr auto fields =
      std::tuple{Of("architecture", &CustomAllReduce::architecture, "Family of devices that the row is for"),
                 Of("domain", &CustomAllReduce::domain, "Devices of the scale-up domain from which the row holds").Between(1, 1 << 20),
                 Of("start", &CustomAllReduce::start, "Fixed cost").In(kUs).Between(0, 1e6),
                 Of("peer", &CustomAllReduce::peer, "Of the barrier, for each peer").In(kUs).Between(0, 1e6),
                 Of("stream", &CustomAllReduce::stream, "Share of the link's bandwidth").Above(0).AtMost(1),
                 Of("second_pass", &CustomAllReduce::second_pass, "What two-shot pays more than one-shot").In(kUs).Between(0, 1e6),
                 Of("kernel_rate", &CustomAllReduce::kernel_rate, "What the kernel's thread blocks can pull").In(kGBps).Above(0)};
};

// The row for a family of devices and the size of their scale-up domain, else the generic one, else null (the engine has
// no such kernel).
inline const CustomAllReduce* RowFor(const std::vector<CustomAllReduce>& rows, Architecture architecture, Count domain) {
  const CustomAllReduce *best = nullptr, *generic = nullptr;
  for (const CustomAllReduce& row : rows) {
    if (row.architecture == Architecture::kGeneric) generic = &row;
    if (row.architecture != architecture || row.domain > domain) continue;
    if (best == nullptr || row.domain > best->domain) best = &row;
  }
  return best != nullptr ? best : generic;
}

}  // namespace slipstick
