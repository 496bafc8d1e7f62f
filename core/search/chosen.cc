#include "core/search/chosen.h"

#include <cmath>

#include "core/base/units.h"

namespace slipstick {
namespace {

std::string InGib(Bytes bytes) { return NumberText(std::round(10 * In(bytes, kGiB)) / 10); }

std::string CostText(const AlternativeValue& one, Bytes capacity) {
  if (!one.fits && one.needed > capacity) return one.text + " does not fit: " + InGib(one.needed) + " of " + InGib(capacity) + " GiB";
  if (!one.fits) return one.text + " does not fit";
  const double percent = std::round(100 * one.slowdown);
  if (percent < 1) return one.text + " is no faster";
  return one.text + " is " + (one.is_at_least ? "at least " : "") + NumberText(percent) + " % slower" +
         (one.because.empty() ? "" : " (" + one.because + ")");
}

}  // namespace

std::string Because(const std::vector<AlternativeValue>& alternatives, Bytes capacity, std::string_view alone) {
  std::string text;
  for (const AlternativeValue& one : alternatives) text += (text.empty() ? "" : "; ") + CostText(one, capacity);
  return (text.empty() ? std::string(alone) : text) + ".";
}

}  // namespace slipstick
