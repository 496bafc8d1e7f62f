#include "core/import/config_families.h"

namespace slipstick {

const std::vector<ConfigFamily>& ConfigFamilies() {
  constexpr std::string_view kTied = R"({"tie_word_embeddings": true})";
  constexpr std::string_view kGpt = R"({"gated": false, "norm": "layer", "biases": "all", "position": "learned"})";
  constexpr BiasRule kAttentionBias{"attention_bias", Biases::kAttention}, kQkvBias{"attention_bias", Biases::kQkv};
  constexpr BiasRule kMlpBias{"mlp_bias", Biases::kMlp};
  static const std::vector<ConfigFamily> families{
      {.type = "gpt2", .model = kGpt, .defaults = R"({"tie_word_embeddings": true, "expansion_ratio": 4})"},
      {.type = "gpt_bigcode", .model = kGpt, .defaults = R"({"tie_word_embeddings": true, "expansion_ratio": 4, "multi_query": true})"},
      {.type = "opt", .model = kGpt, .defaults = kTied, .position_offset = 2},
      {.type = "bloom",
       .model = R"({"gated": false, "norm": "layer", "biases": "all", "position": "alibi", "embedding_norm": true})",
       .defaults = R"({"tie_word_embeddings": true, "expansion_ratio": 4})"},
      {.type = "gpt_neox",
       .model = R"({"gated": false, "norm": "layer", "biases": "mlp"})",
       .defaults = R"({"attention_bias": true, "use_parallel_residual": true})",
       .biases = {kAttentionBias}},
      {.type = "gptj",
       .model =
           R"({"gated": false, "norm": "layer", "norms_per_layer": 1, "biases": "mlp", "head_bias": true, "parallel_attention": true})",
       .defaults = R"({"tie_word_embeddings": false, "expansion_ratio": 4})"},
      {.type = "mpt",
       .model = R"({"gated": false, "norm": "layer_without_bias"})",
       .defaults = R"({"tie_word_embeddings": true, "expansion_ratio": 4, "no_bias": true})",
       .biases = {BiasRule{"no_bias", Biases::kAll, false}}},
      {.type = "falcon",
       .model = R"({"gated": false, "norm": "layer"})",
       .defaults = R"({"tie_word_embeddings": true, "expansion_ratio": 4, "parallel_attn": true})",
       .biases = {BiasRule{"bias", Biases::kAll}},
       .parallel_norms = 1},
      {.type = "starcoder2",
       .model = R"({"gated": false, "norm": "layer"})",
       .defaults = R"({"tie_word_embeddings": true, "use_bias": true})",
       .biases = {BiasRule{"use_bias", Biases::kAll}}},
      {.type = "phi",
       .model =
           R"({"gated": false, "norm": "layer", "norms_per_layer": 1, "biases": "all", "head_bias": true, "parallel_attention": true})"},
      {.type = "nemotron", .model = R"({"gated": false, "norm": "layer"})", .biases = {kAttentionBias, kMlpBias}},
      {.type = "stablelm", .model = R"({"norm": "layer"})", .biases = {BiasRule{"use_qkv_bias", Biases::kQkv}}, .parallel_norms = 1},
      {.type = "cohere",
       .model = R"({"norm": "layer_without_bias", "norms_per_layer": 1, "parallel_attention": true})",
       .defaults = kTied,
       .biases = {kAttentionBias},
       .qk_norm = QkNorm::kAllHeads},
      {.type = "cohere2",
       .model = R"({"norm": "layer_without_bias", "norms_per_layer": 1, "parallel_attention": true})",
       .defaults = kTied,
       .biases = {kAttentionBias},
       .global_every = 4},
      {.type = "llama", .biases = {kAttentionBias, kMlpBias}},
      {.type = "mistral"},
      {.type = "ministral"},
      {.type = "mixtral"},
      {.type = "granite", .biases = {kAttentionBias, kMlpBias}},
      {.type = "granitemoe", .biases = {kAttentionBias}},
      {.type = "smollm3", .defaults = kTied, .biases = {kAttentionBias, kMlpBias}},
      {.type = "internlm2", .biases = {BiasRule{"bias", Biases::kAttention}}},
      {.type = "internlm3", .biases = {BiasRule{"qkv_bias", Biases::kQkv}, BiasRule{"bias", Biases::kAll}}},
      {.type = "seed_oss", .biases = {kQkvBias}},
      {.type = "olmo2", .model = R"({"qk_norm": "all_heads"})", .biases = {kAttentionBias}},
      {.type = "olmo3", .model = R"({"qk_norm": "all_heads"})", .biases = {kAttentionBias}, .global_every = 4},
      {.type = "olmoe", .model = R"({"qk_norm": "all_heads"})", .biases = {kAttentionBias}},
      {.type = "qwen2", .model = R"({"biases": "qkv"})", .window_by_flag = true},
      {.type = "qwen2_moe", .model = R"({"biases": "qkv", "moe": {"shared_gate": true}})", .window_by_flag = true},
      {.type = "qwen3", .model = R"({"qk_norm": "head"})", .biases = {kAttentionBias}, .window_by_flag = true},
      {.type = "qwen3_moe", .model = R"({"qk_norm": "head"})", .biases = {kAttentionBias}, .window_by_flag = true},
      {.type = "gemma", .defaults = R"({"tie_word_embeddings": true, "head_dim": 256})", .biases = {kAttentionBias}},
      {.type = "gemma2",
       .model = R"({"norms_per_layer": 4})",
       .defaults = R"({"tie_word_embeddings": true, "head_dim": 256})",
       .biases = {kAttentionBias},
       .global_every = 2},
      {.type = "gemma3_text",
       .model = R"({"norms_per_layer": 4, "qk_norm": "head"})",
       .defaults = R"({"tie_word_embeddings": true, "head_dim": 256, "num_attention_heads": 8, "num_key_value_heads": 4,
                       "vocab_size": 262208, "max_position_embeddings": 131072, "sliding_window": 4096})",
       .biases = {kAttentionBias},
       .global_every = 6},
      {.type = "phi3"},
      {.type = "phimoe", .model = R"({"norm": "layer"})", .biases = {kAttentionBias}},
      {.type = "deepseek", .biases = {kAttentionBias}},
      {.type = "deepseek_v2"},
      {.type = "deepseek_v3"},
      {.type = "deepseek_v32"},
      {.type = "glm_moe_dsa"},
      {.type = "kimi_k2"},
      {.type = "glm", .biases = {kQkvBias}},
      {.type = "glm4", .model = R"({"norms_per_layer": 4})", .biases = {kQkvBias}},
      {.type = "glm4_moe", .model = R"({"moe": {"router_bias": true}})", .biases = {kQkvBias}},
      {.type = "gpt_oss",
       .model = R"({"biases": "mlp", "attention_sinks": true, "moe": {"router_bias": true}})",
       .defaults = R"({"attention_bias": true, "head_dim": 64})",
       .biases = {kAttentionBias},
       .global_every = 2},
      {.type = "llama4_text",
       .model = R"({"moe": {"shared_experts": 1}})",
       .defaults = R"({"head_dim": 128, "attention_chunk_size": 8192, "interleave_moe_layer_step": 1})",
       .biases = {kAttentionBias},
       .global_every = 4},
      {.type = "grok-1", .model = R"({"norms_per_layer": 4})", .defaults = kTied},
      {.type = "dbrx", .model = R"({"norm": "layer_without_bias"})"},
      {.type = "minimax_m2", .defaults = R"({"use_qk_norm": true})", .qk_norm = QkNorm::kAllHeads},
      {.type = "jamba", .model = R"({"linear": {"kind": "mamba"}})", .defaults = R"({"attn_layer_period": 8, "attn_layer_offset": 4})"},
      {.type = "bamba", .model = R"({"linear": {"kind": "mamba2"}})", .biases = {kAttentionBias, kMlpBias}},
      {.type = "nemotron_h",
       .model = R"({"gated": false, "linear": {"kind": "mamba2"}, "moe": {"router_bias": true}})",
       .defaults = R"({"n_groups": 8})",
       .biases = {kAttentionBias, kMlpBias}},
      {.type = "qwen3_next",
       .model = R"({"qk_norm": "head", "attention_gate": true, "linear": {"kind": "gated_delta"}, "moe": {"shared_gate": true}})",
       .biases = {kAttentionBias}},
      {.type = "kimi_linear", .model = R"({"linear": {"kind": "kimi_delta"}, "moe": {"router_bias": true}})"},
      {.type = "minimax", .model = R"({"linear": {"kind": "lightning"}})"},
      {.type = "minimax_text_01", .model = R"({"linear": {"kind": "lightning"}})"},
      {.type = "minimax_m1", .model = R"({"linear": {"kind": "lightning"}})"}};
  return families;
}

const std::vector<ForeignFamily>& ForeignFamilies() {
  constexpr std::string_view kRecurrent = "has no attention layers; only hybrids with some are supported";
  constexpr std::string_view kOther = "has a kind of recurrent layer that is not supported";
  constexpr std::string_view kEncoder = "has an encoder; only decoders are supported";
  static const std::vector<ForeignFamily> foreign{
      {"mamba", kRecurrent}, {"mamba2", kRecurrent},      {"falcon_mamba", kRecurrent}, {"rwkv", kRecurrent}, {"zamba2", kOther},
      {"falcon_h1", kOther}, {"recurrent_gemma", kOther}, {"granitemoehybrid", kOther}, {"t5", kEncoder},     {"bert", kEncoder},
      {"roberta", kEncoder}, {"bart", kEncoder},          {"whisper", kEncoder}};
  return foreign;
}

}  // namespace slipstick
