// Reading, writing and describing any struct that has a field table (field.h).
//
//   Read(json, "cluster", issues, cluster)   every fault becomes an issue; what is missing keeps its default
//   Write(cluster)                           the whole of it, numbers in base units; Read(Write(x)) == x
//   Describe<Cluster>("cluster", out)        path, kind, unit, range, default, choices, help of every field below it
//   ExpandPresets<Cluster>(json, …)          "preset": "dgx-h100" replaced by the catalogue's entry, overrides on top;
//                                            a member whose struct names a preset by default gets that one
//
// A number in JSON is in base units. A text is a number with its unit ("3.35 TB/s"), and must have the field's dimension.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/field.h"
#include "core/base/issue.h"
#include "core/base/json.h"

namespace slipstick {

namespace internal {

template <class T>
struct IsQuantity : std::false_type {};
template <int... E>
struct IsQuantity<Quantity<E...>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {
  using Inner = T;
};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {
  using Inner = T;
};

// What the checks of a leaf need to know of its field.
struct Leaf {
  Range range{};
  std::string_view unit = "";
  double unit_factor = 1;
  bool is_length = false;
};

// "expected …; got …" texts and the readers of leaves; in schema.cc.
std::string Shown(const Json& json);
std::string RangeText(const Leaf& leaf, bool whole);
std::optional<double> ReadNumber(const Json& json, const Leaf& leaf, const Dimension& dimension, bool whole, const std::string& path,
                                 Issues& issues);
void ReportUnknown(const Json& json, const std::vector<std::string_view>& known, const std::string& path, Issues& issues);
std::string NearestText(std::string_view word, const std::vector<std::string_view>& known);
Json DescribeNumber(const Leaf& leaf, const char* kind, double standard);

template <class T>
void ReadValue(const Json& json, const Leaf& leaf, const std::string& path, Issues& issues, T& out);
template <class T>
Json WriteValue(const T& value);

}  // namespace internal

template <class T>
void Read(const Json& json, const std::string& path, Issues& issues, T& out) {
  if (!json.is_object()) {
    issues.push_back({path, "expected an object; got " + internal::Shown(json)});
    return;
  }
  std::vector<std::string_view> known;
  std::apply(
      [&](const auto&... field) {
        const auto one = [&](const auto& f) {
          known.push_back(f.key);
          const auto found = json.find(f.key);
          const std::string at = JoinPath(path, f.key);
          if (found == json.end()) {
            if (f.is_required) issues.push_back({at, "is needed: " + std::string(f.help)});
            return;
          }
          internal::ReadValue(*found, internal::Leaf{f.range, f.unit, f.unit_factor, f.is_length}, at, issues, out.*(f.member));
        };
        (one(field), ...);
      },
      Schema<T>::fields);
  internal::ReportUnknown(json, known, path, issues);
}

template <class T>
Json Write(const T& value) {
  Json json = Json::object();
  std::apply([&](const auto&... field) { ((json[std::string(field.key)] = internal::WriteValue(value.*(field.member))), ...); },
             Schema<T>::fields);
  return json;
}

namespace internal {

template <class T>
void ReadValue(const Json& json, const Leaf& leaf, const std::string& path, Issues& issues, T& out) {
  if constexpr (IsOptional<T>::value) {
    if (json.is_null()) {
      out.reset();
      return;
    }
    typename IsOptional<T>::Inner inner = out.value_or(typename IsOptional<T>::Inner{});
    ReadValue(json, leaf, path, issues, inner);
    out = std::move(inner);
  } else if constexpr (IsVector<T>::value) {
    if (!json.is_array()) {
      issues.push_back({path, "expected a list; got " + Shown(json)});
      return;
    }
    if (json.size() > 64) {
      issues.push_back({path, "expected at most 64 places; got " + std::to_string(json.size())});
      return;
    }
    out.clear();
    for (std::size_t i = 0; i < json.size(); ++i) {
      typename IsVector<T>::Inner inner{};
      ReadValue(json[i], leaf, JoinPath(path, std::to_string(i)), issues, inner);
      out.push_back(std::move(inner));
    }
  } else if constexpr (IsQuantity<T>::value) {
    if (const auto v = ReadNumber(json, leaf, T::kDimension, false, path, issues)) out = T::FromBase(*v);
  } else if constexpr (std::is_same_v<T, double>) {
    if (const auto v = ReadNumber(json, leaf, Dimension{}, false, path, issues)) out = *v;
  } else if constexpr (std::is_same_v<T, Count>) {
    if (const auto v = ReadNumber(json, leaf, Dimension{}, true, path, issues)) out = static_cast<Count>(*v);
  } else if constexpr (std::is_same_v<T, CountOrMax>) {
    if (json.is_string() && json.get_ref<const std::string&>() == "max") {
      out.max = true;
    } else if (const auto v = ReadNumber(json, leaf, Dimension{}, true, path, issues)) {
      out = {false, static_cast<Count>(*v)};
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    if (json.is_boolean()) {
      out = json.get<bool>();
    } else {
      issues.push_back({path, "expected true or false; got " + Shown(json)});
    }
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (json.is_string() && json.get_ref<const std::string&>().size() <= 200) {
      out = json.get<std::string>();
    } else {
      issues.push_back({path, "expected a text of at most 200 characters; got " + Shown(json)});
    }
  } else if constexpr (std::is_enum_v<T>) {
    std::vector<std::string_view> names;
    for (const auto& [candidate, name] : EnumNames<T>::names) {
      names.push_back(name);
      if (json.is_string() && json.get_ref<const std::string&>() == name) {
        out = candidate;
        return;
      }
    }
    std::string choices;
    for (const std::string_view name : names) choices += (choices.empty() ? "" : ", ") + std::string(name);
    issues.push_back({path, "expected one of " + choices + "; got " + Shown(json) +
                                (json.is_string() ? NearestText(json.get_ref<const std::string&>(), names) : "")});
  } else {
    Read(json, path, issues, out);
  }
}

template <class T>
Json WriteValue(const T& value) {
  if constexpr (IsOptional<T>::value) {
    return value ? WriteValue(*value) : Json(nullptr);
  } else if constexpr (IsVector<T>::value) {
    Json list = Json::array();
    for (const auto& inner : value) list.push_back(WriteValue(inner));
    return list;
  } else if constexpr (IsQuantity<T>::value) {
    return value.base();
  } else if constexpr (std::is_same_v<T, CountOrMax>) {
    return value.max ? Json("max") : Json(value.count);
  } else if constexpr (std::is_enum_v<T>) {
    return Json(std::string(NameOf(value)));
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return Json(value);
  } else {
    return Write(value);
  }
}

template <class T>
void DescribeInto(const std::string& path, const T& standard, Json& out);

template <class F, class Member>
void DescribeField(const F& field, const std::string& path, const Member& standard, bool nullable, Json& out) {
  if constexpr (IsOptional<Member>::value) {
    using Inner = typename IsOptional<Member>::Inner;
    DescribeField(field, path, standard ? *standard : Inner{}, true, out);
    if constexpr (!requires { Schema<Inner>::fields; }) {
      if (!standard) out.back()["default"] = nullptr;
    }
  } else if constexpr (IsVector<Member>::value) {
    using Inner = typename IsVector<Member>::Inner;
    Json entry{{"path", path}, {"kind", "list"}, {"help", field.help}, {"default", WriteValue(standard)}};
    if (field.is_advanced) entry["advanced"] = true;
    out.push_back(std::move(entry));
    if constexpr (requires { Schema<Inner>::fields; }) DescribeInto(path + ".*", Inner{}, out);
  } else if constexpr (requires { Schema<Member>::fields; }) {
    Json entry{{"path", path}, {"kind", "object"}, {"help", field.help}};
    if constexpr (requires { Schema<Member>::preset_kind; }) entry["presets"] = Schema<Member>::preset_kind;
    if (nullable) entry["nullable"] = true;
    if (field.is_advanced) entry["advanced"] = true;
    out.push_back(std::move(entry));
    DescribeInto(path, standard, out);
  } else {
    const Leaf leaf{field.range, field.unit, field.unit_factor, field.is_length};
    Json entry;
    if constexpr (IsQuantity<Member>::value) {
      entry = DescribeNumber(leaf, "quantity", standard.base());
      entry["base_unit"] = BaseUnitText(Member::kDimension);
    } else if constexpr (std::is_same_v<Member, double>) {
      entry = DescribeNumber(leaf, "ratio", standard);
    } else if constexpr (std::is_same_v<Member, Count>) {
      entry = DescribeNumber(leaf, field.is_length ? "length" : "count", static_cast<double>(standard));
    } else if constexpr (std::is_same_v<Member, CountOrMax>) {
      entry = DescribeNumber(leaf, "count", static_cast<double>(standard.count));
      entry["word"] = "max";
    } else if constexpr (std::is_same_v<Member, bool>) {
      entry = Json{{"kind", "flag"}, {"default", standard}};
    } else if constexpr (std::is_enum_v<Member>) {
      Json choices = Json::array();
      for (const auto& [candidate, name] : EnumNames<Member>::names) choices.push_back(name);
      entry = Json{{"kind", "choice"}, {"default", NameOf(standard)}, {"choices", std::move(choices)}};
    } else {
      entry = Json{{"kind", "text"}, {"default", standard}};
    }
    Json whole{{"path", path}};
    whole.update(entry);
    whole["help"] = field.help;
    if (nullable) whole["nullable"] = true;
    if (field.is_required) whole["required"] = true;
    if (field.is_derived) whole["derived"] = true;
    if (field.is_advanced) whole["advanced"] = true;
    out.push_back(std::move(whole));
  }
}

template <class T>
void DescribeInto(const std::string& path, const T& standard, Json& out) {
  std::apply([&](const auto&... field) { (DescribeField(field, JoinPath(path, field.key), standard.*(field.member), false, out), ...); },
             Schema<T>::fields);
}

}  // namespace internal

// Appends an entry a field to the array `out`, in the order of the tables, with the defaults of `standard`.
template <class T>
void Describe(const std::string& path, const T& standard, Json& out) {
  internal::DescribeInto(path, standard, out);
}

// Finds a catalogue entry; null where there is none.
using PresetFinder = std::function<const Json*(std::string_view kind, std::string_view id)>;
// The ids of a kind nearest to a word, for messages.
using PresetHint = std::function<std::string(std::string_view kind, std::string_view id)>;

namespace internal {
bool ReplacePreset(Json& json, std::string_view kind, const std::string& path, const PresetFinder& find, const PresetHint& hint,
                   Issues& issues);
}

// Replaces every {"preset": id, …overrides} below `json` by the catalogue's entry with the overrides laid over it.
template <class T>
void ExpandPresets(Json& json, const std::string& path, const PresetFinder& find, const PresetHint& hint, Issues& issues) {
  if constexpr (internal::IsOptional<T>::value || internal::IsVector<T>::value) {
    if constexpr (internal::IsVector<T>::value) {
      if (!json.is_array()) return;
      for (std::size_t i = 0; i < json.size() && i < 64; ++i) {
        ExpandPresets<typename T::value_type>(json[i], JoinPath(path, std::to_string(i)), find, hint, issues);
      }
    } else {
      ExpandPresets<typename T::value_type>(json, path, find, hint, issues);
    }
  } else if constexpr (requires { Schema<T>::fields; }) {
    if constexpr (requires { Schema<T>::preset_kind; }) {
      if (json.is_string()) json = Json{{"preset", json}};
      if (!internal::ReplacePreset(json, Schema<T>::preset_kind, path, find, hint, issues)) return;
    }
    if (!json.is_object()) return;
    std::apply(
        [&](const auto&... field) {
          const auto one = [&](const auto& f) {
            using Member = std::remove_reference_t<decltype(std::declval<T&>().*(f.member))>;
            if constexpr (requires { Schema<Member>::preset_kind; }) {
              const std::string standard = Member{}.preset;
              if (!standard.empty() && !json.contains(f.key)) json[std::string(f.key)] = Json{{"preset", standard}};
            }
            const auto found = json.find(f.key);
            if (found != json.end()) ExpandPresets<Member>(*found, JoinPath(path, f.key), find, hint, issues);
          };
          (one(field), ...);
        },
        Schema<T>::fields);
  }
}

}  // namespace slipstick
