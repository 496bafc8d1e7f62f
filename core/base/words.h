// What a program says in words of its figures and of wrong requests. The page's first module answers right requests in figures
// only; for anything else the page asks the whole core, which a build without words leaves to it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace slipstick {

#ifdef SLIPSTICK_WITHOUT_EXPLANATIONS
inline constexpr bool kExplains = false;

// In place of a text that nobody reads: it is always empty, whatever is added.
struct Words {
  Words() = default;
  template <class T>
  Words(const T&) {}                                // NOLINT: any text is words
  operator std::string_view() const { return {}; }  // NOLINT: empty words are a text
  [[nodiscard]] bool empty() const { return true; }
  [[nodiscard]] std::size_t size() const { return 0; }
  [[nodiscard]] Words substr(std::size_t, std::size_t = 0) const { return {}; }
  [[nodiscard]] bool starts_with(std::string_view) const { return false; }
  template <class T>
  Words& operator+=(const T&) {
    return *this;
  }
  template <class T>
  friend Words operator+(const Words&, const T&) {
    return {};
  }
  template <class T>
  friend Words operator+(const T&, const Words&) {
    return {};
  }
  friend Words operator+(const Words&, const Words&) { return {}; }
  friend bool operator==(const Words&, const Words&) { return true; }
};
#else
inline constexpr bool kExplains = true;
using Words = std::string;
#endif

}  // namespace slipstick
