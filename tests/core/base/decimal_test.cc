// Decimal texts against the C library, which rounds correctly.
#include "core/base/decimal.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

namespace slipstick {
namespace {

std::uint64_t BitsOf(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

void ExpectSame(const std::string& text) { EXPECT_EQ(BitsOf(DoubleOf(text)), BitsOf(std::strtod(text.c_str(), nullptr))) << text; }

// Any finite double, also those near the ends of the range.
double AnyDouble(std::mt19937_64& random) {
  while (true) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (std::isfinite(value)) return value;
  }
}

TEST(Decimal, ReadsTheEndsOfTheRangeAndHalves) {
  for (const char* text : {"0", "-0", "12", "-1.5", ".5e-3", "1e999", "-1e400", "5e-324", "2.4703282292062327e-324",
                           "2.4703282292062328e-324", "2.2250738585072011e-308", "1.7976931348623158e308", "1.7976931348623159e308",
                           "9007199254740993", "9007199254740992.99999999999999999999", "9007199254740993.00000000000000000001",
                           "1e-99999999999", "123456789012345678901234567890"}) {
    ExpectSame(text);
  }
  ExpectSame("1" + std::string(2000, '0') + "1e-1990");
  ExpectSame("0." + std::string(900, '0') + "25e901");
}

TEST(Decimal, ReadsWhatTheLibraryReads) {
  std::mt19937_64 random(7);
  std::array<char, 64> text{};
  for (int i = 0; i < 3000; ++i) {
    std::snprintf(text.data(), text.size(), "%.*e", static_cast<int>(random() % 20), AnyDouble(random));
    ExpectSame(text.data());
  }
}

TEST(Decimal, WritesSixDigitsAsTheLibrary) {
  std::mt19937_64 random(11);
  std::array<char, 64> text{};
  const auto expect_same = [&](double value) {
    std::snprintf(text.data(), text.size(), "%.6g", value);
    EXPECT_EQ(NumberText(value), text.data());
  };
  for (const double value : {0.0, -0.0, 1.0, 100000.0, 999999.5, 1000000.0, 0.0001, 0.00009999995, 1234.5, 2.5e-7, 1e300, 5e-324}) {
    expect_same(value);
  }
  for (int i = 0; i < 3000; ++i) {
    expect_same(AnyDouble(random));
    expect_same(static_cast<double>(random() % 100'000'000) / 1000);
  }
}

}  // namespace
}  // namespace slipstick
