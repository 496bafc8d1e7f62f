// What is wrong with a request: every fault at once, each with the path of the member it concerns and what would put it right.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipstick {

// A member set to a value, or left out.
struct Change {
  std::string path;
  std::string value;  // JSON; empty where the member is left out
  friend bool operator==(const Change&, const Change&) = default;
};

// Changes that make an issue go away, whatever else they bring about.
struct Fix {
  Change change;
  std::vector<Change> also = {};  // what has to change with it
  friend bool operator==(const Fix&, const Fix&) = default;
};
using Fixes = std::vector<Fix>;

Fix SetTo(std::string path, std::int64_t value);
Fix SetTo(std::string path, std::string_view name);
Fix SetToBase(std::string path, double base);  // in base units
Fix LeaveOut(std::string path);
// The same member set to each of these.
Fixes SetToEach(const std::string& path, const std::vector<std::int64_t>& values);
Fixes SetToEach(const std::string& path, const std::vector<std::string>& names);
Fixes Joined(std::initializer_list<Fixes> parts);

struct Issue {
  std::string path;     // members joined by dots, array places by number: "cluster.networks.1.bandwidth"; "" for the whole
  std::string message;  // value, constraint and unit in one sentence
  Fixes fixes = {};     // the nearest first
  friend bool operator==(const Issue&, const Issue&) = default;
};
using Issues = std::vector<Issue>;

// The issue of a request that stands at `owner` in a larger one.
Issue Below(const std::string& owner, Issue issue);

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
