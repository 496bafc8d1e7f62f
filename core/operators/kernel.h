// What every operator model answers.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "core/base/field.h"

namespace slipstick {

enum class Bound { kCompute, kMemory, kNetwork, kLatency };
template <>
struct EnumNames<Bound> {
  static constexpr std::array<std::pair<Bound, std::string_view>, 4> names{
      {{Bound::kCompute, "compute"}, {Bound::kMemory, "memory"}, {Bound::kNetwork, "network"}, {Bound::kLatency, "latency"}}};
};

struct KernelTime {
  Seconds time;
  Seconds compute;  // of it, were arithmetic alone
  Seconds memory;   // of it, were data movement alone
  Bound bound = Bound::kCompute;
  Flops flops;       // useful arithmetic
  Bytes bytes;       // to and from device memory
  Bytes l2_bytes{};  // between the last cache and the units
  Bytes l1_bytes{};  // between a unit's own memory and its arithmetic
};

}  // namespace slipstick
