#include "core/base/field_table.h"
#include "core/replay/question.h"

namespace slipstick {

constexpr FieldRow kReplayQuestionFields[] = {
    Of<&ReplayQuestion::speed>("speed", "Speed of the arrivals over that of the trace: 2 sends them twice as fast")
        .Between(0.001, 1000),
    Of<&ReplayQuestion::requests_per_s>(
        "requests_per_s", "Mean arrival rate (requests/s) in place of the trace's; without times, arrivals are random")
        .Above(0)
        .AtMost(1'000'000'000),
    Of<&ReplayQuestion::ttft>("ttft", "Time to first token (TTFT), at most").In(kMs).Above(0),
    Of<&ReplayQuestion::tpot>("tpot", "Time per output token (TPOT), at most").In(kMs).Above(0),
    Of<&ReplayQuestion::percentile>("percentile",
                                    "Percentile of requests that meet the targets; mean: the mean request does")};
constinit const Fields Schema<ReplayQuestion>::fields(kReplayQuestionFields);

}  // namespace slipstick
