// What is wrong with a request: every fault at once, each with the path of the member it concerns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipstick {

struct Issue {
  std::string path;     // members joined by dots, array places by number: "cluster.networks.1.bandwidth"; "" for the whole
  std::string message;  // value, constraint and unit in one sentence
  friend bool operator==(const Issue&, const Issue&) = default;
};
using Issues = std::vector<Issue>;

// A value, or the issues that prevented it. Exactly one of the two is there.
template <class T>
struct [[nodiscard]] Result {
  std::optional<T> value;
  Issues issues;

  Result(T v) : value(std::move(v)) {}        // NOLINT: a value is a result
  Result(Issues i) : issues(std::move(i)) {}  // NOLINT: so are issues
  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  T& operator*() { return *value; }
  const T* operator->() const { return &*value; }
  T* operator->() { return &*value; }
};

// Why a well-formed scenario has no feasible answer; shown with the figures, which stay.
struct Infeasibility {
  std::string reason;   // a word for counting: "memory", "kv_cache", …
  std::string message;  // what is needed, what there is, and the nearest change that would do
};

inline std::string JoinPath(const std::string& parent, std::string_view member) {
  return parent.empty() ? std::string(member) : parent + "." + std::string(member);
}

}  // namespace slipstick
