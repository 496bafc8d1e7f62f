// A count that remembers its node, as a quantity does: a Count for loops, a Ratio in formulas. Write Ratio(tally) in
// formulas: an operator with a plain number on the other side takes the Count, which has no node.
#pragma once

#include <cmath>
#include <concepts>

#include "core/base/type.h"

namespace slipstick {

class Tally {
 public:
  constexpr Tally() = default;
  template <std::integral N>
  constexpr Tally(N count)  // NOLINT: a literal is a tally
      : count_(static_cast<Count>(count)) {}
  [[nodiscard]] constexpr Tally With(const Node* node) const {
    Tally tally(count_);
    tally.node_ = node;
    return tally;
  }
  constexpr operator Count() const { return count_; }  // NOLINT
  constexpr operator Ratio() const {                   // NOLINT
    return Ratio::FromBase(static_cast<double>(count_), node_);
  }

 private:
  Count count_ = 0;  // must be the first member: field tables read through its address
  const Node* node_ = nullptr;
};

// The tally of a number, rounded to a whole one.
inline Tally TallyOf(Ratio number) { return Tally(static_cast<Count>(std::llround(number))).With(number.node()); }

template <class Document>
void to_json(Document& json, const Tally& tally) {
  json = Count(tally);
}

template <>
struct internal::Described<Tally> {
  static constexpr Type Make() {
    static_assert(std::is_standard_layout_v<Tally>);
    Type type{};
    type.kind = Kind::kCount;
    type.dimension = &Ratio::kDimension;
    type.has_node = true;
    return type;
  }
};

}  // namespace slipstick
