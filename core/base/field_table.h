// Writes the rows of a field table: Of<&Memory::capacity>("capacity", "…").In(kGB).AtLeast(0).
#pragma once

#include "core/base/type.h"

namespace slipstick {

// The range is in the display unit, so .In(…) comes first.
//
// Unless its row says otherwise, a value that must be above 0 is at least a millionth of its unit, and a quantity with
// a unit is at most a billion units: far beyond anything real, and small enough that no figure overflows.
class FieldBuilder {
 public:
  static constexpr double kLeast = 1e-6, kMost = 1e9;

  constexpr explicit FieldBuilder(FieldRow row) : row_(row) {}
  constexpr operator FieldRow() const { return row_; }  // NOLINT: a builder stands where a row is wanted

  template <class Q>
  constexpr FieldBuilder& In(Unit<Q> display) {
    row_.facts.unit = display.text;
    row_.facts.unit_factor = display.factor;
    return AtMost(kMost);
  }
  // Sets the label of a field whose help does not begin with its name.
  constexpr FieldBuilder& Label(std::string_view label) {
    row_.facts.label = label;
    return *this;
  }
  constexpr FieldBuilder& AtLeast(double low) {
    row_.facts.range.low = low * row_.facts.unit_factor;
    return *this;
  }
  constexpr FieldBuilder& Above(double low) { return AtLeast(low + kLeast); }
  constexpr FieldBuilder& AtMost(double high) {
    row_.facts.range.high = high * row_.facts.unit_factor;
    return *this;
  }
  constexpr FieldBuilder& Between(double low, double high) { return AtLeast(low).AtMost(high); }
  // A fraction above 0 and at most 1.
  constexpr FieldBuilder& Share() { return Above(0).AtMost(1); }
  constexpr FieldBuilder& Required() {
    row_.facts.is_required = true;
    return *this;
  }
  constexpr FieldBuilder& Length() {
    row_.facts.is_length = true;
    return *this;
  }
  constexpr FieldBuilder& Derived() {
    row_.facts.is_derived = true;
    return *this;
  }
  constexpr FieldBuilder& OutsideReports() {
    row_.facts.is_outside_reports = true;
    return *this;
  }
  constexpr FieldBuilder& Advanced() {
    row_.facts.is_advanced = true;
    return *this;
  }
  // Shows a field by default in a table that is Advanced.
  constexpr FieldBuilder& Basic() {
    row_.facts.is_basic = true;
    return *this;
  }

 private:
  FieldRow row_;
};

namespace internal {

template <class Owner, class Member>
Owner OwnerOf(Member Owner::*);
template <class Owner, class Member>
Member MemberOf(Member Owner::*);
template <auto outermost, auto... inner>
void* MemberAt(void* owner) {
  void* member = &(static_cast<decltype(OwnerOf(outermost))*>(owner)->*outermost);
  if constexpr (sizeof...(inner) > 0) {
    return MemberAt<inner...>(member);
  } else {
    return member;
  }
}
template <auto outermost, auto... inner>
constexpr const Type* TypeOfMember() {
  if constexpr (sizeof...(inner) > 0) {
    return TypeOfMember<inner...>();
  } else {
    return &kType<decltype(MemberOf(outermost))>;
  }
}

}  // namespace internal

// A field of a struct: a member, or a member of a member where the JSON is flat and the struct is grouped:
// Of<&Engine::scheduler, &EngineScheduler::max_sequences>("max_sequences", "…").
template <auto... member>
constexpr FieldBuilder Of(std::string_view key, std::string_view help) {
  FieldFacts facts;
  facts.key = key;
  facts.help = help;
  return FieldBuilder({facts, &internal::MemberAt<member...>, internal::TypeOfMember<member...>()});
}

// A table of which the form shows only the Basic rows by default, the others on request.
template <std::size_t size>
constexpr std::array<FieldRow, size> Advanced(const FieldRow (&rows)[size]) {
  std::array<FieldRow, size> advanced = std::to_array(rows);
  for (FieldRow& row : advanced) row.facts.is_advanced = !row.facts.is_basic;
  return advanced;
}

}  // namespace slipstick
