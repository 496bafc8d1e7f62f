#include "core/base/units.h"

namespace slipstick {

Seconds TimeToRead(Bytes bytes, BytesPerSecond bandwidth) { return bytes / bandwidth; }
double Share(Seconds part, Seconds whole) { return part / whole; }

#if defined(MISUSE_adding_dimensions)
auto wrong = 3 * kS + 80 * kGB;
#elif defined(MISUSE_bare_number_as_quantity)
Seconds wrong = 3.0;
#elif defined(MISUSE_quantity_as_bare_number)
double wrong = 3 * kS;
#elif defined(MISUSE_comparing_dimensions)
bool wrong = 3 * kS < 80 * kGB;
#elif defined(MISUSE_wrong_product)
Seconds wrong = 80 * kGB * (3 * kTBps);
#elif defined(MISUSE_reading_in_wrong_unit)
double wrong = In(80 * kGB, kMs);
#elif defined(MISUSE_odd_square_root)
auto wrong = sqrt(3 * kS);
#else
auto right = TimeToRead(80 * kGB, 3.35 * kTBps) + 3 * kS;
double area_side = In(sqrt(814 * kMm2), kMm);
#endif

}  // namespace slipstick
