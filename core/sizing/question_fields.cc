#include "core/base/field_table.h"
#include "core/sizing/question.h"

namespace slipstick {

constexpr FieldRow kTokenPricesFields[] = {
    Of<&TokenPrices::input>("input", "Price of input tokens").In(kUsdPerMToken).AtLeast(0),
    Of<&TokenPrices::cached_input>("cached_input", "Price of input tokens found in the prefix cache")
        .In(kUsdPerMToken)
        .AtLeast(0),
    Of<&TokenPrices::output>("output", "Price of output tokens").In(kUsdPerMToken).AtLeast(0)};
constinit const Fields Schema<TokenPrices>::fields(kTokenPricesFields);

constexpr FieldRow kSizeQuestionFields[] = {
    Of<&SizeQuestion::requests_per_s>("requests_per_s", "Mean arrival rate (requests/s); default: the scenario's")
        .Above(0)
        .AtMost(1'000'000'000),
    Of<&SizeQuestion::peak_over_mean>("peak_over_mean", "Peak arrival rate over the mean; targets hold at the peak")
        .Between(1, 1000),
    Of<&SizeQuestion::day>("day", "Arrival rate through the day: relative rates in parts of equal length")
        .AtMost(1'000'000'000),
    Of<&SizeQuestion::mixture>("mixture",
                               "Classes of requests, each with its share of the arrivals; default: all are as long as "
                               "the scenario's. The targets hold for all requests together"),
    Of<&SizeQuestion::ttft>("ttft", "Time to first token (TTFT), at most").In(kMs).Above(0),
    Of<&SizeQuestion::tpot>("tpot", "Time per output token (TPOT), at most").In(kMs).Above(0),
    Of<&SizeQuestion::percentile>("percentile",
                                  "Percentile of requests that meet the targets; mean: the mean request does"),
    Of<&SizeQuestion::pools>("pools", "Pools to try: one, or also a pool that prefills beside one that decodes"),
    Of<&SizeQuestion::spare_replicas>("spare_replicas", "Replicas that may fail at the peak (N+1: 1)")
        .Between(0, 1 << 16),
    Of<&SizeQuestion::devices>("devices", "Number of devices, at most").Between(1, 1 << 24),
    Of<&SizeQuestion::power>("power", "Rated power of the facility, at most").In(kMW).Above(0),
    Of<&SizeQuestion::power_per_rack>("power_per_rack", "Rated power of the servers in a rack, at most")
        .In(kKW)
        .Above(0),
    Of<&SizeQuestion::budget>("budget", "Total cost of ownership, at most").In(kMUsd).Above(0),
    Of<&SizeQuestion::budget_per_hour>("budget_per_hour", "Cost per hour in use, at most").In(kUsdPerHour).Above(0),
    Of<&SizeQuestion::clusters>("clusters", "Candidate clusters (presets); default: the scenario's"),
    Of<&SizeQuestion::limits>("limits", "Limits of the mapping: tp<=8, weights=fp8,bf16"),
    Of<&SizeQuestion::prices>("prices", "Prices per token that users pay; off: no revenue")};
constinit const Fields Schema<SizeQuestion>::fields(kSizeQuestionFields);

}  // namespace slipstick
