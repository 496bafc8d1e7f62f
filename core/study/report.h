// The parts of a report as JSON, in the names of contract section 3: readers of one result, no arithmetic.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/trace.h"
#include "core/economics/cost.h"
#include "core/serving/serving.h"
#include "core/training/training.h"

namespace slipstick {

using TokensPerDollar = decltype(Tokens() / Dollars());
using TokensPerJoule = decltype(Tokens() / Joules());
using FlopsPerDollar = decltype(Flops() / Dollars());
using FlopsPerJoule = decltype(Flops() / Joules());

// What an answer costs and gives for a dollar and a joule; the dollars are absent where the scenario asks for none.
// Electricity at the meter: of the devices, the rest of their servers and the building; the devices' alone where no cost is
// asked, since then neither server nor building is known.
template <class Energy>
struct EnergyParts {
  Energy devices, servers, building, total;
};
struct TrainingWorth {
  EnergyParts<Joules> energy;                     // of the steps
  std::optional<EnergyParts<Joules>> run_energy;  // with interruptions
  std::optional<Grams> emitted, run_emitted, embodied;
  bool at_the_wall = false;
  std::optional<Dollars> steps;  // of the steps alone
  std::optional<Dollars> run;    // with interruptions
  std::optional<TokensPerDollar> tokens_per_usd;
  std::optional<TokensPerJoule> tokens_per_j;
};
struct ServingWorth {
  EnergyParts<JoulesPerToken> energy;
  bool at_the_wall = false;
  std::optional<DollarsPerToken> token;
  std::optional<TokensPerDollar> tokens_per_usd;
  std::optional<TokensPerJoule> tokens_per_j;
};
// Of the device itself: its dense 16-bit rate.
struct DeviceWorth {
  std::optional<FlopsPerDollar> flops_per_usd;
  std::optional<FlopsPerJoule> flops_per_j;
};
Json WriteTraining(const TrainingReport& report, const TrainingWorth& worth);
Json WriteServing(const ServingReport& report, const ServingWorth& worth);
// `assumed`: paths of inputs that rest on an estimate.
Json WriteCost(const CostReport& report, const std::vector<std::string>& assumed, const DeviceWorth& worth);
Json WriteTimeline(const std::vector<ScheduledPass>& timeline);

// The figure shown at a path of the report and everything it rests on, inputs last; every figure for "*". Empty if no
// figure has that path.
Json WriteExplanations(const std::vector<Figure>& figures, std::string_view path);

}  // namespace slipstick
