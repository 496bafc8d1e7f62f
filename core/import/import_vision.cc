#include <string>

#include "core/import/config_reader.h"

namespace slipstick {

void ReadVision(const Import& in) {
  Config& config = in.config;
  if (config.Find({"vision_config"}) == nullptr) return;
  // Qwen2-VL's hidden_size is the language model's, and embed_dim its own.
  const auto layers = config.Whole({"vision_config.depth", "vision_config.num_hidden_layers"}),
             hidden = config.Whole({"vision_config.embed_dim", "vision_config.hidden_size"}),
             heads = config.Whole({"vision_config.num_heads", "vision_config.num_attention_heads"}),
             ffn = config.Whole({"vision_config.intermediate_size"}), ratio = config.Whole({"vision_config.mlp_ratio"}),
             patch = config.Whole({"vision_config.patch_size"}),
             merge = config.Whole({"vision_config.spatial_merge_size", "spatial_merge_size"});
  if (!layers || !hidden || !heads || !(ffn || ratio) || !patch || !merge) {
    in.notes.push_back(
        "the vision encoder's memory and time are not counted; an image is as many prompt tokens as it becomes");
    return;
  }
  Json vision{{"layers", *layers}, {"hidden", *hidden}, {"heads", *heads}, {"patch", *patch}, {"merge", *merge}};
  vision["ffn"] = ffn ? *ffn : *ratio * *hidden;
  if (config.Text({"vision_config.hidden_act"}) == "silu") vision["gated"] = true;
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
