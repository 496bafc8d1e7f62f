// Requests of a load: their arrivals, their lengths, and how many are simulated. The closed forms use the mean rate and
// lengths of serving_load.h and, from here, only the spread of the output lengths.
#pragma once

#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/base/issue.h"
#include "core/base/quantity.h"

namespace slipstick {

enum class ArrivalKind { kPoisson, kGamma };
ENUM_NAMES(ArrivalKind, {kPoisson, "poisson"}, {kGamma, "gamma"});

struct Arrivals {
  ArrivalKind kind = ArrivalKind::kPoisson;
  // shape of the gamma distribution: 1 / (coefficient of variation)^2 of the time between arrivals
  double burstiness = 1;
};
FIELDS_OF(Arrivals);

enum class LengthKind { kFixed, kUniform, kLognormal, kQuantiles };
ENUM_NAMES(LengthKind, {kFixed, "fixed"}, {kUniform, "uniform"}, {kLognormal, "lognormal"}, {kQuantiles, "quantiles"});

struct LengthQuantile {
  double share = 1;  // fraction of the requests with at most `tokens` tokens
  Count tokens = 1;
};
FIELDS_OF(LengthQuantile);

struct LengthDistribution {
  LengthKind kind = LengthKind::kFixed;
  double variation = 1;                   // uniform and lognormal: standard deviation over the mean
  std::vector<LengthQuantile> quantiles;  // ascending, from share 0 to share 1
};
FIELDS_OF(LengthDistribution);
// Standard deviation of the lengths over their mean.
double VariationOf(const LengthDistribution& distribution);

// Presets: core/presets/traces/.
struct RequestLengths {
  std::string preset;
  std::string name;
  LengthDistribution prompt, output;
};
template <>
struct Schema<RequestLengths> {
  static constexpr std::string_view preset_kind = "trace";
  static const Fields fields;
};

enum class Router { kLeastLoaded, kRoundRobin };
ENUM_NAMES(Router, {kLeastLoaded, "least_loaded"}, {kRoundRobin, "round_robin"});

struct SimulationRun {
  Count requests = 2000;  // measured requests, after those of the warm-up
  Count seed = 1;
  Router router = Router::kLeastLoaded;  // in front of the attention groups of all replicas
};
FIELDS_OF(SimulationRun);

// A class of the requests in mixed traffic, such as chat next to summaries.
struct RequestClass {
  double weight = 1;  // relative number of requests
  Count prompt_tokens = 2048, output_tokens = 256;
  friend auto operator<=>(const RequestClass&, const RequestClass&) = default;
};
FIELDS_OF(RequestClass);

// Quantiles must ascend from share 0 to share 1.
void CheckRequestLengths(const RequestLengths& lengths, const std::string& path, Issues& issues);

}  // namespace slipstick
