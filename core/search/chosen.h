// A member that a tuner chose, and why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/quantity.h"

namespace slipstick {

struct Chosen {
  std::string path;
  Count number = 0;
  std::string word;  // in place of the number, where the member takes a word
  std::string why;   // one sentence, from what the neighboring values cost
};

// Another value of a member: whether it fits, and what it costs beside the chosen one.
struct AlternativeValue {
  std::string text;  // "TP 4"
  bool fits = false;
  Bytes needed;         // where it does not fit
  double slowdown = 0;  // its time over that of the choice, minus 1
  bool is_at_least = false;
  std::string because;  // "it leaves the node of 8 GPUs", or ""
};

// "TP 4 does not fit: 95 of 79.2 GiB; TP 16 is 12 % slower: it leaves the node of 8 GPUs."; `alone` where there is no alternative.
std::string Because(const std::vector<AlternativeValue>& alternatives, Bytes capacity, std::string_view alone);

}  // namespace slipstick
