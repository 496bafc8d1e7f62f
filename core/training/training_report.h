// Figures of a training run. Memory and times are per device unless a comment says otherwise.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/issue.h"
#include "core/base/units.h"
#include "core/collectives/collective.h"
#include "core/operators/time_by_bound.h"
#include "core/training_stage/product_time.h"

namespace slipstick {

// Critical path of one device; the parts add up to the step. Only exposed communication counts.
struct StepTime {
  Seconds forward, backward, recompute, tp, cp, ep, pp, dp, bubble, optimizer, other;
  Seconds offload;  // transfers to and from the host
  [[nodiscard]] Seconds Total() const {
    return forward + backward + recompute + tp + cp + ep + pp + dp + bubble + optimizer + other + offload;
  }
};
// Time on the links, exposed or hidden.
struct LinkTime {
  Seconds tp, cp, ep, pp, dp;
  Seconds offload;  // on the host link
};
struct TrainingMemory {
  Bytes weights, gradients, optimizer, activations, workspace;
  Bytes host;      // in host memory, not part of the total
  Bytes capacity;  // of the device, to compare with the total
  [[nodiscard]] Bytes Total() const { return weights + gradients + optimizer + activations + workspace; }
  [[nodiscard]] Bytes Free() const { return capacity - Total(); }
};
struct TrainingStage {
  Count layers = 0;
  TrainingMemory memory;
  StepTime time;
};
// One box of the pipeline's Gantt chart.
struct ScheduledPass {
  Count stage = 0, chunk = 0, micro_batch = 0;
  std::string_view kind;  // "forward", "backward", "weight", "update"
  Seconds start, end;
};

// A timeline that holds only the first passes of each stage.
struct TimelineCut {
  Count shown = 0, of = 0;  // number of passes
};

// The run with its interruptions.
struct RunReport {
  Tokens compute_optimal_tokens;     // for this model: 20 per parameter
  Ratio compute_optimal_parameters;  // for the run's total FLOPs, at 20 tokens per parameter
  Seconds mean_time_between_interruptions;
  Ratio interruptions = 0;   // expected
  Bytes checkpoint;          // of the whole model
  Seconds checkpoint_stall;  // per checkpoint
  Seconds young_interval, daly_interval, checkpoint_interval;
  Ratio goodput = 0;                 // uninterrupted time over wall time
  std::optional<Seconds> wall_time;  // null if no checkpoint is ever completed
  std::optional<Seconds> device_seconds;
  std::optional<Joules> energy;  // of all devices
};

struct TrainingReport {
  Seconds step_time, time_to_train;
  TokensPerSecond tokens_per_s, tokens_per_s_per_device;
  TokensPerSecond useful_tokens_per_s;  // without padding
  Ratio model_flops_utilization = 0,
        hardware_flops_utilization = 0;                     // full-square attention (Korthikanti et al. 2022)
  Ratio model_flops_utilization_causal = 0;                 // attention cut by the causal mask
  Flops model_flops_per_step, model_flops_per_step_causal;  // of all devices
  Flops hardware_flops_per_device;   // executed by the kernels in a step, mean over the devices; attention as far as
                                     // kernels compute it
  Ratio arithmetic_utilization = 0;  // hardware_flops_per_device over the peak; at most 1
  StepTime time;
  TimeByBound time_by_bound;                       // of the step; empty in a search
  std::vector<NetworkLevelTime> network_by_level;  // of its network part
  LinkTime communication;
  Seconds scoring;           // forward passes alone over the same batch; empty in a search
  Ratio dropped_tokens = 0;  // share of routed token copies that exceed the experts' capacity
  TrainingMemory memory;     // of the most loaded stage
  std::vector<TrainingStage> stages;
  Joules energy;           // of the run, all devices
  Seconds device_seconds;  // of the run, all devices
  RunReport run;
  std::vector<TimedOperator> operators;
  CollectiveLog collectives;
  std::vector<ScheduledPass> timeline;
  std::optional<TimelineCut> timeline_cut;  // absent: the timeline is complete
  std::vector<Infeasibility> infeasible;
  std::vector<std::string> warnings;
  std::vector<std::string> assumed;  // paths of inputs that were set by a rule, not a measurement
  bool pruned = false;               // a search discarded the mapping before it was timed
};

}  // namespace slipstick
