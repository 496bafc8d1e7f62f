#include "core/post_training/hand_over.h"

#include "core/collectives/collective.h"
#include "core/post_training/learning.h"
#include "core/workload/model.h"

namespace slipstick {
namespace {

// How fast a device of the engine takes weights: through shared memory, tensor after tensor, where training is on the
// same device.
BytesPerSecond SyncRate(const PostTraining& asked, Trace& trace) {
  constexpr BytesPerSecond kColocatedRate = 38 * kGBps, kPoolsRate = 90 * kGBps;
  const BytesPerSecond sync_rate =
      asked.sync_rate.value_or(asked.placement == RlPlacement::kColocated ? kColocatedRate : kPoolsRate);
  if (asked.sync_rate) return sync_rate;
  if (asked.placement == RlPlacement::kColocated) {
    CONSTANTS(trace, "post_training.colocated", "NVIDIA-NeMo/RL pull request 1267: DeepSeek-V3 in 35 s", sync_rate);
  } else {
    CONSTANTS(trace, "post_training.pools",
              "NVIDIA-NeMo/RL pull request 1379: DeepSeek-V3 in 14 s, Qwen3-235B-A22B in 5.5 s", sync_rate);
  }
  return sync_rate;
}

Seconds TimeCollective(CollectiveType type, Bytes bytes, double ranks, const Cluster& cluster) {
  Trace off = Trace::Off();
  return TimeOf(CollectiveCall{.type = type, .bytes = bytes}, PlaceFirst(cluster, ranks), cluster).time;
}

// A device of the engine loads whole tensors, of which it keeps its part, so all parameters reach each of them.
Seconds SyncTime(const PostTraining& asked, const PostTrainingParts& parts, const DeviceSplit& split,
                 Bytes synced_weights, Trace& trace) {
  const auto copy_devices = static_cast<double>(DevicesPerCopy(parts.model, parts.training.mapping));
  const double holders = min(copy_devices, static_cast<double>(split.training_devices));
  trace.Input("holders", holders, "training.mapping");
  const Seconds gather = TimeCollective(CollectiveType::kAllGather, synced_weights, holders, parts.cluster);
  trace.Procedure("gather", gather,
                  {"All-gather of the weights", "over the devices that share a copy, by the cluster's collectives"},
                  "synced_weights, holders", synced_weights, holders);
  const BytesPerSecond sync_rate = SyncRate(asked, trace);
  const double generation_devices = static_cast<double>(split.generation_devices);
  const Seconds broadcast =
      asked.placement == RlPlacement::kColocated
          ? Seconds{}
          : TimeCollective(CollectiveType::kBroadcast, synced_weights, generation_devices + 1, parts.cluster);
  trace.Procedure("broadcast", broadcast,
                  {"Broadcast of the weights", "to a generation pool, by the cluster's collectives"},
                  "synced_weights, generation_devices", synced_weights, generation_devices);
  FIGURE(trace, weight_sync, max(gather, broadcast, synced_weights / sync_rate),
         (Note{"Weight synchronization",
               "new weights to the serving engine, tensor after tensor: they are gathered and sent while the last ones "
               "are loaded",
               "", "post_training.time_s.weight_sync"}),
         gather, broadcast, synced_weights, sync_rate);
  return weight_sync;
}

}  // namespace

HandOver TimeHandOver(const PostTraining& asked, const PostTrainingParts& parts, const DeviceSplit& split,
                      const TrainingMemory& memory, Trace& trace) {
  const Trace::Scope scope(trace, "hand_over");
  const Bytes weight_size = 2 * kB;
  CONSTANTS(trace, "formats", "weights are sent in 16 bits", weight_size);
  const double parameters = CountParameters(parts.model).total;
  trace.Input("parameters", parameters, "model");
  FIGURE(trace, synced_weights, parameters * weight_size,
         (Note{"Weights sent", "of the whole model", "", "post_training.synced_weights_bytes"}), parameters,
         weight_size);
  HandOver hand_over;
  hand_over.weights = synced_weights;
  hand_over.weight_sync = SyncTime(asked, parts, split, synced_weights, trace);

  const Bytes weights = memory.weights, optimizer = memory.optimizer;
  const bool is_colocated = asked.placement == RlPlacement::kColocated,
             has_critic = asked.algorithm == RlAlgorithm::kPpo;
  const double frozen_models = (asked.reference ? 1 : 0) + (asked.reward_model ? 1 : 0);
  const double swapped_trainings = (is_colocated ? 1 : 0) + (has_critic ? 1 : 0);
  trace.Procedure("weights", weights, {"Weights of a device", "of the training part, most loaded stage"}, "parameters",
                  parameters);
  trace.Input("optimizer", optimizer, "training.optimizer");
  trace.Input("frozen_models", frozen_models, "post_training.reference");
  trace.Input("swapped_trainings", swapped_trainings, "post_training.placement");
  FIGURE(trace, host, frozen_models * weights + swapped_trainings * (weights + optimizer),
         (Note{"Models in host memory, per device", "those that wait for their turn", "", "post_training.host_bytes"}),
         frozen_models, weights, swapped_trainings, optimizer);
  hand_over.host = host + memory.host;
  const BytesPerSecond host_bandwidth = parts.cluster.device.host.bandwidth, swap_rate = asked.swap_rate;
  const Seconds sleep_and_wake = is_colocated ? asked.engine_switch : Seconds{};
  trace.Input("host_bandwidth", host_bandwidth, "cluster.device.host.bandwidth");
  trace.Input("sleep_and_wake", sleep_and_wake,
              is_colocated ? "post_training.engine_switch" : "post_training.placement");
  FIGURE(trace, engine_switch, sleep_and_wake + 2 * host / min(host_bandwidth, swap_rate),
         (Note{"Engine switch and swapping", "the engine sleeps and wakes up; models go to host memory and come back",
               "", "post_training.time_s.engine_switch"}),
         sleep_and_wake, host, host_bandwidth, swap_rate);
  hand_over.engine_switch = engine_switch;
  return hand_over;
}

}  // namespace slipstick
