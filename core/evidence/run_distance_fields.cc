#include "core/base/field_table.h"
#include "core/evidence/run_distance.h"

namespace slipstick {

constexpr FieldRow kSpreadFields[] = {
    Of<&Spread::measured>("measured", "Where the software was measured with this kind of model on this architecture"),
    Of<&Spread::unmeasured>("unmeasured", "Where it was not"),
    Of<&Spread::calibrated>("calibrated", "Of other runs of a machine and its software that one run calibrated")};
constinit const Fields Schema<Spread>::fields(kSpreadFields);

constexpr FieldRow kSpreadsFields[] = {Of<&Spreads::step>("step", "Training step"),
                                       Of<&Spreads::memory>("memory", "Memory, training and serving"),
                                       Of<&Spreads::token>("token", "Time per output token"),
                                       Of<&Spreads::throughput>("throughput", "Serving throughput"),
                                       Of<&Spreads::batch>("batch", "Latency of a static batch"),
                                       Of<&Spreads::first_token>("first_token", "Time to first token"),
                                       Of<&Spreads::image_or_clip>("image_or_clip", "Time of an image or clip")};
constinit const Fields Schema<Spreads>::fields(kSpreadsFields);

constexpr FieldRow kRunDistanceFields[] = {
    Of<&RunDistance::device>("device", "Another device of one architecture").AtLeast(0),
    Of<&RunDistance::architecture>("architecture", "Another architecture").AtLeast(0),
    Of<&RunDistance::software>("software", "Another framework or engine").AtLeast(0),
    Of<&RunDistance::experts>("experts", "Dense against experts").AtLeast(0),
    Of<&RunDistance::kind>("kind", "Another kind of answer: token, throughput, latency of a batch").AtLeast(0),
    Of<&RunDistance::bits>("bits", "Per halving of the bits of an operand").AtLeast(0),
    Of<&RunDistance::devices>("devices", "Per factor of two in devices").AtLeast(0),
    Of<&RunDistance::load>("load", "Per factor of two in the load").AtLeast(0),
    Of<&RunDistance::length>("length", "Per factor of two in sequence or prompt length").AtLeast(0),
    Of<&RunDistance::network>("network", "Per whole of the time on links").AtLeast(0),
    Of<&RunDistance::waiting>("waiting", "Per whole of the time waiting for other requests").AtLeast(0),
    Of<&RunDistance::few>("few", "Runs with which a source has half its say").AtLeast(0),
    Of<&RunDistance::spread>("spread",
                             "By how much the next publisher may differ beyond those known, by kind of answer"),
    Of<&RunDistance::repeated>("repeated", "By how much repeated runs of one system differ"),
    Of<&RunDistance::tail_below>("tail_below", "Share of the neighbors' errors left out at the low end").AtLeast(0),
    Of<&RunDistance::tail_above>("tail_above", "Share of the neighbors' errors left out at the high end").AtLeast(0),
    Of<&RunDistance::widening>("widening", "Widening of the neighbors' range per unit of distance to the nearest run")
        .AtLeast(0)};
constinit const Fields Schema<RunDistance>::fields(kRunDistanceFields);

}  // namespace slipstick
