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
  std::string word;  // replaces the number if the member takes a word
  std::string why;   // one sentence, from the cost of the neighboring values
};

// "does not fit: 95 GiB of 79.2 GiB"
std::string DoesNotFit(Bytes needed, Bytes capacity);
// The same if a margin must stay free; "leaves too little memory free: 74 GiB of 79.2 GiB" if within the capacity.
std::string DoesNotFit(Bytes needed, Bytes capacity, Bytes budget);
// "needs 1.2 GiB more memory" than the chosen value, if that does not fit either; device or host memory, whichever
// lacks more.
std::string NeedsMore(Bytes missing, Bytes chosen);
// "12 % slower" for a ratio of 1.12; "" below half a per cent.
std::string SlowerBy(double ratio);
// Joins the verdicts on other values: "TP 4 does not fit: 95 GiB of 79.2 GiB; TP 16 is 12 % slower." Returns `alone` if
// there are none.
std::string Sentence(const std::vector<std::string>& verdicts, std::string_view alone);

}  // namespace slipstick
