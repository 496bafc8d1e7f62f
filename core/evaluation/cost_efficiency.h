// What an answer costs and gives for a dollar and a joule; the dollars are absent where the scenario asks for none.
#pragma once

#include <optional>

#include "core/base/trace.h"
#include "core/economics/cost.h"
#include "core/serving/serving.h"
#include "core/training/training.h"

namespace slipstick {

using TokensPerDollar = decltype(Tokens() / Dollars());
using TokensPerJoule = decltype(Tokens() / Joules());
using FlopsPerDollar = decltype(Flops() / Dollars());
using FlopsPerJoule = decltype(Flops() / Joules());

// Electricity at the meter: of the devices, the rest of their servers and the building; the devices' alone where no cost is
// asked, since then neither server nor building is known.
template <class Energy>
struct EnergyParts {
  Energy devices, servers, building, total;
};
struct TrainingCostEfficiency {
  EnergyParts<Joules> energy;                     // of the steps
  std::optional<EnergyParts<Joules>> run_energy;  // with interruptions
  std::optional<Grams> emitted, run_emitted, embodied;
  bool at_the_wall = false;
  std::optional<Dollars> steps;  // of the steps alone
  std::optional<Dollars> run;    // with interruptions
  std::optional<TokensPerDollar> tokens_per_usd;
  std::optional<TokensPerJoule> tokens_per_j;
};
struct ServingCostEfficiency {
  EnergyParts<JoulesPerToken> energy;
  bool at_the_wall = false;
  std::optional<DollarsPerToken> token;
  std::optional<TokensPerDollar> tokens_per_usd;
  std::optional<TokensPerJoule> tokens_per_j;
};
// Of the device itself: its dense 16-bit rate.
struct DeviceCostEfficiency {
  std::optional<FlopsPerDollar> flops_per_usd;
  std::optional<FlopsPerJoule> flops_per_j;
};

// Without a cost there is nothing but the devices' own energy.
TrainingCostEfficiency CostEfficiencyOf(const std::optional<CostReport>& cost, const TrainingReport& training, const TrainingRun& run,
                                        Trace& trace);
ServingCostEfficiency CostEfficiencyOf(const std::optional<CostReport>& cost, const ServingReport& serving, Trace& trace);
DeviceCostEfficiency CostEfficiencyOf(const CostReport& cost, const Device& device, Trace& trace);

}  // namespace slipstick
