// The simulated part of a serving report.
#pragma once

#include "core/base/output.h"
#include "core/simulation/simulate.h"

namespace slipstick {

template <>
struct Outputs<Percentiles> {
  static constexpr auto rows = std::tuple{Output("p50", &Percentiles::p50, "Median"), Output("p90", &Percentiles::p90, "90th percentile"),
                                          Output("p99", &Percentiles::p99, "99th percentile")};
};

template <>
struct Outputs<SimulatedServing> {
  static constexpr auto rows =
      std::tuple{Output("ttft_s", &SimulatedServing::ttft, "Simulated time to first token (TTFT), mean").SmallerIsBetter(),
                 Output("tpot_s", &SimulatedServing::tpot, "Simulated time per output token (TPOT), mean").SmallerIsBetter(),
                 Output("request_latency_s", &SimulatedServing::request_latency, "Simulated end-to-end latency, mean").SmallerIsBetter(),
                 Output("tokens_per_s", &SimulatedServing::tokens_per_s, "Simulated throughput (tokens/s)").LargerIsBetter(),
                 Output("requests_per_s", &SimulatedServing::requests_per_s, "Simulated request throughput").In("/s").LargerIsBetter(),
                 Output("requests_in_flight", &SimulatedServing::requests_in_flight, "Simulated requests in flight"),
                 Output("requests_waiting", &SimulatedServing::requests_waiting, "Simulated requests waiting"),
                 Output("prompt", &SimulatedServing::prompt, "Prompt tokens, mean of the simulated requests").In("count"),
                 Output("output", &SimulatedServing::output, "Output tokens, mean of the simulated requests").In("count"),
                 Output("requests", &SimulatedServing::requests, "Simulated requests that count").In("count"),
                 Output("preemptions", &SimulatedServing::preemptions, "Preemptions").In("count"),
                 Output("steps", &SimulatedServing::steps, "Simulated steps").In("count")};
};

}  // namespace slipstick
