// How each family of Hugging Face checkpoints defines its config.json: members fixed by the architecture, and how its
// own keys set the rest. Keys that families share (hidden_size, n_embd, …) are read in import_config.cc.
//
// Source: configuration and modeling files of huggingface/transformers, and of checkpoints with their own.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/workload/model.h"

namespace slipstick {

// A config flag that adds biases.
struct BiasRule {
  std::string_view key;
  Biases adds = Biases::kNone;  // kAttention, kMlp, kQkv or kAll
  bool when = true;             // the flag's value that adds them
};

struct ConfigFamily {
  std::string_view type;             // model_type
  std::string_view model = "{}";     // members that the architecture fixes (JSON)
  std::string_view defaults = "{}";  // defaults of absent config keys (JSON)
  std::array<BiasRule, 2> biases{};
  QkNorm qk_norm = QkNorm::kHead;  // if a flag enables query and key norms
  Count parallel_norms = 0;        // norms per layer with parallel attention and MLP; 0: as usual
  Count global_every = 0;          // period of global layers among windowed ones, if the config does not give it
  bool window_by_flag = false;     // the window applies only if use_sliding_window is true
  Count position_offset = 0;       // unused rows at the start of a learned position table
  bool writes_blocks = false;      // a diffusion language model
};

const std::vector<ConfigFamily>& ConfigFamilies();

// Unsupported families, and why.
struct ForeignFamily {
  std::string_view type;
  std::string_view reason;
};
const std::vector<ForeignFamily>& ForeignFamilies();

}  // namespace slipstick
