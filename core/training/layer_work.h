// What one layer computes for one micro-batch on one device: matrix products, attention core, element-wise bytes.
//
// Shapes of Megatron's sharding (Shoeybi et al. 2019; Korthikanti et al. 2022): column-parallel inputs, row-parallel outputs,
// experts on groups of ep·expert_tp devices.
#pragma once

#include <array>
#include <string_view>

#include "core/training/layer_kind.h"
#include "core/training/shape.h"

namespace slipstick {

enum class ProductRole { kAttention, kMlp, kExpert, kRouter };

// y[rows x outputs] = x[rows x inputs] · w, for each of `groups` weights.
struct LayerProduct {
  std::string_view name;
  double rows = 0, outputs = 0, inputs = 0, groups = 1;
  ProductRole role = ProductRole::kAttention;
};

// The attention core of the device's heads.
struct AttentionWork {
  double heads = 0, kv_heads = 0;  // on the device, per sequence
  double query_width = 0;          // width of a query and key head
  double value_width = 0;
  double queries = 0;  // of a sequence on the device
  double keys = 0;     // of a sequence
  double sequences = 0;
  double pairs = 0;      // scores that the causal mask (and the window) leave, all heads and sequences
  double all_pairs = 0;  // without the mask
};

struct LayerWork {
  std::array<LayerProduct, 12> products;
  int product_count = 0;
  AttentionWork attention;
  double attention_columns = 0;   // elements a token of Q, K, V and attention output on the device
  double mlp_columns = 0;         // inner width of the dense or shared MLP on the device
  double expert_columns = 0;      // inner width of one routed expert on the device
  double even_rows = 0;           // rows that the device's experts compute under even routing
  double routed_rows = 0;         // the same with the imbalance
  double dropped_share = 0;       // of the routed rows, over the experts' capacity
  double dispatched_tokens = 0;   // copies of its own tokens that the device sends to experts' ranks
  double dense_parameters = 0;    // of the layer on the device, experts left out
  double expert_parameters = 0;   // of the layer's experts on the device
  double adapter_parameters = 0;  // low-rank adapters on the device
  void Add(const LayerProduct& product) { products[static_cast<std::size_t>(product_count++)] = product; }
};

LayerWork WorkOf(const Model& model, const TrainingRun& run, const TrainingShape& shape, LayerKind kind);

}  // namespace slipstick
