// Output tables: one row per output beside its struct, as field.h has them for inputs.
//
// They define what the report holds and in which order, what a search can optimize, and the titles and units shown to
// people. To add an output: one row, with a title if people see it.
//
//   template <> struct Outputs<DieReport> {
//     static constexpr auto rows = std::tuple{
//         Output("area_mm2", &DieReport::area, "Die area"),
//         Output("yield", &DieReport::yield, "Yield").In("%").LargerIsBetter(),
//         Output("node", &DieReport::process, &Process::name, "Process node"),  // a member of a member
//     };
//   };
//
// A trailing comma makes clang-format keep one row per line.
//
//   WriteOutputs(die)                           the struct as JSON, numbers in base units, in the order of the rows
//   DescribeOutputs<DieReport>("dies.*", out)   path, title, short name, unit and better direction of every row below
//   SearchableOutputs<TrainingPart>()           the numbers that a search can optimize or limit, with their readers
//   AddShown(die, "cost.dies.0", shown)         the numbers that explanations are about
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/explanation.h"
#include "core/base/json.h"
#include "core/base/tally.h"
#include "core/base/type.h"

namespace slipstick {

// Specialized for every struct that a report holds.
template <class T>
struct Outputs;

enum class Better { kNeither, kSmaller, kLarger };

struct OutputFacts {
  std::string_view key;
  std::string_view title = "";
  std::string_view brief = "";  // short title; the title itself if empty
  std::string_view unit = "";   // for ratios and plain numbers: "%", "count"
  Better better = Better::kNeither;
  bool is_searchable = false;  // a search can optimize or limit it
  bool explains_each = false;  // of a list: the numbers of its elements have explanations
};

template <class Get>
struct OutputRow : OutputFacts {
  Get get;  // reads the struct

  constexpr OutputRow Short(std::string_view name) const {
    return With([&](OutputRow& row) { row.brief = name; });
  }
  constexpr OutputRow In(std::string_view name) const {
    return With([&](OutputRow& row) { row.unit = name; });
  }
  constexpr OutputRow SmallerIsBetter() const {
    return With([](OutputRow& row) { row.better = Better::kSmaller; });
  }
  constexpr OutputRow LargerIsBetter() const {
    return With([](OutputRow& row) { row.better = Better::kLarger; });
  }
  constexpr OutputRow Searchable() const {
    return With([](OutputRow& row) { row.is_searchable = true; });
  }
  constexpr OutputRow EachExplained() const {
    return With([](OutputRow& row) { row.explains_each = true; });
  }

 private:
  template <class Change>
  constexpr OutputRow With(Change change) const {
    OutputRow copy = *this;
    change(copy);
    return copy;
  }
};

namespace internal {

// Reads `second` from the result of `first`; absent if that is absent.
template <class First, class Second>
struct Path {
  First first;
  Second second;

