// A sizing question: traffic, latency targets, limits and candidate clusters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/engine_step/request_stream.h"
#include "core/search/limits.h"
#include "core/simulation/summary.h"

namespace slipstick {

// The point of the latency distribution at which a target holds.
enum class Percentile { kMean, k50, k90, k99 };
ENUM_NAMES(Percentile, {kMean, "mean"}, {k50, "50"}, {k90, "90"}, {k99, "99"});

// The simulated latency at this point.
Seconds At(Percentile percentile, const Percentiles& of, Seconds mean);

// Pools to try: one for prefill and decode, or also a separate one for each.
enum class PoolsTried { kOne, kOneAndTwo };
ENUM_NAMES(PoolsTried, {kOne, "one"}, {kOneAndTwo, "one_and_two"});

// Prices that users pay.
struct TokenPrices {
  DollarsPerToken input, cached_input, output;
};
FIELDS_OF(TokenPrices);

struct SizeQuestion {
  std::optional<double> requests_per_s;  // mean; default: the scenario's
  double peak_over_mean = 1;             // the targets hold at the peak
  std::vector<double> day;  // relative rates in parts of equal length; their peak over mean replaces peak_over_mean
  std::vector<RequestClass> mixture;  // classes of requests; empty: all are as long as the scenario's
  std::optional<Seconds> ttft, tpot;
  Percentile percentile = Percentile::kMean;
  PoolsTried pools = PoolsTried::kOneAndTwo;
  Count spare_replicas = 0;  // replicas that may fail at the peak
  std::optional<Count> devices;
  std::optional<Watts> power, power_per_rack;
  std::optional<Dollars> budget;                    // total cost of ownership
  std::optional<DollarsPerSecond> budget_per_hour;  // per hour in use
  std::vector<std::string> clusters;                // presets; empty: the scenario's own
  std::vector<std::string> limits;                  // "tp<=8", "weights=fp8,bf16"
  std::optional<TokenPrices> prices;
};
FIELDS_OF(SizeQuestion);

// `json` may have a member "request", which is ignored.
Result<SizeQuestion> ReadSizeQuestion(Json json);

// The peak rate over the mean rate: of the day, or as stated in the question.
double PeakOverMean(const SizeQuestion& question);
// Rate in each part of the question's day.
std::vector<double> RatesOf(const SizeQuestion& question, double mean_requests_per_s);

// Limits of the mapping; sizing itself chooses the number of replicas and the concurrency.
Result<SpaceLimits> ReadMappingLimits(const SizeQuestion& question);

}  // namespace slipstick
