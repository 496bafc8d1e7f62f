// The type of the field at a path, from the field tables: "cluster.networks.1.bandwidth".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/type.h"
#include "core/base/units.h"

namespace slipstick {

namespace internal {
// The type at the path below `type`, whether or not a value is present; null if there is no such field.
const Type* TypeAt(const Type& type, std::string_view path);
// The field at the path below `type`; null if there is none.
const FieldRow* FieldAt(const Type& type, std::string_view path);
}  // namespace internal

// The field at this path; null if there is none.
template <class T>
const FieldRow* FieldAt(std::string_view path) {
  return internal::FieldAt(internal::kType<T>, path);
}

// Whether the values of a field are whole numbers.
inline bool IsWhole(const FieldRow& field) {
  const internal::Kind kind = internal::TypeOfValue(*field.type).kind;
  return kind == internal::Kind::kCount || kind == internal::Kind::kCountOrMax;
}

// A number in base units as text in the unit of the field at this path; "" if the field has no unit.
template <class T>
std::string TextInUnitAt(std::string_view path, double value) {
  const FieldRow* field = FieldAt<T>(path);
  if (field == nullptr || field->facts.unit.empty()) return "";
  return NumberText(value / field->facts.unit_factor) + " " + std::string(field->facts.unit);
}

// The catalogue whose entry a text at this path names; "" if none.
template <class T>
std::string_view PresetKindAt(std::string_view path) {
  const internal::Type* type = internal::TypeAt(internal::kType<T>, path);
  return type != nullptr ? type->preset_kind : std::string_view();
}

// Whether the value at this path is a number with a unit.
template <class T>
bool IsQuantityAt(std::string_view path) {
  const internal::Type* type = internal::TypeAt(internal::kType<T>, path);
  return type != nullptr && type->kind == internal::Kind::kQuantity;
}

// The required members of an object at this path; none if the field is not an object.
template <class T>
std::vector<std::string_view> RequiredMembersAt(std::string_view path) {
  const internal::Type* type = internal::TypeAt(internal::kType<T>, path);
  std::vector<std::string_view> required;
  if (type == nullptr || type->kind != internal::Kind::kObject) return required;
  for (const FieldRow& row : *type->fields) {
    if (row.facts.is_required) required.push_back(row.facts.key);
  }
  return required;
}

}  // namespace slipstick
