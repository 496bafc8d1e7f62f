// Importing config.json as a model: parameter counts equal the published ones, so a wrong shape, bias, norm or expert
// shows. The configs hold the members of the publishers' files that affect the count.
#include <gtest/gtest.h>

#include <string>

#include "core/base/json.h"
#include "core/import/import_config.h"
#include "core/scenario/answer.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/core/import/imported.h"

namespace slipstick {
namespace {

struct Row {
  const char* name;
  double parameters;
  const char* config;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class ImportTest : public testing::TestWithParam<Row> {};

TEST_P(ImportTest, CountsThePublishedParameters) {
  const Answer answer = ImportModelAnswer(GetParam().config);
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  const Result<Json> json = ParseJson(answer.text);
  ASSERT_TRUE(json && json->contains("parameters"));
  EXPECT_EQ((*json)["parameters"].get<double>(), GetParam().parameters);
  // A scenario accepts the model.
  Json request = DefaultRequest(1);
  request["model"] = (*json)["model"];
  const Result<Scenario> scenario = ParseScenario(request);
  for (const Issue& issue : scenario.issues)
    EXPECT_NE(issue.path.substr(0, 6), "model.") << issue.path << ": " << issue.message;
}

INSTANTIATE_TEST_SUITE_P(
    Checkpoints, ImportTest,
    testing::Values(
        Row{"jamba-v0.1", 51570323328,
            R"({"model_type": "jamba", "attn_layer_offset": 4, "attn_layer_period": 8, "expert_layer_offset": 1,
             "expert_layer_period": 2, "hidden_size": 4096, "intermediate_size": 14336, "mamba_d_conv": 4, "mamba_d_state":
             16, "mamba_dt_rank": 256, "mamba_expand": 2, "max_position_embeddings": 262144, "num_attention_heads": 32,
             "num_experts": 16, "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8,
             "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 65536})"},
        Row{"qwen3-next-80b-a3b without prediction module", 79674391296,
            R"({"model_type": "qwen3_next", "decoder_sparse_step": 1, "full_attention_interval": 4, "head_dim": 256,
             "hidden_size": 2048, "intermediate_size": 5120, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128,
             "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_value_head_dim": 128,
             "max_position_embeddings": 262144, "mlp_only_layers": [], "moe_intermediate_size": 512, "num_attention_heads":
             16, "num_experts": 512, "num_experts_per_tok": 10, "num_hidden_layers": 48, "num_key_value_heads": 2,
             "shared_expert_intermediate_size": 512, "tie_word_embeddings": false, "vocab_size": 151936})"},
        Row{"minimax-text-01", 456089655296,
            R"({"model_type": "minimax_text_01", "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
             0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1,
             0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1], "head_dim": 128, "hidden_size": 6144,
             "intermediate_size": 9216, "max_position_embeddings": 10240000, "num_attention_heads": 64,
             "num_experts_per_tok": 2, "num_hidden_layers": 80, "num_key_value_heads": 8, "num_local_experts": 32,
             "shared_intermediate_size": 0, "vocab_size": 200064, "tie_word_embeddings": false})"},
        Row{"gpt2", 124439808,
            R"({"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024, "n_ctx": 1024,
             "vocab_size": 50257, "activation_function": "gelu_new"})"},
        Row{"starcoder", 15517456384,
            R"({"model_type": "gpt_bigcode", "n_layer": 40, "n_embd": 6144, "n_head": 48, "n_inner": 24576,
             "n_positions": 8192, "vocab_size": 49152, "multi_query": true})"},
        Row{"opt-6.7b", 6658473984,
            R"({"model_type": "opt", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
             "ffn_dim": 16384, "max_position_embeddings": 2048, "vocab_size": 50272, "do_layer_norm_before": true,
             "word_embed_proj_dim": 4096})"},
        Row{"bloom-7b1", 7069016064,
            R"({"model_type": "bloom", "n_layer": 30, "hidden_size": 4096, "n_head": 32, "n_inner": null,
             "vocab_size": 250880, "seq_length": 2048})"},
        Row{"gpt-neox-20b", 20554567680, R"({"model_type": "gpt_neox", "num_hidden_layers": 44, "hidden_size": 6144,
             "num_attention_heads": 64, "intermediate_size": 24576, "vocab_size": 50432, "tie_word_embeddings": false,
             "max_position_embeddings": 2048})"},
        Row{"gpt-j", 6050882784, R"({"model_type": "gptj", "n_layer": 28, "n_embd": 4096, "n_head": 16, "n_inner": null,
             "vocab_size": 50400, "n_positions": 2048, "rotary_dim": 64, "tie_word_embeddings": false})"},
        Row{"falcon-7b", 6921720704,
            R"({"model_type": "falcon", "num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71,
             "num_kv_heads": 71, "multi_query": true, "new_decoder_architecture": false, "parallel_attn": true, "bias": false,
             "alibi": false, "vocab_size": 65024})"},
        Row{"falcon-40b", 41303293952,
            R"({"model_type": "falcon", "num_hidden_layers": 60, "hidden_size": 8192, "num_attention_heads": 128,
             "num_kv_heads": 8, "multi_query": true, "new_decoder_architecture": true, "parallel_attn": true, "bias": false,
             "alibi": false, "vocab_size": 65024})"},
        Row{"mpt-7b", 6649286656,
            R"({"model_type": "mpt", "n_layers": 32, "d_model": 4096, "n_heads": 32, "expansion_ratio": 4,
             "max_seq_len": 2048, "no_bias": true, "attn_config": {"alibi": true, "attn_type": "multihead_attention"},
             "vocab_size": 50432})"},
        Row{"llama-2-70b", 68976648192,
            R"({"_name_or_path": "meta-llama/Llama-2-70b-hf", "model_type": "llama", "num_hidden_layers": 80,
             "hidden_size": 8192, "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672, "vocab_size": 32000,
             "tie_word_embeddings": false, "max_position_embeddings": 4096, "rms_norm_eps": 1e-05, "rope_scaling": null})"},
        Row{"llama-3.2-1b", 1235814400,
            R"({"model_type": "llama", "num_hidden_layers": 16, "hidden_size": 2048, "num_attention_heads": 32,
             "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 8192, "vocab_size": 128256, "tie_word_embeddings": true,
             "attention_bias": false, "mlp_bias": false, "max_position_embeddings": 131072})"},
        Row{"mistral-7b", 7241732096,
            R"({"model_type": "mistral", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
             "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000, "sliding_window": 4096,
             "tie_word_embeddings": false, "max_position_embeddings": 32768})"},
        Row{"mixtral-8x7b", 46702792704, R"({"model_type": "mixtral", "num_hidden_layers": 32, "hidden_size": 4096,
             "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000, "num_local_experts": 8,
             "num_experts_per_tok": 2, "sliding_window": null, "tie_word_embeddings": false, "max_position_embeddings": 32768})"},
        Row{"qwen2.5-7b", 7615616512,
            R"({"model_type": "qwen2", "num_hidden_layers": 28, "hidden_size": 3584, "num_attention_heads": 28,
             "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "tie_word_embeddings": false,
             "use_sliding_window": false, "sliding_window": 131072, "max_window_layers": 28, "max_position_embeddings": 131072})"},
        Row{"qwen1.5-moe", 14315784192, R"({"model_type": "qwen2_moe", "num_hidden_layers": 24, "hidden_size": 2048,
             "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632, "moe_intermediate_size": 1408,
             "shared_expert_intermediate_size": 5632, "num_experts": 60, "num_experts_per_tok": 4, "decoder_sparse_step": 1,
             "vocab_size": 151936, "tie_word_embeddings": false, "max_position_embeddings": 8192})"},
        Row{"qwen3-8b", 8190735360,
            R"({"model_type": "qwen3", "num_hidden_layers": 36, "hidden_size": 4096, "num_attention_heads": 32,
             "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288, "vocab_size": 151936, "tie_word_embeddings": false,
             "attention_bias": false, "sliding_window": null, "max_position_embeddings": 40960})"},
        Row{"qwen3-30b-a3b", 30532122624, R"({"model_type": "qwen3_moe", "num_hidden_layers": 48, "hidden_size": 2048,
             "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144,
             "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8, "mlp_only_layers": [], "decoder_sparse_step": 1,
             "vocab_size": 151936, "tie_word_embeddings": false, "max_position_embeddings": 40960})"},
        Row{"gemma-7b", 8537680896,
            R"({"model_type": "gemma", "num_hidden_layers": 28, "hidden_size": 3072, "num_attention_heads": 16,
             "num_key_value_heads": 16, "head_dim": 256, "intermediate_size": 24576, "vocab_size": 256000,
             "max_position_embeddings": 8192})"},
        Row{"gemma-2-9b", 9241705984,
            R"({"model_type": "gemma2", "num_hidden_layers": 42, "hidden_size": 3584, "num_attention_heads": 16,
             "num_key_value_heads": 8, "head_dim": 256, "intermediate_size": 14336, "vocab_size": 256000, "sliding_window": 4096,
             "max_position_embeddings": 8192})"},
        Row{"gemma-3-4b", 3880263168,
            R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "num_hidden_layers": 34,
             "hidden_size": 2560, "intermediate_size": 10240, "sliding_window": 1024}, "vision_config": {"num_hidden_layers": 27}})"},
        Row{"phi-2", 2779683840,
            R"({"model_type": "phi", "num_hidden_layers": 32, "hidden_size": 2560, "num_attention_heads": 32,
             "num_key_value_heads": 32, "intermediate_size": 10240, "vocab_size": 51200, "qk_layernorm": false,
             "tie_word_embeddings": false, "max_position_embeddings": 2048})"},
        Row{"phi-3-mini", 3821079552,
            R"({"model_type": "phi3", "num_hidden_layers": 32, "hidden_size": 3072, "num_attention_heads": 32,
             "num_key_value_heads": 32, "intermediate_size": 8192, "vocab_size": 32064, "sliding_window": 262144,
             "attention_bias": false, "tie_word_embeddings": false, "max_position_embeddings": 131072})"},
        Row{"phi-3.5-moe", 41873153344, R"({"model_type": "phimoe", "num_hidden_layers": 32, "hidden_size": 4096,
             "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 6400, "vocab_size": 32064,
             "num_local_experts": 16, "num_experts_per_tok": 2, "attention_bias": true, "lm_head_bias": true,
             "tie_word_embeddings": false, "sliding_window": 131072, "max_position_embeddings": 131072})"},
        Row{"deepseek-v2-lite", 15706484224,
            R"({"model_type": "deepseek_v2", "num_hidden_layers": 27, "hidden_size": 2048,
             "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944, "moe_intermediate_size": 1408,
             "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1, "moe_layer_freq": 1,
             "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
             "topk_method": "greedy", "vocab_size": 102400, "tie_word_embeddings": false, "max_position_embeddings": 163840})"},
        Row{"deepseek-v3", 671026419200, R"({"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168,
             "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048,
             "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1,
             "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
             "topk_method": "noaux_tc", "num_nextn_predict_layers": 1, "vocab_size": 129280, "tie_word_embeddings": false,
             "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}, "max_position_embeddings": 163840})"},
        Row{"deepseek-v3.2", 671877944064,
            R"({"model_type": "deepseek_v32", "num_hidden_layers": 61, "hidden_size": 7168,
             "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432, "moe_intermediate_size": 2048,
             "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1,
             "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
             "index_n_heads": 64, "index_head_dim": 128, "index_topk": 2048, "topk_method": "noaux_tc", "num_nextn_predict_layers": 1,
             "vocab_size": 129280, "tie_word_embeddings": false, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
             "max_position_embeddings": 163840})"},
        Row{"kimi-k2", 1026408232448,
            R"({"model_type": "kimi_k2", "num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 64,
             "num_key_value_heads": 64, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 384,
             "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1, "q_lora_rank": 1536, "kv_lora_rank": 512,
             "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "topk_method": "noaux_tc",
             "num_nextn_predict_layers": 0, "vocab_size": 163840, "tie_word_embeddings": false, "max_position_embeddings": 131072})"},
        Row{"gpt-oss-120b", 116829156672, R"({"model_type": "gpt_oss", "num_hidden_layers": 36, "hidden_size": 2880,
             "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 2880, "num_local_experts": 128,
             "num_experts_per_tok": 4, "attention_bias": true, "sliding_window": 128, "vocab_size": 201088, "tie_word_embeddings": false,
             "quantization_config": {"quant_method": "mxfp4"}, "max_position_embeddings": 131072})"},
        Row{"llama-4-maverick", 400711848960, R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
             "num_hidden_layers": 48, "hidden_size": 5120, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
             "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_local_experts": 128, "num_experts_per_tok": 1,
             "interleave_moe_layer_step": 2, "attention_chunk_size": 8192, "vocab_size": 202048, "max_position_embeddings": 1048576},
             "tie_word_embeddings": false})"},
        Row{"dbrx", 131596523520,
            R"({"model_type": "dbrx", "n_layers": 40, "d_model": 6144, "n_heads": 48, "max_seq_len": 32768,
             "attn_config": {"kv_n_heads": 8, "clip_qkv": 8}, "vocab_size": 100352, "tie_word_embeddings": false,
             "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})"},
        Row{"starcoder2-15b", 15957889024, R"({"model_type": "starcoder2", "num_hidden_layers": 40, "hidden_size": 6144,
             "num_attention_heads": 48, "num_key_value_heads": 4, "intermediate_size": 24576, "use_bias": true, "sliding_window": 4096,
             "vocab_size": 49152, "tie_word_embeddings": false, "max_position_embeddings": 16384})"},
        Row{"stablelm-3b", 2795443200, R"({"model_type": "stablelm", "num_hidden_layers": 32, "hidden_size": 2560,
             "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 6912, "use_qkv_bias": false,
             "use_parallel_residual": false, "vocab_size": 50304, "tie_word_embeddings": false, "max_position_embeddings": 4096})"},
        Row{"command-r-plus", 103810674688, R"({"model_type": "cohere", "num_hidden_layers": 64, "hidden_size": 12288,
             "num_attention_heads": 96, "num_key_value_heads": 8, "intermediate_size": 33792, "use_qk_norm": true,
             "vocab_size": 256000, "max_position_embeddings": 131072})"},
        Row{"internlm2-7b", 7737708544, R"({"model_type": "internlm2", "num_hidden_layers": 32, "hidden_size": 4096,
             "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "bias": false, "vocab_size": 92544,
             "tie_word_embeddings": false, "max_position_embeddings": 32768})"},
        Row{"olmo-2-32b", 32234279936,
            R"({"model_type": "olmo2", "num_hidden_layers": 64, "hidden_size": 5120, "num_attention_heads": 40,
             "num_key_value_heads": 8, "intermediate_size": 27648, "attention_bias": false, "vocab_size": 100352,
             "tie_word_embeddings": false, "max_position_embeddings": 4096})"},
        // 110,468,824,832 in total, less the multi-token-prediction layer with its copies of embedding and head.
        Row{"glm-4.5-air", 106852251264, R"({"model_type": "glm4_moe", "num_hidden_layers": 46, "hidden_size": 4096,
             "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 10944,
             "moe_intermediate_size": 1408, "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8,
             "first_k_dense_replace": 1, "attention_bias": true, "use_qk_norm": false, "num_nextn_predict_layers": 1,
             "vocab_size": 151552, "tie_word_embeddings": false, "max_position_embeddings": 131072})"}),
    [](const testing::TestParamInfo<Row>& info) {
      std::string name = info.param.name;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
      return name;
    });

}  // namespace
}  // namespace slipstick
