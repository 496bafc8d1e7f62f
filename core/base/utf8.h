// Characters of a text in UTF-8, as JSON reads and writes them.
#pragma once

#include <cstddef>

namespace slipstick::internal {

// Stands for itself between quotes.
inline bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

// Bytes of the UTF-8 character at `at`, 0 if it is none.
inline std::size_t CharacterSize(const char* at, const char* end) {
  const auto byte = [&](std::ptrdiff_t i) { return i < end - at ? static_cast<unsigned char>(at[i]) : 0U; };
  const auto follows = [&](std::ptrdiff_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool wrong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F);  // too long; half of a pair
    return !wrong && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool wrong = (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
    return !wrong && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace slipstick::internal
