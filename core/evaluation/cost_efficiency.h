// Cost and energy of an answer, and tokens per dollar and per joule; dollars are absent if the cost question is off.
#pragma once

#include <optional>

#include "core/diffusion/diffusion.h"
#include "core/economics/cost.h"
#include "core/serving/serving.h"
#include "core/training/training.h"

namespace slipstick {

using TokensPerDollar = decltype(Tokens() / Dollars());
using TokensPerJoule = decltype(Tokens() / Joules());
using FlopsPerDollar = decltype(Flops() / Dollars());
using FlopsPerJoule = decltype(Flops() / Joules());
using GramsPerToken = decltype(Grams() / Tokens());

// Energy at the meter: devices, the rest of their servers, the network, and the building. Only devices if the cost
// question is off, since the rest is then unknown.
template <class Energy>
struct EnergyParts {
  Energy devices;
  std::optional<Energy> servers, network, building;
  Energy total;
};
struct TrainingCostEfficiency {
  EnergyParts<Joules> energy;                     // of the steps, without interruptions
  std::optional<EnergyParts<Joules>> run_energy;  // with interruptions
  std::optional<Grams> emitted, run_emitted, embodied;
  std::optional<Dollars> steps;  // of the steps, without interruptions
  std::optional<Dollars> run;    // with interruptions
  std::optional<TokensPerDollar> tokens_per_usd;
  std::optional<TokensPerJoule> tokens_per_j;
};
// Cost and energy per output token, for the whole deployment or for one pool.
struct TokenCost {
  EnergyParts<JoulesPerToken> energy;
  std::optional<DollarsPerToken> token;
  std::optional<GramsPerToken> emitted, embodied;
};
struct ServingCostEfficiency : TokenCost {
  std::optional<ByPass<TokenCost>> pools;  // the two pools, which add up to the other members
  std::optional<Dollars> session;          // per session: all its turns
  std::optional<TokensPerDollar> tokens_per_usd;
  std::optional<TokensPerJoule> tokens_per_j;
};
// Cost and energy per image or clip.
struct DiffusionCostEfficiency {
  EnergyParts<Joules> energy;
  std::optional<Grams> emitted, embodied;
  std::optional<Dollars> price;
};
// Peak dense 16-bit rate of the device per dollar and per joule.
struct DeviceCostEfficiency {
  std::optional<FlopsPerDollar> flops_per_usd;
  std::optional<FlopsPerJoule> flops_per_j;
};

// If `cost` is null, the question is off, and only the energy of the devices is known.
TrainingCostEfficiency CostEfficiencyOf(const CostReport* cost, const TrainingReport& training, const TrainingRun& run,
                                        Tape* tape = nullptr);
ServingCostEfficiency CostEfficiencyOf(const CostReport* cost, const ServingReport& serving);
DiffusionCostEfficiency CostEfficiencyOf(const CostReport* cost, const DiffusionReport& diffusion);
DeviceCostEfficiency CostEfficiencyOf(const CostReport& cost, const Device& device, Tape* tape);

}  // namespace slipstick
