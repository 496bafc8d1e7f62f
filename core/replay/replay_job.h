// The command `replay`: what a file of recorded requests needs, how it is served, and where serving breaks down. Plays
// them in steps: on the scenario's replicas, then on other numbers, to find the fewest that hold.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/evaluation/job_steps.h"
#include "core/replay/question.h"
#include "core/replay/trace_summary.h"
#include "core/scenario/scenario.h"
#include "core/simulation/trace_run.h"

namespace slipstick {

class ReplayJob {
 public:
  // `question`: the members of ReplayQuestion; `trace`: the text of a file (read_trace.h), whose lengths and rate
  // replace the scenario's.
  static Result<std::shared_ptr<ReplayJob>> Make(const Json& request, const Json& question_json, std::string_view text);

  static constexpr int kStepsAtOnce = 4096;
  // Plays up to `count` steps; false when nothing is left to do.
  bool Step(int count);
  // Finished fraction of the current run.
  [[nodiscard]] double done() const { return run_ ? run_->done() : 1; }

  // {"done", "playing": replicas} while it plays; then
  // {"format","notes","targets","trace": {…},"deployment": {"replicas","devices","devices_per_replica","mapping"},
  // "played": {…},"holds","breaks": {"at_s","by","bound","message"}|null,
  // "needed": {"replicas","devices","bought_devices","usd_per_hour","ttft_s","tpot_s","hit_rate"}|null,"message",
  // "done": 1}.
  [[nodiscard]] Json Report() const;

 private:
  ReplayJob(ReplayQuestion question, RequestTrace trace, Scenario scenario);
  void Play(Count replicas, bool may_end_early);
  void EndRun();
  [[nodiscard]] bool Holds(const PlayedTrace& played) const;
  // Whether the number of replicas matters: requests arrive over time, or there are latency targets.
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
  // The current run.
  Cluster cluster_;
  ServingLoad load_;
  std::optional<TraceRun> run_;
  Count playing_ = 0;
  // Bounds known so far: the largest number of replicas that fails, the smallest that holds.
  Count fails_ = 0;
  std::optional<Count> holds_;
  std::optional<PlayedTrace> played_, fewest_;  // on the scenario's replicas; on the fewest replicas that hold
};

using ReplaySteps = JobSteps<ReplayJob>;

}  // namespace slipstick
