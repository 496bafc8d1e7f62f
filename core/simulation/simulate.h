// Serving of a load, simulated request by request. The closed forms of core/serving give means of a steady state; this
// gives their spread, and loads that have none. It stands beside them and changes none of them.
#pragma once

#include <optional>
#include <string>

#include "core/base/quantity.h"
#include "core/engine_step/serving_load.h"
#include "core/hardware/cluster.h"
#include "core/workload/model.h"

namespace slipstick {

struct Percentiles {
  Seconds p50, p90, p99;
};

// Hit rates are shares of the prompt tokens.
struct SimulatedSessions {
  double hit_rate = 0, device_hit_rate = 0, host_hit_rate = 0, ssd_hit_rate = 0;
  Seconds reentry_ttft;  // mean of turns after the first
};

// Invariants: requests_per_s x request_latency = requests_in_flight + requests_waiting (Little's law).
struct SimulatedServing {
  Seconds ttft, tpot, request_latency;  // means
  Percentiles ttft_percentiles, tpot_percentiles, latency_percentiles;
  TokensPerSecond tokens_per_s;
  double requests_per_s = 0, requests_in_flight = 0, requests_waiting = 0;  // all replicas
  double prompt = 0, output = 0;                                            // mean lengths
  Count requests = 0, preemptions = 0, steps = 0;
  std::optional<SimulatedSessions> sessions;
};

struct SimulationAnswer {
  std::optional<SimulatedServing> served;
  std::string warning;  // why it is not there, or what it does not show
};

// For a load with `simulate`. Pools are not simulated.
SimulationAnswer Simulate(const Model& model, const Cluster& cluster, const ServingLoad& load);

}  // namespace slipstick
