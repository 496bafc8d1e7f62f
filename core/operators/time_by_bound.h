// The time of a step or pass, split by bound.
#pragma once

#include <array>
#include <cstddef>

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
template <class T>
inline constexpr std::array<T ByBound<T>::*, 7> kBoundParts{
    &ByBound<T>::compute, &ByBound<T>::l1,      &ByBound<T>::l2,    &ByBound<T>::memory,
    &ByBound<T>::network, &ByBound<T>::latency, &ByBound<T>::bubble};
struct TimeByBound : ByBound<Seconds> {
  [[nodiscard]] Seconds Total() const { return compute + l1 + l2 + memory + network + latency + bubble; }
};

// Share of each bound in the operators' time; if there are no operators, all of it is compute.
ByBound<Ratio> SharesOf(const TimeByBound& operators);
// Splits `total` by these shares, and adds the times beside it.
TimeByBound SplitByBound(Seconds total, const ByBound<Ratio>& shares, const ByBound<Seconds>& beside);

}  // namespace slipstick
