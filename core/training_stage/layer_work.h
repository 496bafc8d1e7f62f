// Work of one layer for one micro-batch on one device, without times: GEMM shapes, attention, elementwise passes,
// parameters.
#pragma once

#include <array>
#include <vector>

#include "core/hardware/device.h"
#include "core/training_stage/held_weights.h"
#include "core/training_stage/recompute_choice.h"
#include "core/training_stage/shape.h"
#include "core/workload/layer.h"

namespace slipstick {

// `groups` GEMMs of `rows` rows each; every group has its own weights (experts).
struct LayerProduct : MatrixProduct {
  Ratio rows = 0, groups = 1;
};

// The attention core, or the recurrence that replaces it, for the device's heads.
struct AttentionWork : MixerCore {
  bool is_recurrence = false;
  Ratio queries = 0;  // tokens per sequence on the device
  Ratio keys = 0;     // KV length
  Ratio sequences = 0;
  Ratio pairs = 0;      // scores left by the causal mask and the window, all heads and sequences
  Ratio all_pairs = 0;  // without the mask
};

struct LayerWork {
  std::vector<LayerProduct> products;
  std::array<RowPass, kRowPasses> row_passes{};
  AttentionWork attention;
  Ratio mlp_share = 1;          // share of such layers that have an MLP
  Ratio mlp_columns = 0;        // inner width of the dense MLP or of the shared experts on the device
  Ratio expert_columns = 0;     // inner width of one routed expert on the device
  Ratio even_rows = 0;          // rows of the device's experts under even routing
  Ratio routed_rows = 0;        // rows of the busiest device's experts under the imbalance
  Ratio dropped_share = 0;      // share of routed rows that exceed the experts' capacity
  Ratio dispatched_tokens = 0;  // copies of its tokens that the device sends to experts' ranks
  HeldWeights weights;
};

// Whether recomputation repeats the up-projections of queries, keys and values from latents.
inline bool RepeatsLatents(const Model& model, const LayerWork& work, const RecomputePlan& plan) {
  return plan.latents > 0 && model.mla && !work.attention.is_recurrence;
}

inline bool IsAdapted(const Framework& framework, ProductRole role) {
  return role == ProductRole::kMixer || (role == ProductRole::kMlp && framework.lora_targets == AdapterTargets::kAll);
}
// Weights of the low-rank adapters of a mixer's or a feed-forward part's products.
Ratio AdapterElements(const MatrixProducts& products, const Framework& framework);

LayerWork WorkOf(const Model& model, const TrainingRun& run, const TrainingShape& shape, const Device& device,
                 LayerKind kind);

}  // namespace slipstick
