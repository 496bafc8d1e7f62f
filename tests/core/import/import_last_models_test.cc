// Configs of 2026 import as their presets, member by member and to the parameter count.
#include <gtest/gtest.h>

#include <string>

#include "core/base/json.h"
#include "core/import/import_config.h"
#include "core/scenario/answer.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/core/preset.h"
#include "tests/core/workload/named_model.h"

namespace slipstick {
namespace {

// Members of the publishers' files as engines read them. Another test compares the presets' counts with published ones.
struct Last {
  const char* preset;
  const char* config;
};
void PrintTo(const Last& last, std::ostream* out) { *out << last.preset; }
class LastModels : public testing::TestWithParam<Last> {};
TEST_P(LastModels, AreImportedAsTheirPresets) {
  const Model preset = Named(GetParam().preset);
  const Answer answer = ImportModelAnswer(GetParam().config);
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  ASSERT_TRUE(answer.issues.empty());
  const Json imported = *ParseJson(answer.text);
  EXPECT_EQ(imported["parameters"].get<double>(), CountParameters(preset).total);
  EXPECT_EQ(imported["active_parameters"].get<double>(), CountParameters(preset).active);
  const Json wanted = Write(preset);
  const Json& model = imported["model"];
  for (const char* member : {"indexer", "window_kv_heads", "window_head_dim", "keys_as_values", "sliding_window",
                             "global_every", "kv_heads", "linear", "attention_gate", "context", "compressed", "weights",
                             "kv_shared_layers", "kv_shared_ffn", "layer_embedding", "norms_per_layer"}) {
    if (!model.contains(member)) continue;
    ASSERT_TRUE(wanted.contains(member)) << member;
    EXPECT_EQ(model[member], wanted[member]) << member;
  }
  EXPECT_EQ(model.contains("indexer"), preset.indexer.has_value());
  EXPECT_EQ(model.contains("window_kv_heads"), preset.window.kv_heads > 0);
  EXPECT_EQ(model.contains("kv_shared_layers"), preset.SharesKv());
}
INSTANTIATE_TEST_SUITE_P(
    Table, LastModels,
    testing::Values(
        Last{
            "gemma-4-31b",
            R"({"model_type": "gemma4", "text_config": {"attention_bias": false, "attention_k_eq_v": true, "enable_moe_block": false,
             "global_head_dim": 512, "head_dim": 256, "hidden_size": 5376, "hidden_size_per_layer_input": 0, "intermediate_size":
             21504, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "full_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "full_attention"], "max_position_embeddings": 262144, "model_type": "gemma4_text", "moe_intermediate_size": null,
             "num_attention_heads": 32, "num_experts": null, "num_global_key_value_heads": 4, "num_hidden_layers": 60,
             "num_key_value_heads": 16, "num_kv_shared_layers": 0, "sliding_window": 1024, "tie_word_embeddings": true,
             "top_k_experts": null, "use_double_wide_mlp": false, "vocab_size": 262144}})"},
        Last{
            "gemma-4-26b-a4b",
            R"({"model_type": "gemma4", "text_config": {"attention_bias": false, "attention_k_eq_v": true, "enable_moe_block": true,
             "global_head_dim": 512, "head_dim": 256, "hidden_size": 2816, "hidden_size_per_layer_input": 0, "intermediate_size":
             2112, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "full_attention"], "max_position_embeddings": 262144, "model_type": "gemma4_text", "moe_intermediate_size": 704,
             "num_attention_heads": 16, "num_experts": 128, "num_global_key_value_heads": 2, "num_hidden_layers": 30,
             "num_key_value_heads": 8, "num_kv_shared_layers": 0, "sliding_window": 1024, "tie_word_embeddings": true,
             "top_k_experts": 8, "vocab_size": 262144}})"},
        Last{
            "gemma-4-e2b",
            R"({"model_type": "gemma4", "text_config": {"attention_bias": false, "attention_k_eq_v": false, "enable_moe_block":
             false, "global_head_dim": 512, "head_dim": 256, "hidden_size_per_layer_input": 256, "max_position_embeddings": 131072,
             "model_type": "gemma4_text", "num_attention_heads": 8, "num_experts": null, "num_global_key_value_heads": null,
             "sliding_window": 512, "tie_word_embeddings": true, "vocab_size": 262144, "vocab_size_per_layer_input": 262144,
             "hidden_size": 1536, "intermediate_size": 6144, "layer_types": ["sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "full_attention"], "num_hidden_layers": 35, "num_key_value_heads": 1,
             "num_kv_shared_layers": 20, "use_double_wide_mlp": true}})"},
        Last{
            "gemma-4-e4b",
            R"({"model_type": "gemma4", "text_config": {"attention_bias": false, "attention_k_eq_v": false, "enable_moe_block":
             false, "global_head_dim": 512, "head_dim": 256, "hidden_size_per_layer_input": 256, "max_position_embeddings": 131072,
             "model_type": "gemma4_text", "num_attention_heads": 8, "num_experts": null, "num_global_key_value_heads": null,
             "sliding_window": 512, "tie_word_embeddings": true, "vocab_size": 262144, "vocab_size_per_layer_input": 262144,
             "hidden_size": 2560, "intermediate_size": 10240, "layer_types": ["sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "full_attention", "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
             "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention"],
             "num_hidden_layers": 42, "num_key_value_heads": 2, "num_kv_shared_layers": 18, "use_double_wide_mlp": false}})"},
        Last{"deepseek-v4-flash",
             R"({"model_type": "deepseek_v4", "expert_dtype": "fp4", "vocab_size": 129280, "hidden_size": 4096,
             "moe_intermediate_size": 2048, "num_hidden_layers": 43, "num_attention_heads": 64, "num_key_value_heads": 1,
             "head_dim": 512, "qk_rope_head_dim": 64, "q_lora_rank": 1024, "o_lora_rank": 1024, "o_groups": 8,
             "max_position_embeddings": 1048576, "sliding_window": 128, "num_nextn_predict_layers": 1, "compress_ratios": [0, 0, 4,
             128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128,
             4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 0], "index_n_heads": 64, "index_head_dim": 128, "index_topk": 512,
             "hc_mult": 4, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 6, "topk_method": "noaux_tc",
             "num_hash_layers": 3, "tie_word_embeddings": false})"},
        Last{"deepseek-v4-pro",
             R"({"model_type": "deepseek_v4", "expert_dtype": "fp4", "vocab_size": 129280, "hidden_size": 7168,
             "moe_intermediate_size": 3072, "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 1,
             "head_dim": 512, "qk_rope_head_dim": 64, "q_lora_rank": 1536, "o_lora_rank": 1024, "o_groups": 16,
             "max_position_embeddings": 1048576, "sliding_window": 128, "num_nextn_predict_layers": 1, "compress_ratios": [128,
             128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128,
             4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4, 128, 4,
             128, 4, 0], "index_n_heads": 64, "index_head_dim": 128, "index_topk": 1024, "hc_mult": 4, "n_routed_experts": 384,
             "n_shared_experts": 1, "num_experts_per_tok": 6, "topk_method": "noaux_tc", "num_hash_layers": 3,
             "tie_word_embeddings": false})"},
        Last{"minimax-m3",
             R"({"model_type": "minimax_m3_vl", "text_config": {"hidden_size": 6144, "intermediate_size": 3072,
             "dense_intermediate_size": 12288, "shared_intermediate_size": 3072, "num_hidden_layers": 60, "num_attention_heads":
             64, "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 200064, "max_position_embeddings": 1048576, "rotary_dim":
             64, "use_qk_norm": true, "qk_norm_type": "per_head", "tie_word_embeddings": false, "num_local_experts": 128,
             "num_experts_per_tok": 4, "n_shared_experts": 1, "scoring_func": "sigmoid", "use_routing_bias": true,
             "moe_layer_freq": [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
             1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "sparse_attention_config":
             {"use_sparse_attention": true, "sparse_index_dim": 128, "sparse_num_index_heads": 4, "sparse_topk_blocks": 16,
             "sparse_block_size": 128, "sparse_local_block": 1, "sparse_attention_freq": [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
             1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
             1, 1, 1, 1, 1, 1, 1]}}})"},
        Last{"glm-5.2",
             R"({"model_type": "glm_moe_dsa", "num_hidden_layers": 78, "hidden_size": 6144, "num_attention_heads": 64,
             "num_key_value_heads": 64, "intermediate_size": 12288, "moe_intermediate_size": 2048, "n_routed_experts": 256,
             "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "q_lora_rank": 2048, "kv_lora_rank": 512,
             "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256, "index_n_heads": 32, "index_head_dim": 128,
             "index_topk": 2048, "index_topk_freq": 4, "index_skip_topk_offset": 3, "topk_method": "noaux_tc",
             "num_nextn_predict_layers": 1, "vocab_size": 154880, "tie_word_embeddings": false, "max_position_embeddings": 1048576})"},
        Last{
            "kimi-k3",
            R"({"model_type": "kimi_k3", "text_config": {"model_type": "kimi_linear", "first_k_dense_replace": 1, "hidden_size":
             7168, "intermediate_size": 33792, "kv_lora_rank": 512, "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20,
             24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 93], "head_dim": 128, "num_heads": 96,
             "short_conv_kernel_size": 4, "use_full_rank_gate": true}, "max_position_embeddings": 1048576, "mla_use_nope": true,
             "mla_use_output_gate": true, "moe_intermediate_size": 3072, "moe_layer_freq": 1, "num_attention_heads": 96,
             "num_experts": 896, "num_experts_per_token": 16, "num_hidden_layers": 93, "num_key_value_heads": 96,
             "num_nextn_predict_layers": 0, "num_shared_experts": 2, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
             "qk_rope_head_dim": 64, "routed_expert_hidden_size": 3584, "tie_word_embeddings": false, "topk_method": "noaux_tc",
             "v_head_dim": 128, "vocab_size": 163840}})"},
        Last{"nemotron-3-super-120b-a12b",
             R"({"model_type": "nemotron_h", "hidden_size": 4096, "num_hidden_layers": 88, "num_attention_heads": 32,
             "num_key_value_heads": 2, "head_dim": 128, "intermediate_size": 2688, "vocab_size": 131072, "max_position_embeddings":
             262144, "hybrid_override_pattern":
             "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME", "n_routed_experts": 512,
             "num_experts_per_tok": 22, "moe_intermediate_size": 2688, "moe_latent_size": 1024,
             "moe_shared_expert_intermediate_size": 5376, "n_shared_experts": 1, "ssm_state_size": 128, "conv_kernel": 4,
             "mamba_num_heads": 128, "mamba_head_dim": 64, "n_groups": 8, "num_nextn_predict_layers": 1, "tie_word_embeddings":
             false})"},
        Last{"qwen3.5-35b-a3b",
             R"({"model_type": "qwen3_5_moe", "text_config": {"model_type": "qwen3_5_moe_text", "hidden_size": 2048,
             "num_hidden_layers": 40, "full_attention_interval": 4, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
             "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "head_dim": 256,
             "num_attention_heads": 16, "num_key_value_heads": 2, "attn_output_gate": true, "num_experts": 256,
             "num_experts_per_tok": 8, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
             "mtp_num_hidden_layers": 1, "max_position_embeddings": 262144, "tie_word_embeddings": false, "vocab_size": 248320}})"},
        Last{
            "qwen3.5-27b",
            R"({"model_type": "qwen3_5", "text_config": {"model_type": "qwen3_5_text", "hidden_size": 5120, "intermediate_size":
             17408, "num_hidden_layers": 64, "full_attention_interval": 4, "linear_num_key_heads": 16, "linear_num_value_heads":
             48, "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "head_dim": 256,
             "num_attention_heads": 24, "num_key_value_heads": 4, "attn_output_gate": true, "mtp_num_hidden_layers": 1,
             "max_position_embeddings": 262144, "tie_word_embeddings": false, "vocab_size": 248320}})"}),
    [](const testing::TestParamInfo<Last>& info) {
      std::string name = info.param.preset;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

}  // namespace
}  // namespace slipstick
