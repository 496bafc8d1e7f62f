#include <algorithm>
#include <cmath>
#include <optional>

#include "core/import/config_reader.h"

namespace slipstick {
namespace {

// Gemma 3 states the number of tokens of an image, which has a single size.
std::optional<Count> PooledPatches(Config& config, Count patch) {
  const auto tokens = config.Whole({"mm_tokens_per_image"}), side = config.Whole({"vision_config.image_size"});
  if (!tokens || !side || *tokens < 1) return std::nullopt;
  const Count patches = *side / patch;  // along a side
  return std::max<Count>(1, static_cast<Count>(static_cast<double>(patches) / std::sqrt(*tokens)));
}

// The MLP of GLM's encoders is as wide as the language model; intermediate_size belongs to the merger.
bool IsWideAsTheModel(const Config& config) { return config.Text({"vision_config.model_type"}).starts_with("glm4v"); }

}  // namespace

void ReadVision(const Import& in) {
  Config& config = in.config;
  if (config.Find({"vision_config"}) == nullptr) return;
  // In Qwen2-VL, hidden_size is the language model's and embed_dim the encoder's.
  const auto layers = config.Whole({"vision_config.depth", "vision_config.num_hidden_layers"}),
             hidden = config.Whole({"vision_config.embed_dim", "vision_config.hidden_size"}),
             heads = config.Whole({"vision_config.num_heads", "vision_config.num_attention_heads"}),
             ffn = config.Whole(
                 {IsWideAsTheModel(config) ? "vision_config.out_hidden_size" : "vision_config.intermediate_size"}),
             ratio = config.Whole({"vision_config.mlp_ratio"}), patch = config.Whole({"vision_config.patch_size"});
  auto merge = config.Whole({"vision_config.spatial_merge_size", "spatial_merge_size"});
  const bool pools = !merge && patch && *patch > 0;
  if (pools) merge = PooledPatches(config, *patch);
  if (!layers || !hidden || !heads || !(ffn || ratio) || !patch || !merge) {
    in.notes.push_back(
        "the vision encoder's memory and time are not counted; an image is as many prompt tokens as it becomes");
    return;
  }
  Json vision{{"layers", *layers}, {"hidden", *hidden}, {"heads", *heads}, {"patch", *patch}, {"merge", *merge}};
  vision["ffn"] = ffn ? *ffn : *ratio * *hidden;
  if (config.Text({"vision_config.hidden_act"}) == "silu") vision["gated"] = true;
  if (pools) vision["projectors"] = 0;
  if (const Json* inner = config.Find({"vision_config.deepstack_visual_indexes"});
      inner != nullptr && inner->is_array() && !inner->empty()) {
    vision["projectors"] = 1 + inner->size();
  }
  if (config.Find({"vision_config.fullatt_block_indexes"}) != nullptr)
    in.notes.push_back("layers of the vision encoder with windows are timed as if every patch saw all others");
  in.notes.push_back("serving.images says which images a prompt has");
  in.model["vision"] = std::move(vision);
}

}  // namespace slipstick
