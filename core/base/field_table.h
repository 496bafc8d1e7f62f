// The rows of a field table, and how they are written: Of<&Memory::capacity>("capacity", "…").In(kGB).AtLeast(0).
#pragma once

#include "core/base/type.h"

namespace slipstick {

// Builds a row. The range, if any, is stated in the display unit, so .In(…) comes before it.
class FieldBuilder {
 public:
  constexpr explicit FieldBuilder(FieldRow row) : row_(row) {}
  constexpr operator FieldRow() const { return row_; }

  template <class Q>
  constexpr FieldBuilder In(Unit<Q> display) const {
    return With([&](FieldFacts& facts) { facts.unit = display.text, facts.unit_factor = display.factor; });
  }
  constexpr FieldBuilder AtLeast(double low) const {
    return With([&](FieldFacts& facts) { facts.range.low = low * facts.unit_factor; });
  }
  constexpr FieldBuilder Above(double low) const {
    return With([&](FieldFacts& facts) { facts.range.low = low * facts.unit_factor, facts.range.open_low = true; });
  }
  constexpr FieldBuilder AtMost(double high) const {
    return With([&](FieldFacts& facts) { facts.range.high = high * facts.unit_factor; });
  }
  constexpr FieldBuilder Between(double low, double high) const { return AtLeast(low).AtMost(high); }
  constexpr FieldBuilder Required() const {
    return With([](FieldFacts& facts) { facts.is_required = true; });
  }
  constexpr FieldBuilder Length() const {
    return With([](FieldFacts& facts) { facts.is_length = true; });
  }
  constexpr FieldBuilder Derived() const {
    return With([](FieldFacts& facts) { facts.is_derived = true; });
  }
  constexpr FieldBuilder OutsideReports() const {
    return With([](FieldFacts& facts) { facts.is_outside_reports = true; });
  }
  constexpr FieldBuilder Advanced() const {
    return With([](FieldFacts& facts) { facts.is_advanced = true; });
  }

 private:
  template <class Change>
  constexpr FieldBuilder With(Change change) const {
    FieldBuilder copy = *this;
    change(copy.row_.facts);
    return copy;
  }
  FieldRow row_;
};

namespace internal {

template <class Owner, class Member>
Owner OwnerOf(Member Owner::*);
template <class Owner, class Member>
Member MemberOf(Member Owner::*);
template <auto member>
void* MemberAt(void* owner) {
  return &(static_cast<decltype(OwnerOf(member))*>(owner)->*member);
}

}  // namespace internal

// A field of a struct.
template <auto member>
constexpr FieldBuilder Of(std::string_view key, std::string_view help) {
  FieldFacts facts;
  facts.key = key;
  facts.help = help;
  return FieldBuilder({facts, &internal::MemberAt<member>, &internal::kType<decltype(internal::MemberOf(member))>});
}

}  // namespace slipstick
