#include "core/engine_step/step.h"

#include "core/base/figure.h"

namespace slipstick {

void OperatorBreakdown::Repeat(Ratio times) {
  for (int i = 0; i < size_; ++i) operators_[i].count *= times;
}

Seconds OperatorBreakdown::TimeOf() const {
  Seconds sum;
  for (const OperatorTime& one : *this) sum += one.count * one.kernel.time;
  return sum;
}

Bound OperatorBreakdown::BoundOf() const {
  std::array<Seconds, EnumNames<Bound>::names.size()> by{};
  for (const OperatorTime& one : *this) by[static_cast<std::size_t>(one.kernel.bound)] += one.count * one.kernel.time;
  std::size_t largest = 0;
  for (std::size_t i = 1; i < by.size(); ++i) {
    if (by[i] > by[largest]) largest = i;
  }
  return static_cast<Bound>(largest);
}

Flops OperatorBreakdown::FlopsOf() const {
  Flops sum;
  for (const OperatorTime& one : *this) {
    if (one.kernel.flops > Flops{}) sum += one.count * one.kernel.flops;
  }
  return Figure("FLOPs of the pass", sum, "of its kernels on one device");
}

Bytes OperatorBreakdown::BytesOf() const {
  Bytes sum;
  for (const OperatorTime& one : *this) {
    if (one.kernel.bytes > Bytes{}) sum += one.count * one.kernel.bytes;
  }
  return Figure("Memory traffic of the pass", sum, "of its kernels on one device");
}

}  // namespace slipstick
