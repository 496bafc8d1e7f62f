#include "core/serving/step.h"

namespace slipstick {

Seconds OperatorBreakdown::TimeOf() const {
  Seconds sum;
  for (const OperatorTime& one : *this) sum += one.count * one.kernel.time;
  return sum;
}

Bound OperatorBreakdown::BoundOf() const {
  std::array<Seconds, 4> by{};
  for (const OperatorTime& one : *this) by[static_cast<std::size_t>(one.kernel.bound)] += one.count * one.kernel.time;
  std::size_t largest = 0;
  for (std::size_t i = 1; i < by.size(); ++i) {
    if (by[i] > by[largest]) largest = i;
  }
  return static_cast<Bound>(largest);
}

Flops OperatorBreakdown::FlopsOf() const {
  Flops sum;
  for (const OperatorTime& one : *this) sum += one.count * one.kernel.flops;
  return sum;
}

Bytes OperatorBreakdown::BytesOf() const {
  Bytes sum;
  for (const OperatorTime& one : *this) sum += one.count * one.kernel.bytes;
  return sum;
}

}  // namespace slipstick
