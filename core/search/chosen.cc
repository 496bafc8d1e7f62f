#include "core/search/chosen.h"

#include <cmath>

#include "core/base/units.h"

namespace slipstick {

std::string NeedsMore(Bytes missing, Bytes chosen) {
  const Bytes more = missing - chosen;
  return In(more, kGiB) < 0.05 ? "does not fit either" : "needs " + GibText(more) + " more memory";
}

std::string DoesNotFit(Bytes needed, Bytes capacity, Bytes budget) {
  const std::string of_memory = GibText(needed) + " of " + GibText(capacity);
  if (needed > budget && needed <= capacity) return "leaves too little memory free: " + of_memory;
  return needed > capacity ? "does not fit: " + of_memory : "does not fit";
}

std::string DoesNotFit(Bytes needed, Bytes capacity) { return DoesNotFit(needed, capacity, capacity); }

std::string SlowerBy(double ratio) {
  const double percent = std::round(100 * (ratio - 1));
  return percent < 1 ? "" : NumberText(percent) + " % slower";
}

std::string Sentence(const std::vector<std::string>& verdicts, std::string_view alone) {
  std::string text;
  for (const std::string& one : verdicts) text += (text.empty() ? "" : "; ") + one;
  return (text.empty() ? std::string(alone) : text) + ".";
}

}  // namespace slipstick
