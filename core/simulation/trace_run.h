// Plays recorded requests on a deployment: each is sent at its recorded time, but a turn of a session not before the
// previous turn is done.
#pragma once

#include <optional>
#include <vector>

#include "core/simulation/event_loop.h"
#include "core/simulation/request_trace.h"
#include "core/simulation/simulated_deployment.h"
#include "core/simulation/summary.h"
#include "core/simulation/trace_queue.h"

namespace slipstick {

// Ends a run early when more than `most_misses` requests have missed a limit.
struct LatencyLimit {
  std::optional<Seconds> ttft, tpot;
  Count most_misses = 0;  // per limit
};

struct PlayedTrace {
  SimulatedServing served;
  Seconds duration;      // until the last request is done
  double in_system = 0;  // requests, mean over the duration
  double hit_rate = 0;   // of the prompt tokens
  Bytes kv_cache_room, kv_cache_peak;
  Count too_long = 0;  // requests that do not fit into the KV cache, which are left out
  TraceQueue queue;
  std::optional<Seconds> first_preemption;
  std::optional<HeldBack> bound;  // what requests waited for most often
};

class TraceRun {
 public:
  // Each request of the trace must have an arrival or a delay. All arguments must outlive the run.
  TraceRun(const Model& model, const Cluster& cluster, const ServingLoad& load, const RequestTrace& trace);
  void EndBeyond(const LatencyLimit& limit) { limit_ = limit; }
  // Plays up to `steps` steps; false when the run is over.
  bool Step(Count steps);
  [[nodiscard]] double done() const;
  // Whether it ended early or took too many steps.
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  // Number of requests that fit.
  [[nodiscard]] Count playable() const { return static_cast<Count>(trace_.requests.size()) - too_long_; }
  // The result of a run that is over and has not failed.
  [[nodiscard]] PlayedTrace Result() const;

 private:
  void Send(std::size_t traced, Seconds at);
  // Sends the next of the requests that no turn precedes, at its time or later.
  void SendFirst(Seconds now);
  void Done(Seconds now, std::size_t request);

  // State of a request of the trace.
  struct Turn {
    std::size_t next = static_cast<std::size_t>(-1);  // index of the session's next turn; -1: none
    Count number = 1, reusable = 0;
  };

  const RequestTrace& trace_;
  SimulatedDeployment deployment_;
  EventLoop loop_;
  std::vector<std::size_t> traced_;  // index in the trace, per request of the loop
  std::vector<Turn> turns_;          // per request of the trace
  std::vector<std::size_t> first_;   // requests that no turn precedes, in order
  std::size_t sent_ = 0;             // of them
  std::optional<LatencyLimit> limit_;
  Count left_ = 0, too_long_ = 0, missed_ttft_ = 0, missed_tpot_ = 0;
  bool has_failed_ = false;
};

}  // namespace slipstick
