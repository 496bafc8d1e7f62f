// Random bits that are the same on every machine, with any standard library.
#pragma once

#include <cstdint>

namespace slipstick {

inline constexpr std::uint64_t kGoldenStep = 0x9E3779B97F4A7C15ULL;  // between two counters: 2^64 over the golden ratio

// Well-mixed bits of a counter: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
inline std::uint64_t MixedBits(std::uint64_t counter) {
  counter = (counter ^ (counter >> 30)) * 0xBF58476D1CE4E5B9ULL;
  counter = (counter ^ (counter >> 27)) * 0x94D049BB133111EBULL;
  return counter ^ (counter >> 31);
}

// The upper 53 bits as a number in [0, 1).
inline double UniformOf(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace slipstick