  template <class Owner>
  constexpr decltype(auto) operator()(const Owner& owner) const {
    using Between = std::invoke_result_t<const First&, const Owner&>;
    if constexpr (IsOptional<std::remove_cvref_t<Between>>::value) {
      const auto& between = std::invoke(first, owner);
      using Read = std::remove_cvref_t<decltype(std::invoke(second, *between))>;
      using Absent = std::conditional_t<IsOptional<Read>::value, Read, std::optional<Read>>;
      return between ? Absent(std::invoke(second, *between)) : Absent();
    } else {
      static_assert(std::is_lvalue_reference_v<Between>);  // a reader may give a reference
      return std::invoke(second, std::invoke(first, owner));
    }
  }
};

}  // namespace internal

// A chain of members or functions: the first reads the struct, each other one the result of the one before.
template <class Get>
constexpr auto Output(std::string_view key, Get get, std::string_view title) {
  return OutputRow<Get>{{.key = key, .title = title}, get};
}
template <class First, class Second>
constexpr auto Output(std::string_view key, First first, Second second, std::string_view title) {
  return Output(key, internal::Path<First, Second>{first, second}, title);
}
template <class First, class Second, class Third>
constexpr auto Output(std::string_view key, First first, Second second, Third third, std::string_view title) {
  return Output(key, internal::Path<First, Second>{first, second}, third, title);
}

namespace internal {

template <class T>
concept HasOutputs = requires { Outputs<T>::rows; };

template <class T>
inline constexpr std::size_t kOutputs = std::tuple_size_v<std::remove_cvref_t<decltype(Outputs<T>::rows)>>;
template <class T, std::size_t I>
constexpr const auto& RowAt() {
  return std::get<I>(Outputs<T>::rows);
}
template <class T, std::size_t I>
using ValueAt = std::remove_cvref_t<std::invoke_result_t<decltype(RowAt<T, I>().get), const T&>>;

template <class T>
Json OutputJson(const T& value);

template <class T, std::size_t... I>
Json ObjectOfOutputs(const T& owner, std::index_sequence<I...>) {
  Json object = Json::object();
  object.get_ref<Json::object_t&>().reserve(sizeof...(I));
  const auto add = [&](const auto& row) { AddMember(object, row.key, OutputJson(std::invoke(row.get, owner))); };
  (add(RowAt<T, I>()), ...);
  return object;
}

template <class T>
Json OutputJson(const T& value) {
  if constexpr (IsOptional<T>::value) {
    return value ? OutputJson(*value) : Json(nullptr);
  } else if constexpr (IsVector<T>::value) {
    Json list = Json::array();
    list.get_ref<Json::array_t&>().reserve(value.size());
    for (const auto& one : value) list.push_back(OutputJson(one));
    return list;
  } else if constexpr (HasOutputs<T>) {
    return ObjectOfOutputs(value, std::make_index_sequence<kOutputs<T>>());
  } else if constexpr (IsQuantity<T>::value) {
    return Json(value.base());
  } else if constexpr (std::is_enum_v<T>) {
    return Json(NameOf(value));
  } else {
    return Json(value);
  }
}

// A number in base units; infinite if absent, such as tokens per dollar when the cost is zero.
template <class T>
double OutputNumber(const T& value) {
  if constexpr (IsOptional<T>::value) {
    return value ? OutputNumber(*value) : std::numeric_limits<double>::infinity();
  } else if constexpr (IsQuantity<T>::value) {
    return value.base();
  } else if constexpr (std::is_same_v<T, Tally>) {
    return static_cast<double>(Count{value});
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
struct Unwrapped {
  using Type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> : Unwrapped<T> {};
template <class T>
struct Unwrapped<std::vector<T>> : Unwrapped<T> {};

// Appends one entry of the description.
void AddDescription(const OutputFacts& facts, const std::string& path, std::string_view kind,
                    const Dimension* dimension, Json& out);

template <class Value>
constexpr std::string_view KindOfOutput() {
  using Inner = typename Unwrapped<Value>::Type;
  if (IsVector<Value>::value) return "list";
  if (HasOutputs<Inner>) return "object";
  if (std::is_same_v<Inner, bool>) return "flag";
  if (std::is_same_v<Inner, Json>) return "value";
  const bool is_number = IsQuantity<Inner>::value || std::is_same_v<Inner, Tally> || std::is_arithmetic_v<Inner>;
  return is_number ? "number" : "text";
}

}  // namespace internal

template <class T>
Json WriteOutputs(const T& value) {
  return internal::OutputJson(value);
}

template <class T>
void DescribeOutputs(const std::string& path, Json& out);

namespace internal {

template <class T, std::size_t I>
void DescribeOutput(const std::string& owner, Json& out) {
  using Given = ValueAt<T, I>;
  using Inner = typename Unwrapped<Given>::Type;
  const OutputFacts& facts = RowAt<T, I>();
  const std::string path = JoinPath(owner, facts.key);
  const Dimension* dimension = nullptr;
  if constexpr (IsQuantity<Inner>::value) dimension = &Inner::kDimension;
  AddDescription(facts, path, KindOfOutput<Given>(), dimension, out);
  if constexpr (HasOutputs<Inner>) DescribeOutputs<Inner>(IsVector<Given>::value ? path + ".*" : path, out);
}

template <class T, std::size_t... I>
void DescribeEach(const std::string& path, Json& out, std::index_sequence<I...>) {
  (DescribeOutput<T, I>(path, out), ...);
}

}  // namespace internal

template <class T>
void DescribeOutputs(const std::string& path, Json& out) {
  internal::DescribeEach<T>(path, out, std::make_index_sequence<internal::kOutputs<T>>());
}

namespace internal {

// The value of a row before it is converted to the unit that people read.
template <class Get, class T>
constexpr decltype(auto) Unconverted(const Get& get, const T& owner) {
  return std::invoke(get, owner);
}
template <class First, class Q, class T>
  requires IsQuantity<Q>::value
constexpr decltype(auto) Unconverted(const Path<First, double (*)(Q)>& get, const T& owner) {
  return std::invoke(get.first, owner);
}

template <class T>
void AddShown(const T& value, const OutputFacts& facts, const std::string& path, std::vector<ShownNumber>& shown) {
  if constexpr (IsOptional<T>::value) {
    if (value) AddShown(*value, facts, path, shown);
  } else if constexpr (IsVector<T>::value) {
    for (std::size_t i = 0; facts.explains_each && i < value.size(); ++i)
      AddShown(value[i], facts, path + "." + std::to_string(i), shown);
  } else if constexpr (IsQuantity<T>::value) {
    if (value.node() != nullptr || value == T()) shown.push_back({path, T::kDimension, value.base(), value.node()});
  } else if constexpr (std::is_same_v<T, Tally>) {
    AddShown(Ratio(value), facts, path, shown);
  } else if constexpr (HasOutputs<T>) {
    const auto add = [&](const auto& row) {
      AddShown(Unconverted(row.get, value), row, path + "." + std::string(row.key), shown);
    };
    std::apply([&](const auto&... row) { (add(row), ...); }, Outputs<T>::rows);
  }
}

}  // namespace internal

// Appends the numbers of a part of a report that explanations cover, each with its path and its node.
template <class T>
void AddShown(const T& part, const std::string& path, std::vector<ShownNumber>& shown) {
  internal::AddShown(part, {}, path, shown);
}

// A number that a search can optimize or limit, by its path below the struct: "memory_bytes.total".
template <class T>
struct SearchableOutput {
  std::string name;
  Better better;
  double (*read)(const T&);
};

namespace internal {

template <class T, std::size_t I, std::size_t J>
void AddSearchableBelow(std::vector<SearchableOutput<T>>& list) {
  constexpr const auto& row = RowAt<ValueAt<T, I>, J>();
  if constexpr (row.is_searchable) {
    list.push_back({std::string(RowAt<T, I>().key) + "." + std::string(row.key), row.better, [](const T& owner) {
                      return OutputNumber(
                          std::invoke(RowAt<ValueAt<T, I>, J>().get, std::invoke(RowAt<T, I>().get, owner)));
                    }});
  }
}

template <class T, std::size_t I, std::size_t... J>
void AddEachSearchableBelow(std::vector<SearchableOutput<T>>& list, std::index_sequence<J...>) {
  (AddSearchableBelow<T, I, J>(list), ...);
}

template <class T, std::size_t I>
void AddSearchable(std::vector<SearchableOutput<T>>& list) {
  constexpr const auto& row = RowAt<T, I>();
  if constexpr (row.is_searchable) {
    list.push_back({std::string(row.key), row.better,
                    [](const T& owner) { return OutputNumber(std::invoke(RowAt<T, I>().get, owner)); }});
  } else if constexpr (HasOutputs<ValueAt<T, I>>) {
    AddEachSearchableBelow<T, I>(list, std::make_index_sequence<kOutputs<ValueAt<T, I>>>());
  }
}

template <class T, std::size_t... I>
std::vector<SearchableOutput<T>> ListSearchable(std::index_sequence<I...>) {
  std::vector<SearchableOutput<T>> list;
  (AddSearchable<T, I>(list), ...);
  return list;
}

}  // namespace internal

template <class T>
std::vector<SearchableOutput<T>> SearchableOutputs() {
  return internal::ListSearchable<T>(std::make_index_sequence<internal::kOutputs<T>>());
}

template <>
struct Outputs<Infeasibility> {
  static constexpr auto rows = std::tuple{
      Output("reason", &Infeasibility::reason, "Reason"),
      Output("message", &Infeasibility::message, "Message"),
  };
};

}  // namespace slipstick
