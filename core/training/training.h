// A training run: time of a step and of the run, memory of every pipeline stage.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/issue.h"
#include "core/base/trace.h"
#include "core/hardware/cluster.h"
#include "core/operators/kernel.h"
#include "core/training/training_run.h"
#include "core/workload/model.h"

namespace slipstick {

// Contradictions between the run, the model and the cluster, with the nearest values that would do; fills run.devices, mapping.dp.
void ValidateAndFillDefaults(TrainingRun& run, const Model& model, const Cluster& cluster, const std::string& path, Issues& issues);

// One device's critical path; adds up to the step exactly. Communication counts only where it is exposed.
struct StepTime {
  Seconds forward, backward, recompute, tp, cp, ep, pp, dp, bubble, optimizer, other;
  Seconds offload;  // transfers to and from the host that nothing hides
  [[nodiscard]] Seconds Total() const {
    return forward + backward + recompute + tp + cp + ep + pp + dp + bubble + optimizer + other + offload;
  }
};
struct LinkTime {
  Seconds tp, cp, ep, pp, dp;  // exposed or not
  Seconds offload;             // on the host link
};
struct TrainingMemory {
  Bytes weights, gradients, optimizer, activations, workspace;
  Bytes host;  // in the host's memory, no part of the total
  [[nodiscard]] Bytes Total() const { return weights + gradients + optimizer + activations + workspace; }
};
struct TrainingStage {
  Count layers = 0;
  TrainingMemory memory;
  StepTime time;
};
struct TimedOperator {
  std::string name;
  Flops flops;
  Bytes bytes;
  std::vector<Bytes> level_bytes;  // caches innermost first, then memory
  Seconds time;
  Bound bound = Bound::kCompute;
};
// A box of the pipeline's Gantt.
struct ScheduledPass {
  Count stage = 0, chunk = 0, micro_batch = 0;
  std::string_view kind;  // "forward", "backward", "weight"
  Seconds start, end;
};

// The run as the calendar sees it: with what interrupts it.
struct RunReport {
  Tokens compute_optimal_tokens;          // of this model: 20 a parameter
  double compute_optimal_parameters = 0;  // for the run's arithmetic: the model that 20 tokens a parameter would use it up with
  Seconds mean_time_between_interruptions;
  double interruptions = 0;
  Bytes checkpoint;
  Seconds checkpoint_stall;  // training waits so long for each
  Seconds young_interval, daly_interval, checkpoint_interval;
  double goodput = 0;                // uninterrupted time over wall time
  std::optional<Seconds> wall_time;  // nothing where no checkpoint is ever reached
  std::optional<Seconds> device_seconds;
  std::optional<Joules> energy;
};

struct TrainingReport {
  Seconds step_time, time_to_train;
  TokensPerSecond tokens_per_s, tokens_per_s_per_device;
  double model_flops_utilization = 0, hardware_flops_utilization = 0;  // attention over the full square (Korthikanti et al. 2022)
  double model_flops_utilization_causal = 0;                           // attention as far as the causal mask leaves it
  Flops model_flops_per_step, model_flops_per_step_causal;
  Flops executed_flops;               // that the kernels run in a step, mean of the devices; attention as far as they compute it
  double arithmetic_utilization = 0;  // of them, over the peak: never above 1
  StepTime time;
  LinkTime communication;
  double dropped_tokens = 0;  // share of the routed copies that experts over their capacity leave out
  TrainingMemory memory;      // of the fullest stage
  Bytes capacity;
  std::vector<TrainingStage> stages;
  Joules energy;
  Seconds device_seconds;  // of the whole run, all devices: times the price of a device-second it is the cost
  RunReport run;
  std::vector<TimedOperator> operators;
  std::vector<ScheduledPass> timeline;
  std::vector<Infeasibility> infeasible;
  std::vector<std::string> warnings;
  std::vector<std::string> assumed;  // paths of inputs that no measurement set
  bool pruned = false;               // a search discarded the mapping before it was timed
};

class TrainingMemo;

// What to compute besides the figures.
struct TrainingDetail {
  bool operators = true;
  bool timeline = true;
  // Where a run does not fit: its time all the same, and the nearest change that would do; every stage's part. A search wants
  // none of them.
  bool advice = true;
  // Of a search: what its mappings share (memo.h), made for this very model, cluster and run.
  TrainingMemo* memo = nullptr;
  // For a search: called with a report of the run's memory and a lower bound on its step time; true ends the evaluation there, as
  // `pruned`.
  const std::function<bool(const TrainingReport& bound)>* can_prune = nullptr;
};
TrainingReport EvaluateTraining(const Model& model, const Cluster& cluster, const TrainingRun& run, const TrainingDetail& detail,
                                Trace& trace);

}  // namespace slipstick
