#include "core/post_training/hand_over.h"

#include "core/base/figure.h"
#include "core/collectives/collective.h"
#include "core/workload/model.h"

namespace slipstick {
namespace {

bool IsColocated(const StepInputs& inputs) { return inputs.asked.placement == RlPlacement::kColocated; }

Seconds TimeCollective(CollectiveType type, Bytes bytes, double ranks, const Cluster& cluster) {
  return TimeOf(CollectiveCall{.type = type, .bytes = PlainOf(bytes)}, PlaceFirst(cluster, ranks), cluster).time;
}

// A device of the engine loads whole tensors and keeps its part of them, so all parameters reach every device.
Seconds SyncTime(const StepInputs& inputs, const Pools& pools, Bytes weights) {
  const Cluster& cluster = inputs.parts.cluster;
  const Ratio holders = Figure("Devices that gather the weights", min(inputs.copy_devices, pools.training));
  const Seconds gather =
      Procedure("All-gather of the weights", TimeCollective(CollectiveType::kAllGather, weights, holders, cluster),
                {weights, holders}, "over the devices that share a copy, by the cluster's collectives");
  const Seconds load = Figure("Loading of the weights by a device", weights / inputs.sync_rate);
  constexpr std::string_view kTitle = "Weight synchronization";
  constexpr std::string_view kNote =
      "new weights to the serving engine, tensor after tensor: they are gathered and sent while the last ones are "
      "loaded";
  if (IsColocated(inputs)) return Figure(kTitle, max(gather, load), kNote);
  const Seconds broadcast = Procedure(
      "Broadcast of the weights", TimeCollective(CollectiveType::kBroadcast, weights, pools.generation + 1, cluster),
      {weights, pools.generation}, "to a generation pool, by the cluster's collectives");
  return Figure(kTitle, max(gather, broadcast, load), kNote);
}

}  // namespace

HandOver TimeHandOver(const StepInputs& inputs, const Pools& pools, const Learning& learning) {
  const TrainingMemory& memory = learning.update.memory;
  const PostTraining& asked = inputs.asked;
  const Bytes weights =
      Procedure("Weights of a device", memory.weights, {inputs.parameters}, "of the training part, most loaded stage");
  const Bytes optimizer = Procedure("Optimizer state of a device", memory.optimizer, {inputs.parameters},
                                    "of the training part, most loaded stage");
  const Bytes waiting = Figure("Models that wait for their turn, per device",
                               inputs.frozen_models * weights + inputs.swapped_trainings * (weights + optimizer),
                               "frozen: reference and reward model; trained: the policy where the engine takes turns "
                               "with it, the critic of PPO");
  const Bytes whole = Procedure("Weights of a device, in its memory or the host's", learning.weights,
                                {inputs.parameters}, "of the training part, most loaded stage");
  const Bytes streamed = Figure("Frozen models that stay in host memory", inputs.frozen_models * (whole - weights),
                                "per device; each pass reads them there, as training does");
  HandOver hand_over;
  hand_over.weights = Figure("Weights sent", inputs.parameters * (2 * kB), "of the whole model, in 16 bits");
  hand_over.weight_sync = SyncTime(inputs, pools, hand_over.weights);
  const Bytes offloaded = Procedure("What training offloads, per device", memory.host, {inputs.parameters},
                                    "of the training part, most loaded stage");
  hand_over.host = Figure("Models in host memory, per device", waiting + streamed + offloaded);
  const Seconds sleep_and_wake = IsColocated(inputs) ? asked.engine_switch : Seconds();
  hand_over.engine_switch =
      Figure("Engine switch and swapping", sleep_and_wake + 2 * waiting / min(inputs.host_bandwidth, asked.swap_rate),
             "the engine sleeps and wakes up; models go to host memory and come back");
  return hand_over;
}

}  // namespace slipstick
