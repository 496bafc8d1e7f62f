// Kinds of attention: latent, of selected tokens, with a sliding window, with heads of local layers and with a shared
// KV cache.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/import/config_reader.h"

namespace slipstick {
namespace {

// Layers with an indexer of their own (GLM-5.2): listed, or every n-th after the first; 0: all.
Count SelectingLayers(Config& config, Count layers) {
  if (const Json* types = config.Find({"indexer_types"}); types != nullptr && types->is_array())
    return std::count(types->begin(), types->end(), "full");
  const Count every = config.Whole({"index_topk_freq"}).value_or(1),
              offset = config.Whole({"index_skip_topk_offset"}).value_or(1);
  if (every <= 1) return 0;
  Count selecting = 0;
  for (Count layer = 0; layer < layers; ++layer)
    selecting += std::max<Count>(layer - offset + 1, 0) % every == 0 ? 1 : 0;
  return selecting;
}

// Period of the layers with full attention; 0 if there are none, nothing if the list is irregular.
std::optional<Count> Rhythm(const std::vector<bool>& global) {
  const auto first = std::find(global.begin(), global.end(), true);
  if (first == global.end()) return 0;
  const auto every = static_cast<std::size_t>(first - global.begin()) + 1;
  for (std::size_t i = 0; i < global.size(); ++i) {
    if (global[i] != ((i + 1) % every == 0)) return std::nullopt;
  }
  return static_cast<Count>(every);
}

}  // namespace

void ReadLocalHeads(const Import& in) {
  Json& model = in.model;
  Config& config = in.config;
  if (const auto global = config.Whole({"global_head_dim"}); global && model.contains("head_dim")) {
    model["window_head_dim"] = model["head_dim"];
    model["head_dim"] = *global;
  }
  if (config.Flag({"attention_k_eq_v"})) {
    model["keys_as_values"] = true;
    if (const auto global = config.Whole({"num_global_key_value_heads"}); global && model.contains("kv_heads")) {
      model["window_kv_heads"] = model["kv_heads"];
      model["kv_heads"] = *global;
    }
  }
}

void ReadSharedKv(const Import& in) {
  Json& model = in.model;
  Config& config = in.config;
  if (const Count shared = config.Whole({"num_kv_shared_layers"}).value_or(0); shared > 0) {
    model["kv_shared_layers"] = shared;
    if (config.Flag({"use_double_wide_mlp"})) model["kv_shared_ffn"] = 2 * model["ffn"].get<Count>();
  }
  const Count width = config.Whole({"hidden_size_per_layer_input"}).value_or(0);
  if (width == 0) return;
  model["layer_embedding"] = width;
  model["norms_per_layer"] = model.value("norms_per_layer", Count{2}) + 1;
  const std::optional<Count> rows = config.Whole({"vocab_size_per_layer_input"});
  if (rows && *rows != model["vocab"]) model["layer_embedding_rows"] = *rows;
}

void ReadBlockSelection(const Import& in) {
  Config& config = in.config;
  if (!config.Flag({"sparse_attention_config.use_sparse_attention"})) return;
  const Count block = config.Needed({"sparse_attention_config.sparse_block_size"}, "tokens of a block");
  const Json* listed = config.Find({"sparse_attention_config.sparse_attention_freq"});
  in.model["indexer"] =
      Json{{"heads", config.Needed({"sparse_attention_config.sparse_num_index_heads"}, "heads of the indexer")},
           {"head_dim", config.Needed({"sparse_attention_config.sparse_index_dim"}, "head dimension of the indexer")},
           {"top_k",
            block * config.Needed({"sparse_attention_config.sparse_topk_blocks"}, "blocks that a query attends to")},
           {"block", block},
           {"layers", listed != nullptr && listed->is_array() ? std::count(listed->begin(), listed->end(), 1) : 0}};
}

void ReadLatentAttention(const Import& in) {
  Config& config = in.config;
  const std::optional<Count> rank = config.Whole({"kv_lora_rank"});
  if (!rank) return;
  in.model["mla"] =
      Json{{"q_lora_rank", config.Whole({"q_lora_rank"}).value_or(0)},
           {"kv_lora_rank", *rank},
           {"nope_head_dim", config.Needed({"qk_nope_head_dim"}, "non-rotary part of the head dimension")},
           {"rope_head_dim", config.Needed({"qk_rope_head_dim"}, "rotary part of the head dimension")},
           {"value_head_dim", config.Needed({"v_head_dim"}, "value head dimension")}};
  // The number of heads of latent attention need not divide the hidden size.
  if (in.model["hidden"].get<Count>() % std::max<Count>(1, in.model["heads"].get<Count>()) != 0)
    in.model["head_dim"] = in.model["mla"]["nope_head_dim"];
  if (config.Flag({"mla_use_output_gate"})) in.model["attention_gate"] = true;
  if (const std::optional<Count> heads = config.Whole({"index_n_heads"})) {
    in.model["indexer"] = Json{{"heads", *heads},
                               {"head_dim", config.Needed({"index_head_dim"}, "head dimension of the indexer")},
                               {"top_k", config.Needed({"index_topk"}, "tokens that a query attends to")},
                               {"layers", SelectingLayers(config, in.model["layers"].get<Count>())}};
  }
}

void ReadWindow(const Import& in) {
  Config& config = in.config;
  const std::optional<Count> window = config.Whole({"sliding_window", "sliding_window_size", "attention_chunk_size"});
  if (!window || *window <= 0 || in.model.contains("compressed") ||
      (in.family.window_by_flag && !config.Flag({"use_sliding_window"})))
    return;
  if (const Json* context = FindMember(in.model, "context"); context != nullptr && *window >= context->get<Count>())
    return;  // wider than any context: full attention
  const std::string rhythm_of_layers = config.Text({"sliding_window_pattern"});  // EXAONE 4: "LLLG"
  Count global_every =
      rhythm_of_layers.empty()
          ? config.Whole({"sliding_window_pattern", "_sliding_window_pattern", "no_rope_layer_interval"})
                .value_or(in.family.global_every)
          : std::ssize(rhythm_of_layers);
  const Json* types = config.Find({"layer_types"});
  if (types != nullptr && types->is_array() && !types->empty()) {
    std::vector<bool> global;
    for (const Json& type : *types) global.push_back(type == "full_attention");
    if (std::find(global.begin(), global.end(), false) == global.end()) return;
    const std::optional<Count> rhythm = Rhythm(global);
    if (rhythm) {
      global_every = *rhythm;
    } else {
      const auto all = static_cast<double>(std::count(global.begin(), global.end(), true));
      global_every = static_cast<Count>(std::llround(static_cast<double>(global.size()) / all));
      in.notes.push_back("layer_types is irregular: full attention is assumed every " + std::to_string(global_every) +
                         " layers");
    }
  } else if (in.family.window_by_flag && config.Whole({"max_window_layers"}).value_or(0) > 0) {
    in.notes.push_back("max_window_layers is not supported: every layer gets the window");
  }
  in.model["sliding_window"] = *window;
  if (global_every > 0) in.model["global_every"] = global_every;
}

}  // namespace slipstick
