#include "core/operators/substitution.h"

#include "core/operators/efficiency.h"

namespace slipstick {

std::optional<Precision> SubstituteFor(const Device& device, Precision requested) {
  // Block scales are supported by the devices with four-bit formats (Blackwell, CDNA 4).
  if (requested == Precision::kMxfp8 && device.peak.fp8 && !device.peak.fp4) return Precision::kFp8;
  const Precision native = NativePrecision(device, requested);
  if (Supports(device, native)) return native == requested ? std::nullopt : std::optional(native);
  // No wider format: PeakRate uses the widest one.
  for (const Precision wide :
       {Precision::kTf32, Precision::kBf16, Precision::kFp16, Precision::kFp8, Precision::kInt8}) {
    if (Supports(device, wide)) return wide;
  }
  return std::nullopt;
}

std::string SubstitutionText(const Device& device, Precision requested) {
  const std::optional<Precision> substitute = SubstituteFor(device, requested);
  if (!substitute) return "";
  return device.name + " has no " + std::string(NameOf(requested)) + " arithmetic: matrix products are computed in " +
         std::string(NameOf(*substitute));
}

}  // namespace slipstick
