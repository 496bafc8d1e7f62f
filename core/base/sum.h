// A figure that is a sum whose parts are known only when the program runs: a stage's layers, a layer's products.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/trace.h"

namespace slipstick {

// Lists its parts as they are added, for a formula such as "layer * layer_count + output_head"; parts of nothing are left out.
class SumText {
 public:
  void Add(std::string_view name, internal::Value part, double count);
  // A figure of the trace's present scope, if there is any part. The total is the sum in the order of the parts.
  void Record(Trace& trace, std::string_view symbol, internal::Value total, const Note& note) const;

 private:
  struct Part {
    std::string symbol;
    internal::Value value;
    double count;
  };
  std::vector<Part> parts_;
};

// The sum itself. With an off trace it costs its additions.
template <class Q>
class ListedSum {
 public:
  explicit ListedSum(Trace& trace) : trace_(trace) {}

  // `name` may be any text: its letters and digits become the symbol.
  void Add(std::string_view name, Q part, double count = 1) {
    total_ += part * count;
    if (trace_.on() && count != 0 && part != Q()) text_.Add(name, internal::ValueOf(part), count);
  }
  // The total, recorded as a figure. The note's texts last as long as the program.
  Q Total(std::string_view symbol, const Note& note) const { return Record(symbol, total_, note); }
  // The same where the sum was also made elsewhere, in another order: `total`, which differs by rounding.
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
