#include "core/base/arithmetic.h"

#include <cmath>
#include <cstdlib>
#include <string>

namespace slipstick {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A recursive-descent reader; each function advances `at` past what it read, or leaves it unchanged.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<double> Sum() {
    std::optional<double> value = Product();
    while (value) {
      const std::size_t before = at_;
      const char sign = Operator("+-");
      const std::optional<double> next = sign ? Product() : std::nullopt;
      if (!next) {
        at_ = before;
        return value;
      }
      *value += sign == '+' ? *next : -*next;
    }
    return value;
  }

  std::size_t at() const { return at_; }
  bool sides() const { return sides_; }
  bool broken() const { return broken_; }

 private:
  char Peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\t') ++at_;
  }

  char Operator(std::string_view accepted) {
    SkipSpace();
    const char c = Peek();
    if (c == '\0' || accepted.find(c) == std::string_view::npos) return '\0';
    ++at_;
    SkipSpace();
    return c;
  }

  std::optional<double> Product() {
    std::optional<double> value = Power();
    while (value) {
      const std::size_t before = at_;
      const char sign = Operator("*/x");
      const std::optional<double> next = sign ? Power() : std::nullopt;
      if (!next) {
        at_ = before;
        return value;
      }
      sides_ = sides_ || sign == 'x';
      *value = sign == '/' ? *value / *next : *value * *next;
    }
    return value;
  }

  std::optional<double> Power() {
    const std::optional<double> base = Signed();
    const std::size_t before = at_;
    if (!base || Operator("^") == '\0') {
      at_ = before;
      return base;
    }
    const std::optional<double> exponent = Power();
    if (!exponent) {
      at_ = before;
      return base;
    }
    return std::pow(*base, *exponent);
  }

  std::optional<double> Signed() {
    const char sign = Peek() == '+' || Peek() == '-' ? text_[at_++] : '+';
    if (Peek() == '(') {
      ++at_;
      SkipSpace();
      const std::optional<double> inner = Sum();
      SkipSpace();
      if (!inner || Peek() != ')') {
        broken_ = true;
        return std::nullopt;
      }
      ++at_;
      return sign == '-' ? -*inner : *inner;
    }
    const std::optional<double> number = Number();
    return number && sign == '-' ? -*number : number;
  }

  // Digits with groups of three, a fraction, an exponent.
  std::optional<double> Number() {
    if (!IsDigit(Peek()) && !(Peek() == '.' && IsDigit(Peek(1)))) return std::nullopt;
    std::string digits;
    TakeDigits(digits);
    while (Peek() == ',' || Peek() == '_') {
      const bool group =
          !digits.empty() && IsDigit(Peek(1)) && IsDigit(Peek(2)) && IsDigit(Peek(3)) && !IsDigit(Peek(4));
      if (!group) {
        broken_ = true;
        return std::nullopt;
      }
      ++at_;
      TakeDigits(digits);
    }
    if (Peek() == '.') {
      digits += text_[at_++];
      TakeDigits(digits);
    }
    const std::size_t exponent = Peek() == 'e' || Peek() == 'E' ? (Peek(1) == '+' || Peek(1) == '-' ? 2 : 1) : 0;
    if (exponent > 0 && IsDigit(Peek(exponent))) {
      digits += text_.substr(at_, exponent);
      at_ += exponent;
      TakeDigits(digits);
    }
    return std::strtod(digits.c_str(), nullptr);
  }

  void TakeDigits(std::string& digits) {
    while (IsDigit(Peek())) digits += text_[at_++];
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool sides_ = false;
  bool broken_ = false;
};

}  // namespace

std::optional<WrittenNumber> ReadArithmetic(std::string_view text) {
  Reader reader(text);
  const std::optional<double> value = reader.Sum();
  if (!value || reader.broken() || !std::isfinite(*value)) return std::nullopt;
  return WrittenNumber{*value, reader.at(), reader.sides()};
}

}  // namespace slipstick
