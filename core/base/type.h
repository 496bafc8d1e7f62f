// Type descriptions of field tables: one per type, walked by the functions of schema.h. The walks are compiled only
// once, not once per field.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/catalogue_entry.h"
#include "core/base/field.h"

namespace slipstick {

namespace internal {
struct Type;
}

struct Range {
  double low = -std::numeric_limits<double>::infinity();  // in base units
  double high = std::numeric_limits<double>::infinity();
};

struct FieldFacts {
  std::string_view key;
  std::string_view help;
  std::string_view label = "";  // label in a form; if empty, the first words of the help
  std::string_view unit = "";   // display unit; a bare number in JSON is always in base units
  double unit_factor = 1;
  Range range{};
  bool is_required = false;         // the scenario or its preset must set it
  bool is_length = false;           // a length in tokens: "8k" is 8,192
  bool is_derived = false;          // filled in by the core if absent (dp, head_dim)
  bool is_outside_reports = false;  // changes no figure of a report: informational, or only for cost studies
  bool is_advanced = false;         // the form shows it only on request
  bool is_basic = false;            // always shown, although most of its table is advanced
};

// A member of a struct with a field table.
struct FieldRow {
  FieldFacts facts;
  void* (*at)(void* owner) = nullptr;
  const internal::Type* type = nullptr;
};

namespace internal {

enum class Kind { kQuantity, kRatio, kCount, kCountOrMax, kFlag, kText, kChoice, kEntry, kObject, kList, kOptional };

// The names of an enum and the values that they stand for.
struct Choices {
  const std::string_view* names;
  const int* values;
  std::size_t size;
};

// As Choices, for catalogue entries.
struct EntryOperations {
  const std::vector<std::string_view>& (*names)();
  std::string_view (*chosen)(const void* entry);
  void (*choose)(void* entry, std::string_view name);
};

struct OptionalOperations {
  void* (*held)(void* optional);    // the held value, or null
  void* (*engage)(void* optional);  // holds a default value if it was empty
  void (*reset)(void* optional);
};

struct ListOperations {
  std::size_t (*size)(const void* list);
  void* (*at)(void* list, std::size_t place);
  void (*clear)(void* list);
  void* (*append)(void* list);  // appends a default value
};

struct Type {
  Kind kind;
  const Dimension* dimension = nullptr;  // for a quantity
  bool has_node = false;                 // of a quantity, and of a ratio that is a Ratio
  Choices choices{};                     // for a choice
  EntryOperations entry{};               // for a choice among catalogue entries
  const Fields* fields = nullptr;        // for an object
  std::string_view preset_kind = "";
  std::string_view standard_id = "";  // of the entry that holds an object's defaults
  const Type* inner = nullptr;        // element of a list or an optional
  OptionalOperations optional{};
  ListOperations list{};
  const void* (*standard)() = nullptr;  // a default value: of `inner`, or of an object that may name a preset
};

// The type of a value, if there is one.
constexpr const Type& TypeOfValue(const Type& type) { return type.kind == Kind::kOptional ? *type.inner : type; }

// Sets the defaults that the presets state: of the object itself and of the objects in it.
void SetStandards(const Type& type, void* object);  // schema.cc

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

template <class T>
struct IsEntry : std::false_type {};
template <class T>
struct IsEntry<CatalogueEntry<T>> : std::true_type {};

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

// A value with only defaults.
template <class T>
const T& Standard() {
  static const T& standard = *[] {
    T* made = new T{};  // never destroyed, so references to it stay valid until the program ends
    SetStandards(kType<T>, made);
    return made;
  }();
  return standard;
}
template <class T>
const void* StandardAddress() {
  return &Standard<T>();
}

template <class T>
struct Described {
  static constexpr Type Make() {
    Type type{};
    if constexpr (IsOptional<T>::value) {
      type.kind = Kind::kOptional;
      type.inner = &kType<typename T::value_type>;
      type.standard = &StandardAddress<typename T::value_type>;
      type.optional.held = [](void* optional) -> void* {
        T& it = *static_cast<T*>(optional);
        return it ? &*it : nullptr;
      };
      type.optional.engage = [](void* optional) -> void* {
        T& it = *static_cast<T*>(optional);
        if (!it) it = Standard<typename T::value_type>();
        return &*it;
      };
      type.optional.reset = [](void* optional) { static_cast<T*>(optional)->reset(); };
    } else if constexpr (IsVector<T>::value) {
      type.kind = Kind::kList;
      type.inner = &kType<typename T::value_type>;
      type.standard = &StandardAddress<typename T::value_type>;
      type.list.size = [](const void* list) { return static_cast<const T*>(list)->size(); };
      type.list.at = [](void* list, std::size_t place) -> void* { return &(*static_cast<T*>(list))[place]; };
      type.list.clear = [](void* list) { static_cast<T*>(list)->clear(); };
      type.list.append = [](void* list) -> void* {
        return &static_cast<T*>(list)->emplace_back(Standard<typename T::value_type>());
      };
    } else if constexpr (IsQuantity<T>::value) {
      // Tables write the value, which comes first, and then clear the node.
      static_assert(std::is_standard_layout_v<T> && std::is_trivially_copyable_v<T> && sizeof(T) == 16);
      type.kind = T::kIsRatio ? Kind::kRatio : Kind::kQuantity;
      type.dimension = &T::kDimension;
      type.has_node = true;
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
    } else if constexpr (IsEntry<T>::value) {
      type.kind = Kind::kEntry;
      type.entry.names = &T::Names;
      type.entry.chosen = [](const void* entry) { return static_cast<const T*>(entry)->name(); };
      type.entry.choose = [](void* entry, std::string_view name) { *static_cast<T*>(entry) = T(name); };
    } else if constexpr (std::is_enum_v<T>) {
      type.kind = Kind::kChoice;
      type.choices = {kChoiceNames<T>.data(), kChoiceValues<T>.data(), kChoiceNames<T>.size()};
    } else {
      type.kind = Kind::kObject;
      type.fields = &Schema<T>::fields;
      if constexpr (requires { Schema<T>::preset_kind; }) {
        type.preset_kind = Schema<T>::preset_kind;
        type.standard = &StandardAddress<T>;
      }
      if constexpr (requires { Schema<T>::standard; }) type.standard_id = Schema<T>::standard;
    }
    return type;
  }
};

}  // namespace internal
}  // namespace slipstick
