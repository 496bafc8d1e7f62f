#include <algorithm>

#include "core/import/config_reader.h"

namespace slipstick {

// DeepSeek V4: the config lists the tokens per entry of each layer; 0: the layer has only the window.
void ReadCompressed(const Import& in) {
  if (in.family.type != "deepseek_v4") return;
  Json& model = in.model;
  Config& config = in.config;
  const Json* ratios = config.Find({"compress_ratios"});
  if (ratios == nullptr || !ratios->is_array())
    return in.issues.push_back({"compress_ratios", "Required: tokens per entry of every layer"});
  const auto layers = model["layers"].get<std::size_t>();
  Count least = 0, most = 0;
  for (std::size_t i = 0; i < std::min(layers, ratios->size()); ++i) {
    const Count ratio = (*ratios)[i].is_number_integer() ? (*ratios)[i].get<Count>() : 0;
    if (ratio > 0) least = least == 0 ? ratio : std::min(least, ratio);
    most = std::max(most, ratio);
  }
  const auto of = [&](Count ratio) {
    return std::count(ratios->begin(), ratios->begin() + static_cast<std::ptrdiff_t>(std::min(layers, ratios->size())),
                      Json(ratio));
  };
  model["indexer"] = Json{{"heads", config.Needed({"index_n_heads"}, "heads of the indexer")},
                          {"head_dim", config.Needed({"index_head_dim"}, "head dimension of the indexer")},
                          {"top_k", config.Needed({"index_topk"}, "entries that a query attends to")},
                          {"layers", of(least)}};
  model["compressed"] =
      Json{{"q_lora_rank", config.Needed({"q_lora_rank"}, "rank of the query compression")},
           {"rope_head_dim", config.Whole({"qk_rope_head_dim"}).value_or(64)},
           {"window", config.Needed({"sliding_window"}, "tokens of the window")},
           {"ratio", least},
           {"heavy_ratio", most},
           {"heavy_layers", most > least ? of(most) : 0},
           {"output_groups", config.Needed({"o_groups"}, "groups of heads in the output projection")},
           {"output_rank", config.Needed({"o_lora_rank"}, "rank of a group in the output projection")},
           {"streams", config.Whole({"hc_mult"}).value_or(1)}};
  if (config.Text({"expert_dtype"}) == "fp4") {
    model["weights"] = "mxfp4";
    model["compressed"]["weights"] = "fp8";
  }
}

}  // namespace slipstick
