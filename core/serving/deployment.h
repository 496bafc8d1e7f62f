// One replica of a model on its devices: degrees, shapes on a device, figures of the device, resolved once an evaluation.
#pragma once

#include "core/base/trace.h"
#include "core/collectives/collective.h"
#include "core/hardware/cluster.h"
#include "core/serving/serving_load.h"
#include "core/workload/layer.h"
#include "core/workload/model.h"

namespace slipstick {

class ServingMemo;

enum class Phase { kPrefill, kDecode };

struct Deployment {
  const Model& model;
  const Cluster& cluster;
  const ServingLoad& load;
  const Engine& engine;
  Device device{};  // the cluster's, every efficiency filled in

  // Degrees. `tp` counts ranks: more than devices where a device has several cores of its own memory.
  double tp = 1, devices_per_group = 1, pp = 1, ep = 1, attention_dp = 1, replicas = 1;
  double expert_ranks = 1;  // devices that hold one expert
  double experts = 0;       // routed experts of a layer and their redundant copies

  // Shapes on one rank.
  double layers = 1, stage_layers = 1, window_layers = 0, moe_layers = 0, dense_layers = 1;
  double attention_layers = 1, linear_layers = 0;
  LayerWidths widths{};
  MatrixProducts attention{}, recurrence{}, mlp{}, expert_mlp{};  // of a layer that has it
  double hidden = 1, head_dim = 1;
  // In decode: groups of `cp` ranks share their KV heads and query heads, and each keeps its part of every context.
  double cp = 1, core_heads = 1, core_kv_heads = 1;
  double padded_heads = 1, padded_kv_heads = 1;  // of the whole model

  // Number formats, part by part: what a checkpoint keeps in 16 bit stays there.
  Precision attention_weights = Precision::kBf16, mlp_weights = Precision::kBf16, head_weights = Precision::kBf16;
  Precision attention_activations = Precision::kBf16, activations = Precision::kBf16, cache = Precision::kBf16;

  Bytes device_cache{};  // what the engine's rule leaves the cache on the device: filled in with the budget

  bool graphs = true;
  Seconds decode_gap{}, prefill_gap{};
  Seconds operation_launch{};  // of the host, in a prefill
  double steps_ahead = 0;      // launched already when a request arrives
  double expert_matrix = 1, expert_stream = 1;

  const ExchangeKernels* exchange = nullptr;  // the engine's own kernels between expert parallel ranks; null: collectives
  const CustomAllReduce* custom = nullptr;    // the engine's own all-reduce on these devices, where peers reach each other
  GroupPlacement tensor_group{};              // the ranks that share a layer
  GroupPlacement context_group{};             // of them, those that share a context
  GroupPlacement experts_group{};             // tensor_group times attention_dp
  BytesPerSecond link{};                      // of the level that joins the tensor group
  BytesPerSecond hop{};                       // of the level that joins pipeline stages
  ServingMemo* memo = nullptr;

  [[nodiscard]] double DevicesPerReplica() const { return devices_per_group * pp * attention_dp; }
};

Deployment Deploy(const Model& model, const Cluster& cluster, const ServingLoad& load);

}  // namespace slipstick
