// Recorded requests played through a deployment: each is sent when the trace says, a turn of a session not before the
// turn before it is done.
#pragma once

#include <optional>
#include <vector>

#include "core/simulation/event_loop.h"
#include "core/simulation/request_trace.h"
#include "core/simulation/simulated_deployment.h"
#include "core/simulation/summary.h"
#include "core/simulation/trace_queue.h"

namespace slipstick {

// Ends a run early that more than so many requests have missed.
struct LatencyLimit {
  std::optional<Seconds> ttft, tpot;
  Count most_misses = 0;  // of each
};

struct PlayedTrace {
  SimulatedServing served;
  Seconds duration;      // until the last request is done
  double in_system = 0;  // requests, mean over the duration
  double hit_rate = 0;   // of the prompt tokens
  Bytes kv_cache_room, kv_cache_peak;
  Count too_long = 0;  // requests that the KV cache has no room for: left out
  TraceQueue queue;
  std::optional<Seconds> first_preemption;
  std::optional<HeldBack> bound;  // what requests waited for most often
};

class TraceRun {
 public:
  // The trace has an arrival or a delay for each request. It and the others must outlive this.
  TraceRun(const Model& model, const Cluster& cluster, const ServingLoad& load, const RequestTrace& trace);
  void EndBeyond(const LatencyLimit& limit) { limit_ = limit; }
  // Plays so many steps; false when the run is over.
  bool Step(Count steps);
  [[nodiscard]] double done() const;
  // Whether it ended early, or had too many steps.
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  // Requests that fit.
  [[nodiscard]] Count playable() const { return static_cast<Count>(trace_.requests.size()) - too_long_; }
  // Of a run that is over and has not failed.
  [[nodiscard]] PlayedTrace Result() const;

 private:
  void Send(std::size_t traced, Seconds at);
  void Done(Seconds now, std::size_t request);

  // Of a request of the trace.
  struct Turn {
    std::size_t next = static_cast<std::size_t>(-1);  // of its session; none
    Count number = 1, reusable = 0;
  };

  const RequestTrace& trace_;
  SimulatedDeployment deployment_;
  EventLoop loop_;
  std::vector<std::size_t> traced_;  // of each request of the loop
  std::vector<Turn> turns_;          // of each of the trace
  std::optional<LatencyLimit> limit_;
  Count left_ = 0, too_long_ = 0, missed_ttft_ = 0, missed_tpot_ = 0;
  bool has_failed_ = false;
};

}  // namespace slipstick
