#include "core/operators/substitution.h"

#include "core/operators/efficiency.h"

namespace slipstick {

std::optional<Precision> SubstituteFor(const Device& device, Precision asked) {
  // Units that take a scale a block of elements came with the four-bit formats (Blackwell, CDNA 4).
  if (asked == Precision::kMxfp8 && device.peak.fp8 && !device.peak.fp4) return Precision::kFp8;
  const Precision native = NativePrecision(device, asked);
  if (Supports(device, native)) return native == asked ? std::nullopt : std::optional(native);
  // Nothing so wide: PeakRate takes the widest there is.
  for (const Precision wide : {Precision::kTf32, Precision::kBf16, Precision::kFp16, Precision::kFp8, Precision::kInt8}) {
    if (Supports(device, wide)) return wide;
  }
  return std::nullopt;
}

std::string SubstitutionText(const Device& device, Precision asked) {
  const std::optional<Precision> substitute = SubstituteFor(device, asked);
  if (!substitute) return "";
  return device.name + " has no " + std::string(NameOf(asked)) + " arithmetic: matrix products are computed in " +
         std::string(NameOf(*substitute));
}

}  // namespace slipstick
