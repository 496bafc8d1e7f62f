// Recorded requests played in steps: on the replicas of the scenario, and then on more or fewer, to find how many hold.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/replay/question.h"
#include "core/replay/trace_summary.h"
#include "core/scenario/scenario.h"
#include "core/simulation/trace_run.h"

namespace slipstick {

class ReplayJob {
 public:
  // `question`: the members of ReplayQuestion; `trace`: the text of a file (read_trace.h), whose lengths and rate take
  // the place of the scenario's.
  static Result<std::shared_ptr<ReplayJob>> Make(const Json& request, const Json& question_json, std::string_view text);

  // Plays so many steps; false when nothing is left to do.
  bool Step(int count);
  // Of the run at hand.
  [[nodiscard]] double done() const { return run_ ? run_->done() : 1; }

  // {"done", "playing": replicas} while it plays; then
  // {"format","notes","targets","trace": {…},"deployment": {"replicas","devices","devices_per_replica","mapping"},
  // "played": {…},"holds","breaks": {"at_s","by","bound","message"}|null,
  // "needed": {"replicas","devices","usd_per_hour","ttft_s","tpot_s","hit_rate"}|null,"message","done": 1}
  // (replay_outputs.h).
  [[nodiscard]] Json Report() const;

 private:
  ReplayJob(ReplayQuestion question, RequestTrace trace, Scenario scenario);
  void Play(Count replicas, bool may_end_early);
  void EndRun();
  [[nodiscard]] bool Holds(const PlayedTrace& played) const;
  // Whether the number of replicas matters: requests come one after the other, or somebody waits for them.
  [[nodiscard]] bool SeeksReplicas() const {
    return summary_.requests_per_s > 0 || question_.ttft.has_value() || question_.tpot.has_value();
  }
  [[nodiscard]] Json Breaks() const;
  [[nodiscard]] Json Needed() const;

  ReplayQuestion question_;
  RequestTrace trace_;
  TraceSummary summary_;
  Scenario scenario_;
  Count devices_per_replica_ = 1, own_ = 1, most_ = 1;
  // The run at hand.
  Cluster cluster_;
  ServingLoad load_;
  std::optional<TraceRun> run_;
  Count playing_ = 0;
  // Known so far: the most replicas that fail, the fewest that hold.
  Count fails_ = 0;
  std::optional<Count> holds_;
  std::optional<PlayedTrace> played_, fewest_;  // on the scenario's replicas, and on those that hold
};

}  // namespace slipstick
