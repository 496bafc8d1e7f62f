// The post-training part of a report.
#include "core/base/output.h"
#include "core/evaluation/report.h"

namespace slipstick {

template <>
struct Outputs<PostTrainingTime> {
  using T = PostTrainingTime;
  static constexpr auto rows = std::tuple{
      Output("generation", &T::generation, "Rollouts, exposed").Short("Rollouts"),
      Output("reward", &T::reward, "Reward model"),
      Output("old_log_probs", &T::old_log_probs, "Policy log-probs"),
      Output("reference", &T::reference, "Reference log-probs"),
      Output("values", &T::values, "Values (critic)"),
      Output("training", &T::training, "Training"),
      Output("weight_sync", &T::weight_sync, "Weight synchronization"),
      Output("engine_switch", &T::engine_switch, "Engine sleep and wake-up, swapping to host memory")
          .Short("Engine switch"),
  };
};

template <>
struct Outputs<DeviceSplit> {
  static constexpr auto rows = std::tuple{
      Output("generation_devices", &DeviceSplit::generation_devices, "Generation devices").In("count"),
      Output("training_devices", &DeviceSplit::training_devices, "Training devices").In("count"),
      Output("step_time_s", &DeviceSplit::step_time, "Post-training step time").SmallerIsBetter(),
      Output("feasible", &DeviceSplit::fits, "Feasible"),
  };
};

template <>
struct Outputs<PostTrainingReport> {
  using R = PostTrainingReport;
  static constexpr auto rows = std::tuple{
      Output("feasible", &R::infeasible, IsFeasible, "Feasible"),
      Output("infeasible", &R::infeasible, "Reasons for infeasibility"),
      Output("step_time_s", &R::step_time, "Post-training step time").Short("Step").SmallerIsBetter(),
      Output("time_s", &R::time, "Post-training step time by part"),
      Output("generation_s", &R::generation, "Rollouts, hidden or exposed").SmallerIsBetter(),
      Output("learning_s", &R::learning, "Scoring and training, swapping included").SmallerIsBetter(),
      Output("samples", &R::samples, "Samples per step").In("count"),
      Output("updates", &R::updates, "Optimizer updates per step").In("count"),
      Output("tokens_per_s", &R::tokens_per_s, "Post-training throughput (tokens/s)")
          .Short("Throughput")
          .LargerIsBetter(),
      Output("tokens_per_s_per_device", &R::tokens_per_s_per_device, "Post-training throughput per GPU (tokens/s)")
          .Short("Throughput per GPU")
          .LargerIsBetter(),
      Output("mean_response", &R::mean_response, "Mean response"),
      Output("longest_response", &R::longest_response, "Longest response"),
      Output("running", &R::running, "Sequences per group at the start of the rollouts").In("count"),
      Output("slots_in_use", &R::slots_in_use, "Share of the batch that still generates, mean of the rollouts")
          .In("%")
          .LargerIsBetter(),
      Output("generation_idle", &R::generation_idle, "Idle share of the generation pool").In("%").SmallerIsBetter(),
      Output("training_idle", &R::training_idle, "Idle share of the training pool").In("%").SmallerIsBetter(),
      Output("idle", &R::idle, "Idle share of all devices").In("%").SmallerIsBetter(),
      Output("generation_devices", &R::generation_devices, "Devices that generate").In("count"),
      Output("training_devices", &R::training_devices, "Devices that train").In("count"),
      Output("splits", &R::splits, "Splits of the devices"),
      Output("synced_weights_bytes", &R::synced_weights, "Weights sent to the engine per step"),
      Output("host_bytes", &R::host, "Host memory of waiting models, per device").SmallerIsBetter(),
  };
};

Json WritePostTraining(const PostTrainingReport& report) { return WriteOutputs(report); }
void AddShown(const PostTrainingReport& report, std::vector<ShownNumber>& shown) {
  AddShown(report, "post_training", shown);
}
void DescribePostTraining(Json& out) { DescribeOutputs<PostTrainingReport>("post_training", out); }

}  // namespace slipstick
