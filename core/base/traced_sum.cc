#include "core/base/traced_sum.h"

#include <string>

namespace slipstick {
namespace internal {

void RecordSum(Trace& trace, std::string_view symbol, const Note& note, const std::vector<std::string_view>& symbols,
               const std::vector<Value>& sum_and_addends) {
  std::string formula, names;
  for (const std::string_view addend : symbols) {
    formula += (formula.empty() ? "" : " + ") + std::string(addend);
    names += (names.empty() ? "" : ", ") + std::string(addend);
  }
  if (formula.empty()) formula = "0";
  trace.Record(FigureText{symbol, formula, names, note}, sum_and_addends);
}

}  // namespace internal

void RunningProduct::MultiplyBy(std::string_view symbol, double factor) {
  const double before = product_;
  product_ *= factor;
  if (trace_.on() && is_empty_) trace_.Alias(symbol_, product_, symbol);
  if (trace_.on() && !is_empty_) {
    trace_.Alias(before_, before, symbol_);
    const std::string formula = std::string(before_) + " * " + std::string(symbol);
    const std::string names = std::string(before_) + ", " + std::string(symbol);
    trace_.Record(symbol_, formula, product_, note_, names, before, factor);
  }
  is_empty_ = false;
}

}  // namespace slipstick
