// Simulates requests through a router and the engines behind it, event by event. It is independent of the model: the
// caller supplies the time of a step.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "core/engine_step/request_stream.h"
#include "core/simulation/scheduler.h"

namespace slipstick {

struct SimulatedStep {
  Seconds time;   // until the next step can begin
  Seconds first;  // until the first tokens of its prompts are available
};

struct SimulatedSystem {
  SchedulerRules rules;
  KvCacheRoom room;                                         // per group
  std::function<SimulatedStep(const StepWork&)> step_time;  // of a replica, if all its groups have this work
  Seconds handling, token_handling;  // host time per request and per prompt token, before it reaches the scheduler
  Count receive_interval = 1;        // steps between two checks for new requests
  Count steps_ahead = 0;             // steps launched before the running one ends
  Count replicas = 1, groups = 1;    // attention groups of a replica step together
  Router router = Router::kLeastLoaded;
};

// Statistics of the event loop besides the requests' own times.
struct SimulationCounts {
  Seconds end;
  Seconds requests_time;  // integral of the requests in the system over time
  Count steps = 0;
  GroupCounts groups;  // counts over all groups together; maxima of any one group
};

class EventLoop {
 public:
  explicit EventLoop(const SimulatedSystem& system);
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Called when a request is done; it may send further requests, now or later.
  using Done = std::function<void(Seconds now, std::size_t request)>;
  void Send(Seconds at, const SentRequest& request);
  // Runs until `measured` measured requests are done; false if that takes more than `most_steps` steps since the start.
  // A further call continues where it stopped.
  bool Run(Count measured, const Done& done, Count most_steps);

  [[nodiscard]] const std::vector<SimulatedRequest>& requests() const { return requests_; }
  [[nodiscard]] const SimulatedSystem& system() const { return system_; }
  [[nodiscard]] SimulationCounts counts() const;

 private:
  enum class EventKind { kStepEnd, kDone, kSent, kReady, kWake };  // at equal times, in this order
  struct Event {
    Seconds time;
    EventKind kind;
    std::uint64_t order;  // order of creation
    std::size_t index;    // of a request or a replica
    friend auto operator<=>(const Event&, const Event&) = default;
  };
  struct Replica {
    std::vector<Scheduler> groups;
    bool is_running = false, is_idle = true;
    Seconds looked;               // time of the last check for new requests
    Count unlooked = 0;           // steps since then
    Seconds ended;                // of the planned step: when its first tokens are available
    std::vector<Seconds> starts;  // of the latest steps without a pause in between: as many as are launched ahead
  };
  void Push(Seconds time, EventKind kind, std::size_t index) { events_.push({time, kind, order_++, index}); }
  void CountUntil(Seconds now);
  void Route(Seconds now, std::size_t request);
  void EndStep(Seconds now, std::size_t index);
  void BeginStep(Seconds now, std::size_t index);
  // The work of a step: mean over the attention groups, and the prompts of the group with the most tokens of prompts,
  // whose first tokens are not available before its own pass ends.
  struct ReplicaWork {
    StepWork mean, longest;
  };
  ReplicaWork PlanStep(Seconds now, Seconds seen, Replica& replica);
  [[nodiscard]] std::size_t ChooseGroup();

  const SimulatedSystem& system_;
  std::vector<SimulatedRequest> requests_;
  std::vector<Replica> replicas_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  std::size_t next_group_ = 0;
  Count in_system_ = 0, steps_ = 0;
  Seconds now_, requests_time_;
};

}  // namespace slipstick
