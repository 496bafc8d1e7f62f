// Step times of a deployment, from the closed forms of core/engine_step, each computed once: exact in the number of
// sequences, interpolated linearly in the contexts between powers of two.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "core/engine_step/deployment.h"
#include "core/engine_step/phases.h"
#include "core/simulation/event_loop.h"

namespace slipstick {

class StepTimes {
 public:
  StepTimes(const Model& model, const Cluster& cluster, const ServingLoad& load, Bytes kv_cache_budget);
  StepTimes(const StepTimes&) = delete;
  StepTimes& operator=(const StepTimes&) = delete;
  SimulatedStep Of(const StepWork& work);

 private:
  // Decode steps at one mean context.
  struct Decodes {
    ServingLoad load;
    Deployment deployment;
    std::vector<DecodeTimes> by_sequences;  // time 0: not computed yet
    Decodes(const Model& model, const Cluster& cluster, const ServingLoad& at, Bytes kv_cache_budget);
  };
  struct Prefill {
    Seconds added;  // to a decode step; without one, device time
    Seconds first;  // of the prompts by themselves, until their first tokens
  };
  using PrefillKey = std::tuple<int, double, double, double, double, double, double>;

  Decodes& DecodesAt(int power);
  const DecodeTimes& DecodeAt(int power, double sequences);
  const Prefill& PrefillAt(int power, const StepWork& work);
  Prefill ComputePrefill(int power, const StepWork& work);
  Prefill PrefillOf(int power, const StepWork& work);
  SimulatedStep StepAt(int power, const StepWork& work);  // all contexts are this power of two

  const Model& model_;
  const Cluster& cluster_;
  const ServingLoad& load_;
  Bytes kv_cache_budget_;
  Deployment deployment_;
  Deployment paced_;  // without the host's launches of a prefill
  std::vector<std::unique_ptr<Decodes>> decodes_;
  std::map<PrefillKey, Prefill> prefills_;
};

}  // namespace slipstick
