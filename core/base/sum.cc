#include "core/base/sum.h"

#include <algorithm>

#include "core/base/units.h"

namespace slipstick {
namespace {

bool IsLetterOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// "gate+up projection" -> "gate_up_projection".
std::string SymbolOf(std::string_view name) {
  std::string symbol;
  for (const char c : name) {
    if (IsLetterOrDigit(c)) {
      symbol += c;
    } else if (!symbol.empty() && symbol.back() != '_') {
      symbol += '_';
    }
  }
  return symbol;
}

}  // namespace

void SumText::Add(Trace& trace, std::string_view name, internal::Value part, double count, std::string_view from,
                  std::string_view count_from) {
  const std::string plain = SymbolOf(name);
  std::string symbol = plain;
  const auto is_taken = [&](const Part& other) { return other.symbol == symbol; };
  for (int more = 2; std::any_of(parts_.begin(), parts_.end(), is_taken); ++more) symbol = plain + "_" + std::to_string(more);
  const auto bound = [&](double value, std::string_view figure) {
    if (figure.empty()) return std::string();
    const std::string name_of_origin = symbol + " from " + std::string(figure);
    trace.Alias(name_of_origin, value, figure);
    return name_of_origin;
  };
  std::string part_from = bound(part.base, from), number_from = bound(count, count_from);
  parts_.push_back({std::move(symbol), part, count, std::move(part_from), std::move(number_from)});
}

void SumText::Record(Trace& trace, std::string_view symbol, internal::Value total, const Note& note) const {
  if (parts_.empty()) return;
  std::string formula, names;
  std::vector<internal::Value> values{total};
  for (const Part& part : parts_) {
    if (!part.from.empty()) trace.Alias(part.symbol, part.value.base, part.from);
    if (!part.count_from.empty()) trace.Alias(part.symbol + "_count", part.count, part.count_from);
    if (!formula.empty()) formula += " + ", names += ", ";
    formula += part.symbol;
    names += part.symbol;
    values.push_back(part.value);
    if (part.count == 1) continue;
    formula += " * " + part.symbol + "_count";
    names += ", " + part.symbol + "_count";
    values.push_back(internal::ValueOf(part.count));
  }
  trace.Record({symbol, formula, names, note}, values);
}

}  // namespace slipstick
