#include "core/base/field_table.h"
#include "core/evidence/run_distance.h"

namespace slipstick {

constexpr FieldRow kStretchFields[] = {Of<&Stretch::step>("step", "Training step").Above(0),
                                       Of<&Stretch::memory>("memory", "Memory, training and serving").Above(0),
                                       Of<&Stretch::token>("token", "Time per output token").Above(0),
                                       Of<&Stretch::throughput>("throughput", "Serving throughput").Above(0),
                                       Of<&Stretch::batch>("batch", "Latency of a static batch").Above(0),
                                       Of<&Stretch::first_token>("first_token", "Time to first token").Above(0)};
constinit const Fields Schema<Stretch>::fields(kStretchFields);

constexpr FieldRow kRunDistanceFields[] = {
    Of<&RunDistance::device>("device", "Another device of one architecture").AtLeast(0),
    Of<&RunDistance::architecture>("architecture", "Another architecture").AtLeast(0),
    Of<&RunDistance::software>("software", "Another framework or engine").AtLeast(0),
    Of<&RunDistance::experts>("experts", "Dense against experts").AtLeast(0),
    Of<&RunDistance::kind>("kind", "Another kind of answer: token, throughput, latency of a batch").AtLeast(0),
    Of<&RunDistance::bits>("bits", "Per halving of the bits of an operand").AtLeast(0),
    Of<&RunDistance::devices>("devices", "Per factor of two in devices").AtLeast(0),
    Of<&RunDistance::load>("load", "Per factor of two in the load").AtLeast(0),
    Of<&RunDistance::parameters>("parameters", "Per factor of two in active parameters").AtLeast(0),
    Of<&RunDistance::length>("length", "Per factor of two in sequence or prompt length").AtLeast(0),
    Of<&RunDistance::network>("network", "Per whole of the time on links").AtLeast(0),
    Of<&RunDistance::latency>("latency", "Per whole of the time in launches and messages").AtLeast(0),
    Of<&RunDistance::waiting>("waiting", "Per whole of the time waiting for other requests").AtLeast(0),
    Of<&RunDistance::few>("few", "Runs with which a source has half its say").AtLeast(0),
    Of<&RunDistance::calm_step>("calm_step", "Spread of a step without communication, in shares of time on links").Above(0),
    Of<&RunDistance::calm_first_token>("calm_first_token", "Spread of a first token without waiting, in shares of time waiting").Above(0),
    Of<&RunDistance::pull>("pull", "How far the middle of the interval follows the neighbors' median").Between(0, 1),
    Of<&RunDistance::tail_below>("tail_below", "Share of the neighbors' errors left out at the low end").AtLeast(0),
    Of<&RunDistance::tail_above>("tail_above", "Share of the neighbors' errors left out at the high end").AtLeast(0),
    Of<&RunDistance::margin>("margin", "Added at each end, in expected spreads").AtLeast(0),
    Of<&RunDistance::widening>("widening", "Widening per unit of distance to the nearest run").AtLeast(0),
    Of<&RunDistance::disagreement>("disagreement", "Widening where one source speaks, half of it where two do").AtLeast(0),
    Of<&RunDistance::stretch>("stretch", "Widening by kind of answer"),
    Of<&RunDistance::assumed>("assumed", "Widening where a device's efficiencies are assumed").AtLeast(1)};
constinit const Fields Schema<RunDistance>::fields(kRunDistanceFields);

}  // namespace slipstick
