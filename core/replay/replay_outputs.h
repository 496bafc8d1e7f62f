// The outputs of an answer on recorded requests.
#pragma once

#include "core/base/output.h"
#include "core/evaluation/simulation_outputs.h"
#include "core/replay/trace_summary.h"
#include "core/simulation/trace_run.h"

namespace slipstick {

template <>
struct Outputs<TraceLengths> {
  using L = TraceLengths;
  static constexpr auto rows = std::tuple{
      Output("mean", &L::mean, "Mean").In("count"),          Output("p50", &L::p50, "Median").In("count"),
      Output("p90", &L::p90, "90th percentile").In("count"), Output("p99", &L::p99, "99th percentile").In("count"),
      Output("longest", &L::longest, "Longest").In("count"),
  };
};

template <>
struct Outputs<TraceSummary> {
  using S = TraceSummary;
  static constexpr auto rows = std::tuple{
      Output("requests", &S::requests, "Requests").In("count"),
      Output("sessions", &S::sessions, "Sessions").In("count"),
      Output("span_s", &S::span, "From the first arrival to the last"),
      Output("requests_per_s", &S::requests_per_s, "Mean arrival rate").In("/s"),
      Output("prompt", &S::prompt, "Prompt tokens"),
      Output("output", &S::output, "Output tokens"),
      Output("prompt_tokens_per_s", &S::prompt_tokens_per_s, "Prompt tokens that arrive").In("/s"),
      Output("output_tokens_per_s", &S::output_tokens_per_s, "Output tokens wanted").In("/s"),
      Output("best_hit_rate", &S::best_hit_rate, "Prefix-cache hit rate with unlimited memory").In("%"),
  };
};

template <>
struct Outputs<TraceMoment> {
  using M = TraceMoment;
  static constexpr auto rows = std::tuple{
      Output("from_s", &M::from, "From"),
      Output("arrivals_per_s", &M::arrivals_per_s, "Arrivals").In("/s"),
      Output("waiting", &M::waiting, "Requests waiting"),
      Output("running", &M::running, "Requests running"),
  };
};

template <>
struct Outputs<PlayedTrace> {
  using P = PlayedTrace;
  using S = SimulatedServing;
  static constexpr auto rows = std::tuple{
      Output("ttft_s", &P::served, &S::ttft, "Time to first token (TTFT), mean"),
      Output("tpot_s", &P::served, &S::tpot, "Time per output token (TPOT), mean"),
      Output("request_latency_s", &P::served, &S::request_latency, "End-to-end latency, mean"),
      Output("ttft_percentiles_s", &P::served, &S::ttft_percentiles, "Time to first token (TTFT)"),
      Output("tpot_percentiles_s", &P::served, &S::tpot_percentiles, "Time per output token (TPOT)"),
      Output("latency_percentiles_s", &P::served, &S::latency_percentiles, "End-to-end latency"),
      Output("requests_per_s", &P::served, &S::requests_per_s, "Request throughput").In("/s"),
      Output("tokens_per_s", &P::served, &S::tokens_per_s, "Throughput (tokens/s)"),
      Output("requests_in_flight", &P::served, &S::requests_in_flight, "Requests in flight, mean"),
      Output("requests_waiting", &P::served, &S::requests_waiting, "Requests waiting, mean"),
      Output("in_system", &P::in_system, "Requests in the system, mean over time"),
      Output("duration_s", &P::duration, "Until the last request is done"),
      Output("hit_rate", &P::hit_rate, "Prefix-cache hit rate").In("%"),
      Output("kv_cache_room_bytes", &P::kv_cache_room, "Room for the KV cache, per device"),
      Output("kv_cache_peak_bytes", &P::kv_cache_peak, "Peak KV cache of running requests, per device"),
      Output("requests", &P::served, &S::requests, "Requests played").In("count"),
      Output("too_long", &P::too_long, "Requests longer than the KV cache").In("count"),
      Output("preemptions", &P::served, &S::preemptions, "Preemptions").In("count"),
      Output("steps", &P::served, &S::steps, "Steps").In("count"),
      Output("moments", &P::queue, &TraceQueue::moments, "The queue over time"),
  };
};

}  // namespace slipstick
