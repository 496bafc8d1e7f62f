// Sums and products that grow in a loop or have addends that are known only at run time.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "core/base/trace.h"

namespace slipstick {

template <class Q>
struct Addend {
  std::string_view symbol;
  Q value;
  bool is_there = true;  // false: no part of the sum, nor of its formula
};

namespace internal {
void RecordSum(Trace& trace, std::string_view symbol, const Note& note, const std::vector<std::string_view>& symbols,
               const std::vector<Value>& sum_and_addends);
}  // namespace internal

// The addends added in order, recorded as "a + b".
template <class Q>
Q Sum(Trace& trace, std::string_view symbol, const Note& note, std::initializer_list<Addend<Q>> addends) {
  Q sum{};
  for (const Addend<Q>& addend : addends) {
    if (addend.is_there) sum += addend.value;
  }
  if (!trace.on()) return sum;
  std::vector<std::string_view> symbols;
  std::vector<internal::Value> values{internal::ValueOf(sum)};
  for (const Addend<Q>& addend : addends) {
    if (!addend.is_there) continue;
    symbols.push_back(addend.symbol);
    values.push_back(internal::ValueOf(addend.value));
  }
  internal::RecordSum(trace, symbol, note, symbols, values);
  return sum;
}

// A sum that grows: `symbol` names it, `before` what it was before the latest addend. A sum of one addend is that addend.
template <class Q>
class RunningSum {
 public:
  RunningSum(Trace& trace, std::string_view symbol, std::string_view before, const Note& note)
      : trace_(trace), symbol_(symbol), before_(before), note_(note) {}

  void Add(std::string_view symbol, Q addend) {
    if (is_empty_) {
      sum_ = addend;
      trace_.Alias(symbol_, sum_, symbol);
    } else {
      trace_.Alias(before_, sum_, symbol_);
      sum_ = Sum<Q>(trace_, symbol_, note_, {{before_, sum_}, {symbol, addend}});
    }
    is_empty_ = false;
  }
  [[nodiscard]] Q sum() const { return sum_; }

 private:
  Trace& trace_;
  std::string_view symbol_, before_;
  Note note_;
  Q sum_{};
  bool is_empty_ = true;
};

// Product: the factors in order, recorded as "a * b".
class RunningProduct {
 public:
  RunningProduct(Trace& trace, std::string_view symbol, std::string_view before, const Note& note)
      : trace_(trace), symbol_(symbol), before_(before), note_(note) {}

  void MultiplyBy(std::string_view symbol, double factor);
  [[nodiscard]] double product() const { return product_; }

 private:
  Trace& trace_;
  std::string_view symbol_, before_;
  Note note_;
  double product_ = 1;
  bool is_empty_ = true;
};

}  // namespace slipstick
