// Reading, writing and describing any struct that has a field table (field.h).
//
//   Read(json, "cluster", issues, cluster)   every fault becomes an issue; absent members are as in the standard
//   Standard<Cluster>()                      a value with only defaults (field.h)
//   Write(cluster)                           all members, numbers in base units; Read(Write(x)) == x
//   Describe<Cluster>("cluster", out)        path, kind, unit, range, default, choices, help of every field below it
//   ExpandPresets<Cluster>(json, …)          replaces "preset": "dgx-h100" by the catalogue entry under the overrides;
//                                            a struct with a default preset gets that one
//   NameUnits<Cluster>(json, …)              gives bare numbers in texts the unit of their field: "700" -> "700 W"
//
// A number in JSON is in base units. A text is a number with its unit ("3.35 TB/s"), and must have the field's
// dimension; without a unit it is in base units too, unless NameUnits gave it one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/base/standard.h"
#include "core/base/type.h"

namespace slipstick {

// A text that had no unit, and what it was read as: {"cost.electricity", "0.12", "0.12 $/kWh"}.
struct NamedUnit {
  std::string path, text, value;
};

// A parsed catalogue entry; null if there is none. Defined where the catalogue is read (catalogue/presets.cc), as the
// next is.
const Json* FindPreset(std::string_view kind, std::string_view id);
// The ids of a kind that are similar to a word, most similar first; all of a small kind if none is.
std::vector<std::string> NearestPresets(std::string_view kind, std::string_view id);

// A catalogue entry without its remarks: sources, note, published values, `usual_for` and `comes_with`.
Json WithoutRemarks(const Json& preset);

namespace internal {

// A standard's entry, merged over the entry of the kind that it names. Defined where the catalogue is read
// (catalogue/catalogue_entries.cc).
Json StandardEntry(std::string_view id, std::string_view kind);

// Whether a text without a unit can be given the field's.
bool HasUnitToName(const FieldRow& row);

// A value as messages show it.
std::string Shown(const Json& json);

void ReadAs(const Type& type, const Json& json, const std::string& path, Issues& issues, void* out);
Json WriteAs(const Type& type, const void* value);
void DescribeAs(const Type& type, const std::string& path, const void* standard, Json& out);
void ExpandAs(const Type& type, Json& json, const std::string& path, Issues& issues);
void NameUnitsAs(const Type& type, Json& json, const std::string& path, std::vector<NamedUnit>& named);

}  // namespace internal

template <class T>
void Read(const Json& json, const std::string& path, Issues& issues, T& out) {
  out = internal::Standard<T>();
  internal::ReadAs(internal::kType<T>, json, path, issues, &out);
}

// As above, but into an existing value: absent members stay unchanged.
template <class T>
void ReadOver(const Json& json, const std::string& path, Issues& issues, T& out) {
  internal::ReadAs(internal::kType<T>, json, path, issues, &out);
}

template <class T>
Json Write(const T& value) {
  return internal::WriteAs(internal::kType<T>, &value);
}

// Appends one entry per field to the array `out`, in table order.
template <class T>
void Describe(const std::string& path, Json& out) {
  internal::DescribeAs(internal::kType<T>, path, &Standard<T>(), out);
}

// Replaces every {"preset": id, …overrides} below `json` by the catalogue's entry, with the overrides merged into it.
template <class T>
void ExpandPresets(Json& json, const std::string& path, Issues& issues) {
  internal::ExpandAs(internal::kType<T>, json, path, issues);
}

// Appends the field's unit to every text below `json` that is a bare number, and lists its changes. Counts and tokens
// stay plain.
template <class T>
void NameUnits(Json& json, const std::string& path, std::vector<NamedUnit>& named) {
  internal::NameUnitsAs(internal::kType<T>, json, path, named);
}

}  // namespace slipstick
