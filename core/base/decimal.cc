#include "core/base/decimal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace slipstick {
namespace {

constexpr int kExactDigits = 15, kExactPower = 22;  // whole numbers of so many digits and powers of ten up to it are doubles
constexpr std::size_t kMostDigits = 780;            // more than any midpoint of two doubles has
constexpr int kMantissaBits = 52, kLeastExponent = -1074;

// Times 10^power; a rounding for each 22 of it.
double Scaled(double value, int power) {
  static constexpr double powers[]{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  for (; power > kExactPower; power -= kExactPower) value *= powers[kExactPower];
  for (; power < -kExactPower; power += kExactPower) value /= powers[kExactPower];
  return power < 0 ? value / powers[-power] : value * powers[power];
}

std::uint64_t BitsOf(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
double OfBits(std::uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// A whole number of any size, the lowest 32 bits first.
class Whole {
 public:
  explicit Whole(std::uint64_t value) {
    for (; value > 0; value >>= 32) words_.push_back(static_cast<std::uint32_t>(value));
  }
  void MultiplyAdd(std::uint32_t factor, std::uint32_t more) {
    std::uint64_t carry = more;
    for (std::uint32_t& word : words_) {
      carry += std::uint64_t{word} * factor;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry > 0) words_.push_back(static_cast<std::uint32_t>(carry));
  }
  void RaiseBy(int ten, int two) {
    for (; ten > 0; --ten) MultiplyAdd(10, 0);
    for (; two >= 16; two -= 16) MultiplyAdd(1U << 16, 0);
    if (two > 0) MultiplyAdd(1U << two, 0);
  }
  friend int Compare(const Whole& a, const Whole& b) {
    if (a.words_.size() != b.words_.size()) return a.words_.size() < b.words_.size() ? -1 : 1;
    for (std::size_t i = a.words_.size(); i-- > 0;) {
      if (a.words_[i] != b.words_[i]) return a.words_[i] < b.words_[i] ? -1 : 1;
    }
    return 0;
  }

 private:
  std::vector<std::uint32_t> words_;
};

// decimal · 10^ten against binary · 2^two: -1, 0 or 1.
int Compare(Whole decimal, int ten, std::uint64_t binary, int two) {
  Whole other(binary);
  decimal.RaiseBy(ten, -two);
  other.RaiseBy(-ten, two);
  return Compare(decimal, other);
}

// A finite double that is not negative: mantissa · 2^exponent.
struct Binary {
  std::uint64_t mantissa;
  int exponent;
};
Binary BinaryOf(std::uint64_t bits) {
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << kMantissaBits) - 1);
  const int biased = static_cast<int>(bits >> kMantissaBits);
  if (biased == 0) return {fraction, kLeastExponent};
  return {fraction | std::uint64_t{1} << kMantissaBits, biased - 1 + kLeastExponent};
}

// The double nearest to digits · 10^ten, from one that is near. Doubles that are not negative have the order of their bits.
double Nearest(const Whole& digits, int ten, double near) {
  auto bits = BitsOf(std::min(near, std::numeric_limits<double>::max()));
  const auto above_middle = [&](std::uint64_t lower) {  // of a double and the next one
    const Binary below = BinaryOf(lower);
    return Compare(digits, ten, 2 * below.mantissa + 1, below.exponent - 1);
  };
  const std::uint64_t infinite = BitsOf(std::numeric_limits<double>::infinity());
  while (bits > 0 && above_middle(bits - 1) < 0) --bits;
  while (bits < infinite && above_middle(bits) > 0) ++bits;
  if (bits % 2 == 1) {  // halfway
    if (above_middle(bits) == 0) {
      ++bits;
    } else if (above_middle(bits - 1) == 0) {
      --bits;
    }
  }
  return OfBits(bits);
}

int Width(std::uint64_t value) {
  int width = 0;
  for (; value > 0; value >>= 1) ++width;
  return width;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// 10^5 to 10^6: the six leading digits of a positive number, the first of which counts 10^exponent.
struct Leading {
  std::int64_t digits;
  int exponent;
};
Leading LeadingDigits(double value) {
  const Binary binary = BinaryOf(BitsOf(value));
  const auto against = [&](std::int64_t twice, int ten) {  // half of `twice` · 10^ten against the value
    return Compare(Whole(static_cast<std::uint64_t>(twice)), ten, binary.mantissa, binary.exponent + 1);
  };
  int exponent = static_cast<int>(std::floor((Width(binary.mantissa) - 1 + binary.exponent) * 0.30102999566398120));
  if (against(20, exponent) <= 0) ++exponent;
  const int ten = exponent - 5;
  auto digits = static_cast<std::int64_t>(std::round(Scaled(value, -ten)));
  while (against(2 * digits - 1, ten) > 0) --digits;
  while (against(2 * digits + 1, ten) < 0) ++digits;
  if (digits % 2 == 1 && against(2 * digits + 1, ten) == 0) ++digits;
  if (digits % 2 == 1 && against(2 * digits - 1, ten) == 0) --digits;
  if (digits == 1'000'000) return {100'000, exponent + 1};
  return {digits, exponent};
}

}  // namespace

double DoubleOf(std::string_view decimal) {
  std::size_t at = 0;
  const auto here = [&] { return at < decimal.size() ? decimal[at] : '\0'; };
  const bool negative = here() == '-';
  if (negative || here() == '+') ++at;
  std::string digits;  // without leading zeros
  int ten = 0;
  bool is_behind_point = false;
  for (; IsDigit(here()) || (here() == '.' && !is_behind_point); ++at) {
    if (here() == '.') {
      is_behind_point = true;
      continue;
    }
    const bool is_kept = digits.size() < kMostDigits;
    if (is_kept && !(digits.empty() && here() == '0')) digits += here();
    if (!is_kept && here() != '0') digits.back() = '1';  // more than the digits say, which is all that counts
    ten += (is_kept ? 0 : 1) - (is_behind_point ? 1 : 0);
  }
  if (here() == 'e' || here() == 'E') {
    ++at;
    const bool down = here() == '-';
    if (down || here() == '+') ++at;
    int power = 0;
    for (; IsDigit(here()); ++at) power = std::min(power * 10 + (here() - '0'), 10'000'000);
    ten += down ? -power : power;
  }
  double value = 0;
  const auto leading = static_cast<std::int64_t>(digits.size()) + ten;  // 10^leading is above the value
  if (digits.empty() || leading < -330) {
    value = 0;
  } else if (leading > 310) {
    value = std::numeric_limits<double>::infinity();
  } else {
    std::uint64_t first = 0;
    const std::size_t taken = std::min<std::size_t>(digits.size(), 18);
    for (std::size_t i = 0; i < taken; ++i) first = first * 10 + static_cast<std::uint64_t>(digits[i] - '0');
    value = Scaled(static_cast<double>(first), ten + static_cast<int>(digits.size() - taken));
    if (digits.size() > kExactDigits || ten < -kExactPower || ten > kExactPower) {
      Whole all(0);
      for (const char digit : digits) all.MultiplyAdd(10, static_cast<std::uint32_t>(digit - '0'));
      value = Nearest(all, ten, value);
    }
  }
  return negative ? -value : value;
}

std::string NumberText(double value) {
  if (std::isnan(value)) return "nan";
  std::string text = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return text + "inf";
  if (value == 0) return text + "0";
  const Leading leading = LeadingDigits(std::abs(value));
  std::string digits = std::to_string(leading.digits);
  digits.erase(digits.find_last_not_of('0') + 1);
  const int exponent = leading.exponent;
  if (exponent < -4 || exponent >= 6) {
    text += digits[0];
    if (digits.size() > 1) text += "." + digits.substr(1);
    const int size = std::abs(exponent);
    return text + (exponent < 0 ? "e-" : "e+") + (size < 10 ? "0" : "") + std::to_string(size);
  }
  if (exponent < 0) return text + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return text + digits + std::string(whole - digits.size(), '0');
  return text + digits.substr(0, whole) + "." + digits.substr(whole);
}

}  // namespace slipstick
