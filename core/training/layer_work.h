// What one layer computes for one micro-batch on one device: its products and core with the rows that they meet.
#pragma once

#include <array>
#include <vector>

#include "core/training/shape.h"
#include "core/workload/layer.h"

namespace slipstick {

// Of the device's groups of rows, each with weights of its own.
struct LayerProduct : MatrixProduct {
  double rows = 0, groups = 1;
};

// The core of the device's heads.
struct AttentionWork : MixerCore {
  bool is_recurrence = false;
  double queries = 0;  // of a sequence on the device
  double keys = 0;     // of a sequence, that a query meets
  double sequences = 0;
  double pairs = 0;      // scores that the causal mask (and the window) leave, all heads and sequences
  double all_pairs = 0;  // without the mask
};

struct LayerWork {
  std::vector<LayerProduct> products;
  std::array<RowPass, kRowPasses> row_passes{};
  AttentionWork attention;
  double mlp_columns = 0;         // inner width of the dense or shared MLP on the device
  double expert_columns = 0;      // inner width of one routed expert on the device
  double even_rows = 0;           // rows that the device's experts compute under even routing
  double routed_rows = 0;         // the same with the imbalance
  double dropped_share = 0;       // of the routed rows, over the experts' capacity
  double dispatched_tokens = 0;   // copies of its own tokens that the device sends to experts' ranks
  double dense_parameters = 0;    // of the layer on the device, experts left out
  double expert_parameters = 0;   // of the layer's experts on the device
  double adapter_parameters = 0;  // low-rank adapters on the device
};

LayerWork WorkOf(const Model& model, const TrainingRun& run, const TrainingShape& shape, LayerKind kind);

}  // namespace slipstick
