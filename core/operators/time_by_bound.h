// The time of a step or pass by what bounds it.
#pragma once

#include <string_view>

#include "core/base/trace.h"
#include "core/operators/kernel.h"

namespace slipstick {

template <class T>
struct ByBound {
  T compute{}, l1{}, l2{}, memory{}, network{}, latency{};
  T bubble{};  // idle time of a pipeline

  [[nodiscard]] T& Of(Bound bound) {
    constexpr T ByBound::* kParts[] = {&ByBound::compute, &ByBound::memory, &ByBound::network,
                                       &ByBound::latency, &ByBound::l1,     &ByBound::l2};
    return this->*kParts[static_cast<std::size_t>(bound)];
  }
};
struct TimeByBound : ByBound<Seconds> {
  [[nodiscard]] Seconds Total() const { return compute + l1 + l2 + memory + network + latency + bubble; }
};

// What stands beside a time that is split: a part's time, and its symbol in the current scope; "": none.
struct Beside {
  Seconds time;
  std::string_view symbol;
};
// `total`, whose symbol is `total_is`, split in proportion to the operators that it consists of (compute if there are
// none), and what stands beside it. Records each part as the figure at "`report`.compute" and so on.
TimeByBound SplitByBound(Seconds total, std::string_view total_is, const TimeByBound& operators,
                         const ByBound<Beside>& beside, std::string_view report, Trace& trace);

}  // namespace slipstick
