#include "core/post_training/hand_over.h"

#include "core/collectives/collective.h"
#include "core/post_training/learning.h"
#include "core/workload/model.h"

namespace slipstick {
namespace {

// Every device of the engine loads whole tensors, of which it keeps its part, so all parameters reach each of them.
Seconds SyncTime(const PostTraining& asked, const PostTrainingParts& parts, const DeviceSplit& split, Bytes synced_weights, Trace& trace) {
  const auto copy_devices = static_cast<double>(DevicesPerCopy(parts.model, parts.training.mapping));
  const double holders = min(copy_devices, static_cast<double>(split.training_devices));
  trace.Input("holders", holders, "training.mapping");
  const CollectiveCall gathered{.type = CollectiveType::kAllGather, .bytes = synced_weights};
  const Seconds gather = [&] {
    const Trace::Scope scope(trace, "gather");
    Trace off = Trace::Off();
    return TimeOf(gathered, PlaceFirst(parts.cluster, holders), parts.cluster, off).time;
  }();
  trace.Procedure("gather", gather, {"All-gather of the weights", "over the devices that share a copy, by the cluster's collectives"},
                  "synced_weights, holders", synced_weights, holders);
  constexpr Note kNote{"Weight synchronization", "new weights from training to the serving engine", "", "post_training.time_s.weight_sync"};
  if (asked.placement == RlPlacement::kColocated) {
    FIGURE(trace, weight_sync, 1 * gather, kNote, gather);
    return weight_sync;
  }
  const double receivers = static_cast<double>(split.generation_devices) + 1;
  Trace off = Trace::Off();
  const CollectiveCall sent{.type = CollectiveType::kBroadcast, .bytes = synced_weights};
  const Seconds broadcast = TimeOf(sent, PlaceFirst(parts.cluster, receivers), parts.cluster, off).time;
  const double generation_devices = receivers - 1;
  trace.Procedure("broadcast", broadcast, {"Broadcast of the weights", "to the generation pool, by the cluster's collectives"},
                  "synced_weights, generation_devices", synced_weights, generation_devices);
  FIGURE(trace, weight_sync, max(gather, broadcast),
         (Note{"Weight synchronization", "tensor after tensor: gathered in the training pool while the last ones are broadcast", "",
               "post_training.time_s.weight_sync"}),
         gather, broadcast);
  return weight_sync;
}

}  // namespace

HandOver TimeHandOver(const PostTraining& asked, const PostTrainingParts& parts, const DeviceSplit& split, const TrainingMemory& memory,
                      Trace& trace) {
  const Trace::Scope scope(trace, "hand_over");
  const Bytes weight_size = 2 * kB;
  CONSTANTS(trace, "formats", "weights are sent in 16 bits", weight_size);
  const double parameters = CountParameters(parts.model).total;
  trace.Input("parameters", parameters, "model");
  FIGURE(trace, synced_weights, parameters * weight_size,
         (Note{"Weights sent", "of the whole model", "", "post_training.synced_weights_bytes"}), parameters, weight_size);
  HandOver hand_over;
  hand_over.weights = synced_weights;
  hand_over.weight_sync = SyncTime(asked, parts, split, synced_weights, trace);

  const Bytes weights = memory.weights, optimizer = memory.optimizer;
  const bool is_colocated = asked.placement == RlPlacement::kColocated, has_critic = asked.algorithm == RlAlgorithm::kPpo;
  const double frozen_models = (asked.reference ? 1 : 0) + (asked.reward_model ? 1 : 0);
  const double swapped_trainings = (is_colocated ? 1 : 0) + (has_critic ? 1 : 0);
  trace.Procedure("weights", weights, {"Weights of a device", "of the training part, most loaded stage"}, "holders", 1.0);
  trace.Input("optimizer", optimizer, "training.optimizer");
  trace.Input("frozen_models", frozen_models, "post_training.reference");
  trace.Input("swapped_trainings", swapped_trainings, "post_training.placement");
  FIGURE(trace, host, frozen_models * weights + swapped_trainings * (weights + optimizer),
         (Note{"Models in host memory, per device", "those that wait for their turn", "", "post_training.host_bytes"}), frozen_models,
         weights, swapped_trainings, optimizer);
  hand_over.host = host + memory.host;
  const BytesPerSecond host_bandwidth = parts.cluster.device.host.bandwidth;
  const Seconds sleep_and_wake = is_colocated ? asked.engine_switch : Seconds{};
  trace.Input("host_bandwidth", host_bandwidth, "cluster.device.host.bandwidth");
  trace.Input("sleep_and_wake", sleep_and_wake, is_colocated ? "post_training.engine_switch" : "post_training.placement");
  FIGURE(trace, engine_switch, sleep_and_wake + 2 * host / host_bandwidth,
         (Note{"Engine switch and swapping", "the engine sleeps and wakes up; models go to host memory and come back", "",
               "post_training.time_s.engine_switch"}),
         sleep_and_wake, host, host_bandwidth);
  hand_over.engine_switch = engine_switch;
  return hand_over;
}

}  // namespace slipstick
