// A sizing question: traffic, latency targets, limits and candidate clusters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/engine_step/request_stream.h"
#include "core/simulation/summary.h"

namespace slipstick {

// Where of the distribution of latencies a target holds.
enum class Percentile { kMean, k50, k90, k99 };
ENUM_NAMES(Percentile, {kMean, "mean"}, {k50, "50"}, {k90, "90"}, {k99, "99"});

// The latency there, of a simulation.
Seconds At(Percentile percentile, const Percentiles& of, Seconds mean);

// Pools that are tried: one that prefills and decodes, or also one for each.
enum class PoolsTried { kOne, kOneAndTwo };
ENUM_NAMES(PoolsTried, {kOne, "one"}, {kOneAndTwo, "one_and_two"});

// What users pay.
struct TokenPrices {
  DollarsPerToken input, cached_input, output;
};
FIELDS_OF(TokenPrices);

struct SizeQuestion {
  std::optional<double> requests_per_s;  // mean; default: the scenario's
  double peak_over_mean = 1;             // the targets hold at the peak
  std::vector<double> day;               // relative rates in parts of equal length; their peak takes its place
  std::vector<RequestClass> mixture;     // classes of requests; empty: all are as long as the scenario's
  std::optional<Seconds> ttft, tpot;
  Percentile percentile = Percentile::kMean;
  PoolsTried pools = PoolsTried::kOneAndTwo;
  Count spare_replicas = 0;  // that may fail at the peak
  std::optional<Count> devices;
  std::optional<Watts> power, power_per_rack;
  std::optional<Dollars> budget;                    // total cost of ownership
  std::optional<DollarsPerSecond> budget_per_hour;  // of an hour in use
  std::vector<std::string> clusters;                // presets; empty: the scenario's own
  std::vector<std::string> limits;                  // "tp<=8", "weights=fp8,bf16"
  std::optional<TokenPrices> prices;
};
FIELDS_OF(SizeQuestion);

// `json` may hold a member "request", which is not read.
Result<SizeQuestion> ReadSizeQuestion(Json json);

}  // namespace slipstick
