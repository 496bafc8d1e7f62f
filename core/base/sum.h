// A figure that sums parts known only at run time: a stage's layers, a layer's GEMMs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/trace.h"

namespace slipstick {

// Collects the parts for a formula such as "layer * layer_count + output_head"; zero parts are left out.
class SumText {
 public:
  void Add(std::string_view name, internal::Value part, double count);
  // Records a figure in the current scope, if there is any part. The total is the sum in the order of the parts.
  void Record(Trace& trace, std::string_view symbol, internal::Value total, const Note& note) const;

 private:
  struct Part {
    std::string symbol;
    internal::Value value;
    double count;
  };
  std::vector<Part> parts_;
};

// The sum; with an off trace it costs only the additions.
template <class Q>
class ListedSum {
 public:
  explicit ListedSum(Trace& trace) : trace_(trace) {}

  // `name` may be any text: its letters and digits become the symbol.
  void Add(std::string_view name, Q part, double count = 1) {
    total_ += part * count;
    if (trace_.on() && count != 0 && part != Q()) text_.Add(name, internal::ValueOf(part), count);
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
