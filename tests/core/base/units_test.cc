// Converting texts with units to numbers in base units.
#include "core/base/units.h"

#include <gtest/gtest.h>

#include <cmath>

namespace slipstick {
namespace {

double Base(const char* text) {
  const std::optional<Measure> measure = ParseMeasure(text);
  return measure ? measure->value : std::nan("");
}

TEST(Units, APrefixMultipliesItsUnit) {
  EXPECT_EQ(Base("80 GB"), 80e9);
  EXPECT_EQ(Base("16 MiB"), 16777216);
  EXPECT_DOUBLE_EQ(Base("2.5 us"), 2.5e-6);
  EXPECT_EQ(Base("3 kW"), 3000);  // one base unit: a joule per second
  EXPECT_EQ(Base("400 Gb/s"), 50e9);
  EXPECT_EQ(Base("400 Gbps"), 50e9);
  EXPECT_EQ(Base("50 GBps"), 50e9);
  EXPECT_DOUBLE_EQ(Base("0.08 $/kWh"), 0.08 / 3.6e6);
  EXPECT_DOUBLE_EQ(Base("0.1 /cm^2"), 0.001);  // per mm^2
  EXPECT_EQ(Base("15 Ttoken"), 15e12);
}

TEST(Units, ANumberWithoutOneMayHaveASuffix) {
  EXPECT_EQ(Base("4k"), 4000);
  EXPECT_EQ(ParseMeasure("4k", 1024)->value, 4096);
  EXPECT_EQ(Base("2M"), 2e6);
  EXPECT_EQ(Base("15 trillion"), 15e12);
  EXPECT_EQ(Base("1.4 trillion tokens"), 1.4e12);
  EXPECT_EQ(Base("$2.5 million"), 2.5e6);
  EXPECT_DOUBLE_EQ(Base("85 %"), 0.85);
  EXPECT_FALSE(ParseMeasure("4k")->has_unit);
  EXPECT_TRUE(ParseMeasure("4 kB")->has_unit);
}

TEST(Units, AnUnknownUnitIsRefused) {
  for (const char* text : {"", "GB", "80 gb", "80 GB/", "1 xB", "1 GBB", "1 $/"}) {
    EXPECT_FALSE(ParseMeasure(text)) << text;
  }
}

TEST(Units, ANumberIsReadableWithFourDigitsAndAPrefix) {
  EXPECT_EQ(ReadableText(5.6571, "s"), "5.657 s");
  EXPECT_EQ(ReadableText(80e9, "B"), "80 GB");
  EXPECT_EQ(ReadableText(42'000, "$"), "42000 $");
  EXPECT_EQ(ReadableText(1.285e9, "$"), "1285 M$");
  EXPECT_EQ(ReadableText(5e6, ""), "5,000,000");
  EXPECT_EQ(ReadableText(1.5e15, ""), "1.5e+15");
  EXPECT_EQ(ReadableText(0.25, ""), "0.25");
}

}  // namespace
}  // namespace slipstick
