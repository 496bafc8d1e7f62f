// Random numbers that are the same on every machine, with any standard library.
#pragma once

#include <cstdint>

namespace slipstick {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double Uniform();            // in [0, 1)
  double Exponential();        // mean 1
  double Normal();             // mean 0, standard deviation 1
  double Gamma(double shape);  // mean `shape`, variance `shape`

 private:
  std::uint64_t state_;
};

}  // namespace slipstick
