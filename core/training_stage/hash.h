// Hash of numbers, for caches that overwrite on collision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/units.h"

namespace slipstick {

class Hash {
 public:
  Hash& Mix(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    state_ = (state_ ^ bits) * 0x9E3779B97F4A7C15ULL;
    state_ ^= state_ >> 29;
    return *this;
  }
  Hash& Mix(Count value) { return Mix(static_cast<double>(value)); }
  [[nodiscard]] std::size_t Modulo(std::size_t size) const { return static_cast<std::size_t>(state_ % size); }

 private:
  std::uint64_t state_ = 0xD1B54A32D192ED03ULL;
};

}  // namespace slipstick
