// Latencies of the simulated requests: means and percentiles.
#pragma once

#include <optional>
#include <vector>

#include "core/base/quantity.h"
#include "core/simulation/event_loop.h"

namespace slipstick {

// Nearest rank: how many of the smallest of `count` values make up at least this percentage of them.
inline std::size_t NearestRank(std::size_t count, std::size_t percent) { return (count * percent + 99) / 100; }

struct Percentiles {
  Seconds p50, p90, p99;
};

// Hit rates are shares of the prompt tokens.
struct SimulatedSessions {
  double hit_rate = 0, device_hit_rate = 0, host_hit_rate = 0, ssd_hit_rate = 0;
  Seconds reentry_ttft;  // mean of turns after the first
};

// A class of the load's mixture. Figures are 0 if it has no request.
struct SimulatedClass {
  Seconds ttft, tpot, latency;  // means
  Percentiles ttft_percentiles, tpot_percentiles;
  Count requests = 0;
};

// Invariants: requests_per_s x request_latency = requests_in_flight + requests_waiting (Little's law).
struct SimulatedServing {
  Seconds ttft, tpot, request_latency;  // means
  Percentiles ttft_percentiles, tpot_percentiles, latency_percentiles;
  TokensPerSecond tokens_per_s;
  double requests_per_s = 0, requests_in_flight = 0, requests_waiting = 0;  // all replicas
  double prompt = 0, output = 0;                                            // mean lengths
  Count requests = 0, preemptions = 0, steps = 0;
  Seconds waited;  // at the scheduler before their first steps, sum over all requests
  std::optional<SimulatedSessions> sessions;
  std::vector<SimulatedClass> classes;
};

Seconds MeanOf(const std::vector<Seconds>& times);
// Nearest-rank percentiles: the smallest time with at least this share of all times at or below it.
Percentiles PercentilesOf(std::vector<Seconds> times);

// Summary of the requests `of`, without their rate.
SimulatedServing SummaryOf(const EventLoop& loop, const std::vector<std::size_t>& of);
// Sets the rate and the figures that depend on it.
void SetRate(SimulatedServing& served, Hertz rate);

std::vector<SimulatedClass> ClassesOf(const EventLoop& loop, const std::vector<std::size_t>& of, std::size_t classes);

// Summary of turns of sessions.
SimulatedSessions SessionsOf(const EventLoop& loop, const std::vector<std::size_t>& turns);

}  // namespace slipstick
