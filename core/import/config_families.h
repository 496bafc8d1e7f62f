// What each family of Hugging Face checkpoints means by its config.json: members of the model that the architecture fixes,
// and how its own keys set the rest. Keys that families share (hidden_size, n_embd, …) are read in import_config.cc.
//
// Source: the configuration and modelling files of huggingface/transformers, and of the checkpoints that bring their own.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/workload/model.h"

namespace slipstick {

// A flag of the config that decides about biases.
struct BiasRule {
  std::string_view key;
  Biases adds = Biases::kNone;  // kAttention, kMlp, kQkv or kAll
  bool when = true;             // the flag's value that adds them
};

struct ConfigFamily {
  std::string_view type;             // model_type
  std::string_view model = "{}";     // members that the architecture fixes (JSON)
  std::string_view defaults = "{}";  // what is assumed where the config is silent (JSON, the config's own keys)
  std::array<BiasRule, 2> biases{};
  QkNorm qk_norm = QkNorm::kHead;  // where a flag asks for query and key norms
  Count parallel_norms = 0;        // norms of a layer whose attention and MLP stand side by side; 0: as otherwise
  Count global_every = 0;          // where windows alternate with global layers and the config does not say how
  bool window_by_flag = false;     // the window counts only where use_sliding_window is true
  Count position_offset = 0;       // unused rows at the start of a learned position table
};

const std::vector<ConfigFamily>& ConfigFamilies();

// Families that no decoder of attention layers describes, and why.
struct ForeignFamily {
  std::string_view type;
  std::string_view reason;
};
const std::vector<ForeignFamily>& ForeignFamilies();

}  // namespace slipstick
