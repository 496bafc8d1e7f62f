// Vision-language checkpoints contain the language model of a text checkpoint under another type. The configs hold the
// members of the publishers' files that affect the count.
#include <gtest/gtest.h>

#include <string>

#include "tests/core/import/imported.h"

namespace slipstick {
namespace {

constexpr const char* kVision = R"("vision_config": {"depth": 27, "hidden_size": 1152, "patch_size": 16})";

// Qwen3-VL-8B-Instruct has the text model of Qwen3-8B.
TEST(ImportVision, Qwen3) {
  const Json model = Imported(std::string(R"({"model_type": "qwen3_vl", )") + kVision + R"(, "text_config": {
      "model_type": "qwen3_vl_text", "num_hidden_layers": 36, "hidden_size": 4096, "num_attention_heads": 32,
      "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936,
      "attention_bias": false, "max_position_embeddings": 262144}, "tie_word_embeddings": false})");
  EXPECT_EQ(model["parameters"], 8190735360);
  EXPECT_NE(model["notes"].dump().find("the vision encoder's memory and time are not counted"), std::string::npos);
}

// The vision encoder is imported if its config gives its whole shape.
TEST(ImportVision, Encoder) {
  const std::string text = R"("text_config": {
      "model_type": "qwen3_vl_text", "num_hidden_layers": 36, "hidden_size": 4096, "num_attention_heads": 32,
      "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936})";
  const Json model = Imported(R"({"model_type": "qwen3_vl", )" + text + R"(, "vision_config": {"depth": 27,
      "hidden_size": 1152, "hidden_act": "gelu_pytorch_tanh", "intermediate_size": 4304, "num_heads": 16,
      "patch_size": 16, "spatial_merge_size": 2, "deepstack_visual_indexes": [8, 16, 24]}})");
  const Json vision = model["model"]["vision"];
  const Json expected = *ParseJson(R"({"layers": 27, "hidden": 1152, "heads": 16, "ffn": 4304, "gated": false,
                                       "patch": 16, "merge": 2, "projectors": 4})");
  EXPECT_EQ(vision, expected);
  EXPECT_EQ(model["notes"].dump().find("are not counted"), std::string::npos);
}

// The vision encoder of a config with this text model.
Json EncoderOf(const std::string& members) {
  return Imported("{" + members +
                  R"(, "text_config": {"model_type": "qwen3_vl_text", "num_hidden_layers": 36, "hidden_size": 4096,
      "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288,
      "vocab_size": 151936}})")["model"]["vision"];
}

// GLM-4.5V: Glm4VisionMlp takes out_hidden_size for its width, the merger intermediate_size
// (huggingface/transformers, models/glm4v).
TEST(ImportVision, GlmEncoderIsAsWideAsItsModel) {
  const Json vision = EncoderOf(R"("model_type": "glm4v_moe", "vision_config": {"model_type": "glm4v_moe", "depth": 24,
      "hidden_act": "silu", "hidden_size": 1536, "intermediate_size": 10944, "num_heads": 12, "out_hidden_size": 4096,
      "patch_size": 14, "spatial_merge_size": 2})");
  EXPECT_EQ(vision["ffn"], 4096);
  EXPECT_EQ(vision["gated"], true);
}

// Gemma 3: 896 / 14 = 64 patches per side become 16 tokens per side, 256 per image (Gemma 3 technical report).
TEST(ImportVision, GemmaPoolsPatches) {
  const Json vision = EncoderOf(R"("model_type": "gemma3", "mm_tokens_per_image": 256, "vision_config": {
      "hidden_size": 1152, "image_size": 896, "intermediate_size": 4304, "model_type": "siglip_vision_model",
      "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14})");
  EXPECT_EQ(vision["merge"], 4);
  EXPECT_EQ(vision["projectors"], 0);
}

// Diffusion language models: LLaDA-8B has 8.02 billion parameters; LLaDA2.0-mini has the shape of Ling-mini-2.0, 16
// billion.
TEST(ImportVision, DiffusionLanguageModels) {
  const Json dense = Imported(R"({"model_type": "llada", "d_model": 4096, "n_heads": 32, "n_kv_heads": 32,
      "n_layers": 32, "mlp_hidden_size": 12288, "vocab_size": 126464, "weight_tying": false,
      "max_sequence_length": 4096})");
  EXPECT_NEAR(dense["parameters"].get<double>(), 8.02e9, 0.005e9);
  EXPECT_NE(dense["notes"].dump().find("serving.block_diffusion"), std::string::npos);
  const Json experts = Imported(R"({"model_type": "llada2_moe", "num_hidden_layers": 20, "hidden_size": 2048,
      "num_attention_heads": 16, "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 5120,
      "moe_intermediate_size": 512, "num_experts": 256, "num_experts_per_tok": 8, "num_shared_experts": 1,
      "first_k_dense_replace": 1, "use_qk_norm": true, "moe_router_enable_expert_bias": true, "vocab_size": 157184,
      "tie_word_embeddings": false})");
  EXPECT_NEAR(experts["parameters"].get<double>(), 16e9, 0.5e9);
}

// Qwen3-VL-30B-A3B-Instruct has the text model of Qwen3-30B-A3B.
TEST(ImportVision, Qwen3Experts) {
  const Json model = Imported(std::string(R"({"model_type": "qwen3_vl_moe", )") + kVision + R"(, "text_config": {
      "model_type": "qwen3_vl_moe_text", "num_hidden_layers": 48, "hidden_size": 2048, "num_attention_heads": 32,
      "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144, "moe_intermediate_size": 768,
      "num_experts": 128, "num_experts_per_tok": 8, "mlp_only_layers": [], "decoder_sparse_step": 1,
      "vocab_size": 151936, "max_position_embeddings": 262144}, "tie_word_embeddings": false})");
  EXPECT_EQ(model["parameters"], 30532122624);
}

// Qwen2.5-VL-7B-Instruct has the text model of Qwen2.5-7B; older files state it beside vision_config, newer ones in
// text_config.
TEST(ImportVision, Qwen25) {
  const std::string members = R"("num_hidden_layers": 28, "hidden_size": 3584, "num_attention_heads": 28,
      "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "tie_word_embeddings": false,
      "use_sliding_window": false, "sliding_window": 32768, "max_window_layers": 28,
      "max_position_embeddings": 128000)";
  EXPECT_EQ(Imported(R"({"model_type": "qwen2_5_vl", )" + members + ", " + kVision + "}")["parameters"], 7615616512);
  EXPECT_EQ(Imported(R"({"model_type": "qwen2_5_vl", "text_config": {"model_type": "qwen2_5_vl_text", )" + members +
                     "}, " + kVision + "}")["parameters"],
            7615616512);
}

// GLM-4.5V has the text model of GLM-4.5-Air without its prediction module.
TEST(ImportVision, Glm) {
  const Json model = Imported(std::string(R"({"model_type": "glm4v_moe", )") + kVision + R"(, "text_config": {
      "model_type": "glm4v_moe_text", "num_hidden_layers": 46, "hidden_size": 4096, "num_attention_heads": 96,
      "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 10944, "moe_intermediate_size": 1408,
      "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1,
      "attention_bias": true, "use_qk_norm": false, "vocab_size": 151552, "tie_word_embeddings": false,
      "max_position_embeddings": 65536}})");
  EXPECT_EQ(model["parameters"], 106852251264);
}

}  // namespace
}  // namespace slipstick
