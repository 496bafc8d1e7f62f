// The simulated part of a serving report.
#pragma once

#include "core/base/output.h"
#include "core/simulation/simulate.h"

namespace slipstick {

template <>
struct Outputs<Percentiles> {
  static constexpr auto rows = std::tuple{
      Output("p50", &Percentiles::p50, "Median"),
      Output("p90", &Percentiles::p90, "90th percentile"),
      Output("p99", &Percentiles::p99, "99th percentile"),
  };
};

template <>
struct Outputs<SimulatedSessions> {
  using S = SimulatedSessions;
  static constexpr auto rows = std::tuple{
      Output("hit_rate", &S::hit_rate, "Simulated prefix-cache hit rate").In("%").LargerIsBetter(),
      Output("device_hit_rate", &S::device_hit_rate, "Simulated hit rate in device memory").In("%").LargerIsBetter(),
      Output("host_hit_rate", &S::host_hit_rate, "Simulated hit rate in host memory").In("%"),
      Output("ssd_hit_rate", &S::ssd_hit_rate, "Simulated hit rate on SSD").In("%"),
      Output("reentry_ttft_s", &S::reentry_ttft, "Simulated time to first token of turns after the first, mean")
          .SmallerIsBetter(),
  };
};

template <>
struct Outputs<SimulatedServing> {
  using S = SimulatedServing;
  static constexpr auto rows = std::tuple{
      Output("ttft_s", &S::ttft, "Simulated time to first token (TTFT), mean").SmallerIsBetter(),
      Output("tpot_s", &S::tpot, "Simulated time per output token (TPOT), mean").SmallerIsBetter(),
      Output("request_latency_s", &S::request_latency, "Simulated end-to-end latency, mean").SmallerIsBetter(),
      Output("tokens_per_s", &S::tokens_per_s, "Simulated throughput (tokens/s)").LargerIsBetter(),
      Output("requests_per_s", &S::requests_per_s, "Simulated request throughput").In("/s").LargerIsBetter(),
      Output("requests_in_flight", &S::requests_in_flight, "Simulated requests in flight"),
      Output("requests_waiting", &S::requests_waiting, "Simulated requests waiting"),
      Output("prompt", &S::prompt, "Prompt tokens, mean of the simulated requests").In("count"),
      Output("output", &S::output, "Output tokens, mean of the simulated requests").In("count"),
      Output("requests", &S::requests, "Simulated requests that count").In("count"),
      Output("preemptions", &S::preemptions, "Preemptions").In("count"),
      Output("steps", &S::steps, "Simulated steps").In("count"),
      Output("sessions", &S::sessions, "Simulated sessions"),
  };
};

}  // namespace slipstick
