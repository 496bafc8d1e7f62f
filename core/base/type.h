// What a field table says of a type, as data: one description a type, walked by the functions of schema.h. The walks are
// thus compiled once and not once a field.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/field.h"

namespace slipstick::internal {

enum class Kind { kQuantity, kRatio, kCount, kCountOrMax, kFlag, kText, kChoice, kObject, kList, kOptional };

struct Type;

// A member of a struct with a field table.
struct Row {
  FieldFacts facts;
  void* (*at)(void* owner);
  const Type* type;
};

// The names of an enum and the values that they stand for.
struct Choices {
  const std::string_view* names;
  const int* values;
  std::size_t size;
};

struct OptionalOperations {
  void* (*held)(void* optional);    // what it holds, or null
  void* (*engage)(void* optional);  // holds a default value if it held none
  void (*reset)(void* optional);
};

struct ListOperations {
  std::size_t (*size)(const void* list);
  void* (*at)(void* list, std::size_t place);
  void (*clear)(void* list);
  void* (*append)(void* list);  // a default value
};

struct Type {
  Kind kind;
  const Dimension* dimension = nullptr;  // of a quantity
  Choices choices{};                     // of a choice
  const Row* rows = nullptr;             // of an object
  std::size_t row_count = 0;
  std::string_view preset_kind = "";
  const Type* inner = nullptr;  // of a list or an optional
  OptionalOperations optional{};
  ListOperations list{};
  const void* (*standard)() = nullptr;  // a default value: of `inner`, or of an object that may name a preset
};

template <class T>
struct IsQuantity : std::false_type {};
template <int... E>
struct IsQuantity<Quantity<E...>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class E>
inline constexpr auto kChoiceNames = [] {
  std::array<std::string_view, EnumNames<E>::names.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = EnumNames<E>::names[i].second;
  return names;
}();
template <class E>
inline constexpr auto kChoiceValues = [] {
  static_assert(sizeof(E) == sizeof(int));
  std::array<int, EnumNames<E>::names.size()> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(EnumNames<E>::names[i].first);
  return values;
}();

template <class T>
struct Described;
template <class T>
inline constexpr Type kType = Described<T>::Make();

template <class T, std::size_t I>
void* MemberAt(void* owner) {
  constexpr auto member = std::get<I>(Schema<T>::fields).member;  // a constant, so that the table itself is not kept
  return &(static_cast<T*>(owner)->*member);
}
template <class Owner, class Member>
Member MemberOf(const Field<Owner, Member>&);

template <class T, std::size_t... I>
constexpr std::array<Row, sizeof...(I)> RowsOf(std::index_sequence<I...>) {
  return {Row{std::get<I>(Schema<T>::fields), &MemberAt<T, I>, &kType<decltype(MemberOf(std::get<I>(Schema<T>::fields)))>}...};
}
template <class T>
inline constexpr auto kRows = RowsOf<T>(std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(Schema<T>::fields)>>>());

template <class T>
const void* Standard() {
  static const T& standard = *new T{};  // never destroyed: nothing of it outlives the program
  return &standard;
}

template <class T>
struct Described {
  static constexpr Type Make() {
    Type type{};
    if constexpr (IsOptional<T>::value) {
      type.kind = Kind::kOptional;
      type.inner = &kType<typename T::value_type>;
      type.standard = &Standard<typename T::value_type>;
      type.optional.held = [](void* optional) -> void* {
        T& it = *static_cast<T*>(optional);
        return it ? &*it : nullptr;
      };
      type.optional.engage = [](void* optional) -> void* {
        T& it = *static_cast<T*>(optional);
        if (!it) it.emplace();
        return &*it;
      };
      type.optional.reset = [](void* optional) { static_cast<T*>(optional)->reset(); };
    } else if constexpr (IsVector<T>::value) {
      type.kind = Kind::kList;
      type.inner = &kType<typename T::value_type>;
      type.standard = &Standard<typename T::value_type>;
      type.list.size = [](const void* list) { return static_cast<const T*>(list)->size(); };
      type.list.at = [](void* list, std::size_t place) -> void* { return &(*static_cast<T*>(list))[place]; };
      type.list.clear = [](void* list) { static_cast<T*>(list)->clear(); };
      type.list.append = [](void* list) -> void* { return &static_cast<T*>(list)->emplace_back(); };
    } else if constexpr (IsQuantity<T>::value) {
      static_assert(sizeof(T) == sizeof(double));
      type.kind = Kind::kQuantity;
      type.dimension = &T::kDimension;
    } else if constexpr (std::is_same_v<T, double>) {
      type.kind = Kind::kRatio;
    } else if constexpr (std::is_same_v<T, Count>) {
      type.kind = Kind::kCount;
    } else if constexpr (std::is_same_v<T, CountOrMax>) {
      type.kind = Kind::kCountOrMax;
    } else if constexpr (std::is_same_v<T, bool>) {
      type.kind = Kind::kFlag;
    } else if constexpr (std::is_same_v<T, std::string>) {
      type.kind = Kind::kText;
    } else if constexpr (std::is_enum_v<T>) {
      type.kind = Kind::kChoice;
      type.choices = {kChoiceNames<T>.data(), kChoiceValues<T>.data(), kChoiceNames<T>.size()};
    } else {
      type.kind = Kind::kObject;
      type.rows = kRows<T>.data();
      type.row_count = kRows<T>.size();
      if constexpr (requires { Schema<T>::preset_kind; }) {
        type.preset_kind = Schema<T>::preset_kind;
        type.standard = &Standard<T>;
      }
    }
    return type;
  }
};

}  // namespace slipstick::internal
