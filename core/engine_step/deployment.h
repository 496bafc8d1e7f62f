// One replica of a model on its devices, resolved once per evaluation: degrees of parallelism, shapes per rank, number
// formats, launch overheads, communication groups.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/bind_inputs.h"
#include "core/base/figure.h"
#include "core/collectives/collective.h"
#include "core/engine_step/served_formats.h"
#include "core/engine_step/serving_load.h"
#include "core/hardware/cluster.h"
#include "core/workload/layer.h"
#include "core/workload/layer_counts.h"
#include "core/workload/model.h"

namespace slipstick {

class ServingMemo;
struct Deployment;

// Further members of a deployment whose numbers have nodes.
struct DeploymentNodes {
  Tape* tape;
  const Deployment& plain;  // the same deployment without nodes, for searches inside a formula
  std::string device;       // path of its device
};

struct ServingDegrees {
  Ratio tp = 1;                 // ranks; more than the devices if a device has several cores with memory of their own
  Ratio devices_per_group = 1;  // devices that share a layer
  Ratio pp = 1, ep = 1, attention_dp = 1, replicas = 1;
  Ratio prefilling_groups = 1;  // attention groups that prefill in one pass; the others wait for it
  Ratio cp = 1;             // in decode: ranks that share KV heads and query heads, each with its part of every context
  Ratio prefill_cp = 1;     // tensor groups that split the tokens of a prompt
  Ratio context_ranks = 1;  // ranks that each hold a part of every context: cp times prefill_cp
  Ratio expert_ranks = 1;   // devices that share one expert (expert tensor parallelism)

  [[nodiscard]] Ratio DevicesPerReplica() const { return devices_per_group * pp * attention_dp * prefill_cp; }
};

struct ServedLayers : LayerCounts {  // of the model
  Ratio total = 1;
  Ratio full = 1;          // layers that attend to the whole context
  Ratio per_stage = 1;     // layers of the longest pipeline stage
  LayerCounts on_stage{};  // of each kind on its most loaded stage
};

// Shapes on one rank, per layer of the kind that has them.
struct RankShapes {
  LayerWidths widths{};
  MatrixProducts attention{}, window_attention{}, recurrence{}, mlp{}, expert_mlp{};
  MatrixProducts shared_kv_attention{}, shared_kv_window_attention{}, shared_kv_mlp{};
  Ratio hidden = 1, head_dim = 1, window_head_dim = 1;
  Ratio decode_window_kv_heads = 1;             // as decode_kv_heads, for layers with a sliding window
  Ratio decode_heads = 1, decode_kv_heads = 1;  // with context parallelism, all heads of the context group
  Ratio padded_heads = 1, padded_kv_heads = 1;  // of the whole model, for engines that pad heads to the ranks
  Ratio state_elements = 0, state_share = 0;    // of a recurrence: elements of a whole layer; share on one rank
  Ratio experts = 0;                            // routed experts of a layer with their redundant copies, whole model
};

struct LaunchOverheads {
  bool graphs = true;                  // decode steps replay a CUDA graph
  Seconds launch_gap{};                // on this architecture, without graphs
  std::optional<std::size_t> gap_row;  // the engine's exception that states launch_gap, if any
  Seconds decode_gap{}, prefill_gap{};
  Seconds per_operation{};      // host time per operation launched in a prefill
  Seconds step{};               // scheduler, per step
  Seconds per_sequence{};       // scheduler, per sequence and step
  Seconds per_sequence_host{};  // host, per sequence and step, while the devices work
  Ratio steps_ahead = 0;        // decode steps already launched when a request arrives
};

// The path of a message over the level that joins the devices of a replica, or of two pools.
struct Route {
  std::size_t level = 0;   // in cluster.networks
  BytesPerSecond link{};   // bandwidth of one device on this path
  Ratio share = 1;         // of the device's bandwidth on all its wires
  Ratio wires = 1;         // wires that the message crosses, one after the other
  Seconds wire_latency{};  // of each wire
};

struct ServingNetwork {
  // the engine's dispatch and combine kernels; null: it uses library collectives
  const ExchangeKernels* expert_exchange = nullptr;
  std::optional<CustomAllReduce> custom_all_reduce;  // the engine's, where peers reach each other's memory
  GroupPlacement tensor_group{};                     // ranks that share a layer
  GroupPlacement context_group{};                    // ranks that share a context in decode
  GroupPlacement prompt_group{};                     // ranks that share a prompt, one of each tensor group
  GroupPlacement experts_group{};                    // tensor group times attention_dp
  BytesPerSecond link{};                             // of the level that joins the tensor group
  Route stage{};                                     // from a pipeline stage to the next
  Route hand_over{};                                 // from a pool for prefill to the pool for decode
};

struct Deployment {
  const Model& model;
  const Cluster& cluster;  // with the engine's utilizations, if it states any
  const ServingLoad& load;
  const Engine& engine;
  Device device{};  // the cluster's, with every efficiency filled in

  ServingDegrees mapping{};
  ServedLayers layers{};
  RankShapes shapes{};
  ServedFormats formats{};
  LaunchOverheads launch{};
  ServingNetwork network{};
  Ratio step_factor = 1;  // time of a decode step relative to that of a tuned run
  Ratio expert_gemm_efficiency = 1, expert_bandwidth_efficiency = 1;
  std::optional<Ratio> stored_efficiency{};  // of products with stored weights, and their tiles, on this architecture;
  std::optional<Tally> stored_tile_rows{};   // absent: the engine's own numbers
  bool quantizes_apart = false;              // activations are quantized by a separate kernel before each product
  std::optional<Tally> latent_head_dim{};    // head dimension that latent kernels decode; absent: any
  bool triton_latent = false;                // latent attention decodes in Triton's kernel
  bool mixes_attention = false;              // decoded tokens run in the prompts' attention kernel
  bool visits_held_experts = false;          // fp8 kernels with block scales take time even for experts without tokens
  Bytes
      kv_cache_budget{};  // device memory that the engine's rule leaves for the KV cache; set after the budget is known
  Ratio device_slots = 0;  // sequences of an attention group that fit without host memory; set with kv_cache_budget
  Ratio sessions = 0;      // concurrent sessions of all replicas; set with the batch
  ServingMemo* memo = nullptr;
  CollectiveLog* log = nullptr;             // collects the collectives; null: they are not collected
  const Cluster* requested = nullptr;       // as in the request
  std::shared_ptr<const Cluster> scaled{};  // owns the scaled copy to which `cluster` then refers
  const DeploymentNodes* nodes = nullptr;   // null: its numbers have no nodes

  [[nodiscard]] Tape* tape() const { return nodes == nullptr ? nullptr : nodes->tape; }
  // A number that follows from an input but is not one itself: from a flag, a name, or an absent part.
  template <class Q>
  [[nodiscard]] Q InputAt(std::string_view path, Q value) const {
    return slipstick::InputAt(path, value, tape());
  }
};

// The same deployment without nodes.
inline const Deployment& PlainOf(const Deployment& deployment) {
  return deployment.nodes == nullptr ? deployment : deployment.nodes->plain;
}

Deployment Deploy(const Model& model, const Cluster& cluster, const ServingLoad& load);
// `cluster` has the engine's utilizations applied; `device` has every efficiency filled in. The numbers keep the nodes
// of `cluster`, `device`, the model and the load. If `nodes` is null, they have none.
Deployment DeployOn(const Cluster& cluster, const Device& device, const Model& model, const ServingLoad& load,
                    const DeploymentNodes* nodes = nullptr);

}  // namespace slipstick
