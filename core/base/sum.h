// Figures that are sums of parts known only at run time: a stage's layers, a layer's GEMMs.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/trace.h"

namespace slipstick {

// The formula of a sum, "a + b * c", that grows addend by addend.
class SumFormula {
 public:
  // `addend`: "b * c"; `terms`: those in it.
  void Add(std::string_view addend, std::initializer_list<std::pair<std::string_view, internal::Value>> terms);
  [[nodiscard]] bool empty() const { return formula_.empty(); }
  // Records it as a figure in the current scope; of no addends: "0".
  void Record(Trace& trace, std::string_view symbol, internal::Value total, const Note& note) const;

 private:
  std::string formula_, names_;
  std::vector<internal::Value> values_;
};

template <class Q>
struct Addend {
  std::string_view symbol;
  Q value;
  bool is_there = true;  // false: no part of the sum, nor of its formula
};

// The addends added in order, recorded as "a + b".
template <class Q>
Q Sum(Trace& trace, std::string_view symbol, const Note& note, std::initializer_list<Addend<Q>> addends) {
  Q sum{};
  for (const Addend<Q>& addend : addends) {
    if (addend.is_there) sum += addend.value;
  }
  if (!trace.on()) return sum;
  SumFormula formula;
  for (const Addend<Q>& addend : addends) {
    if (addend.is_there) formula.Add(addend.symbol, {{addend.symbol, internal::ValueOf(addend.value)}});
  }
  formula.Record(trace, symbol, internal::ValueOf(sum), note);
  return sum;
}

// Collects the parts for a formula such as "layer * layer_count + output_head"; zero parts are left out.
class SumText {
 public:
  // `from` and `count_from`: the figures that part and count are; the nearest when they are added. Empty: one of the
  // part's own name.
  void Add(Trace& trace, std::string_view name, internal::Value part, double count, std::string_view from,
           std::string_view count_from);
  // Records a figure in the current scope. The total is the sum in the order of the parts.
  void Record(Trace& trace, std::string_view symbol, internal::Value total, const Note& note) const;

 private:
  struct Part {
    std::string symbol;
    internal::Value value;
    double count;
    std::string from, count_from;  // symbols bound to their origins
  };
  std::vector<Part> parts_;
};

// A sum of parts with counts; with an off trace it costs only the additions.
template <class Q>
class ListedSum {
 public:
  explicit ListedSum(Trace& trace) : trace_(trace) {}

  // `name` may be any text: its letters and digits become the symbol. `from`, `count_from`: the figures that part and
  // count are, if they have other names; a part that is zero is left out unless it has one.
  void Add(std::string_view name, Q part, double count = 1, std::string_view from = "",
           std::string_view count_from = "") {
    total_ += part * count;
    if (trace_.on() && count != 0 && (part != Q() || !from.empty()))
      text_.Add(trace_, name, internal::ValueOf(part), count, from, count_from);
  }
  // Records the total as a figure. The note's texts must be static.
  Q Total(std::string_view symbol, const Note& note) const { return Record(symbol, total_, note); }
  // The same with a `total` computed in another order, which differs by rounding.
  Q Record(std::string_view symbol, Q total, const Note& note) const {
    if (trace_.on()) text_.Record(trace_, symbol, internal::ValueOf(total), note);
    return total;
  }

 private:
  Trace& trace_;
  SumText text_;
  Q total_{};
};

}  // namespace slipstick
