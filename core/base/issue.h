// Faults of a request: all at once, each with the path of its member and the fixes that remove it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipstick {

// Sets a member to a value, or leaves it out.
struct Change {
  std::string path;
  std::string value;  // JSON; empty: leave the member out
  friend bool operator==(const Change&, const Change&) = default;
};

// Changes that remove an issue.
struct Fix {
  Change change;
  std::vector<Change> also = {};  // further members that must change too
  friend bool operator==(const Fix&, const Fix&) = default;
};
using Fixes = std::vector<Fix>;

struct Issue {
  std::string
      path;  // members joined by dots, list entries by number: "cluster.networks.1.bandwidth"; "" for the request
  std::string message;      // one plain sentence: what to enter, with its unit
  Fixes fixes = {};         // the nearest first
  bool is_missing = false;  // a required member is absent
  friend bool operator==(const Issue&, const Issue&) = default;
};
using Issues = std::vector<Issue>;

// The same issue, in a larger request that has the faulty part at `owner`.
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

// Why a valid scenario has no feasible answer; the report keeps its figures.
struct Infeasibility {
  std::string reason;   // a word for counting: "memory", "kv_cache", …
  std::string message;  // need, capacity, and the nearest change that helps
};
inline bool IsFeasible(const std::vector<Infeasibility>& reasons) { return reasons.empty(); }

inline std::string JoinPath(const std::string& parent, std::string_view member) {
  return parent.empty() ? std::string(member) : parent + "." + std::string(member);
}

// Whether a member of a path is the number of a list entry.
inline bool IsPlace(std::string_view member) {
  return !member.empty() && member.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace slipstick
