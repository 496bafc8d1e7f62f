// Families whose layers are those of other families under other names: counts by hand from the members of the files,
// and presets.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/import/imported.h"
#include "tests/core/workload/named_model.h"

namespace slipstick {
namespace {

double Attention(double hidden, double queries, double keys) { return 2 * hidden * (queries + keys); }
double Mlp(double hidden, double ffn) { return 3 * hidden * ffn; }

// Baidu: 21 billion, 3 of them active, not counting the embedding.
TEST(ImportMoreFamilies, Ernie45) {
  const Json json = Imported(R"({"model_type": "ernie4_5_moe", "hidden_size": 2560, "intermediate_size": 12288,
      "max_position_embeddings": 131072, "num_attention_heads": 20, "num_key_value_heads": 4, "head_dim": 128,
      "num_hidden_layers": 28, "vocab_size": 103424, "use_bias": false, "moe_num_experts": 64, "moe_num_shared_experts":
      2, "moe_layer_start_index": 1, "moe_layer_end_index": 27, "moe_intermediate_size": 1536, "moe_k": 6,
      "moe_layer_interval": 1, "num_nextn_predict_layers": 1})");
  const double each = Attention(2560, 2560, 512) + 2 * 2560;
  const double router = 2560 * 64 + 64;
  const double outside =
      103424 * 2560 + 2560 + 28 * each + Mlp(2560, 12288);  // tied embedding; the first layer is dense
  EXPECT_EQ(json["parameters"], outside + 27 * (router + (64 + 2) * Mlp(2560, 1536)));
  EXPECT_EQ(json["active_parameters"], outside + 27 * (router + (6 + 2) * Mlp(2560, 1536)));
  EXPECT_NEAR(json["parameters"].get<double>(), 21.8e9, 0.1e9);
  // Experts that end before the last layer are not supported.
  const Answer early = ImportModelAnswer(R"({"model_type": "ernie4_5_moe", "hidden_size": 64, "intermediate_size": 64,
      "num_attention_heads": 4, "num_hidden_layers": 8, "vocab_size": 9, "moe_num_experts": 4, "moe_k": 2,
      "moe_layer_end_index": 5})");
  ASSERT_EQ(early.issues.size(), 1U);
  EXPECT_EQ(early.issues[0].path, "moe_layer_end_index");
}

// Tencent: 80 billion, 13 of them active. The file lists one number per layer.
TEST(ImportMoreFamilies, HunyuanListsANumberPerLayer) {
  const auto config = [](const std::string& widths) {
    return R"({"model_type": "hunyuan_v1_moe", "attention_head_dim": 128, "hidden_size": 4096, "intermediate_size": 3072,
        "num_experts": 64, "moe_topk": [8, 8], "num_shared_expert": [1, 1], "num_attention_heads": 32,
        "num_key_value_heads": 8, "num_hidden_layers": 32, "use_qk_norm": true, "vocab_size": 128167,
        "tie_word_embeddings": true, "max_position_embeddings": 32768, "moe_intermediate_size": )" +
           widths + "}";
  };
  const double each = Attention(4096, 4096, 1024) + 2 * 4096 + 2 * 128;
  const double outside = 128167.0 * 4096 + 4096;
  const Json json = Imported(config("[3072, 3072]"));
  EXPECT_EQ(json["parameters"], outside + 32 * (each + 4096 * 64 + 65 * Mlp(4096, 3072)));
  EXPECT_EQ(json["active_parameters"], outside + 32 * (each + 4096 * 64 + 9 * Mlp(4096, 3072)));
  const Answer uneven = ImportModelAnswer(config("[3072, 1536]"));
  ASSERT_EQ(uneven.issues.size(), 1U);
  EXPECT_EQ(uneven.issues[0].path, "moe_intermediate_size");
  EXPECT_NE(uneven.issues[0].message.find("same in all layers"), std::string::npos);
}

// rednote-hilab: 142 billion, 14 of them active.
TEST(ImportMoreFamilies, Dots) {
  const Json json = Imported(R"({"model_type": "dots1", "first_k_dense_replace": 1, "hidden_size": 4096,
      "intermediate_size": 10944, "moe_intermediate_size": 1408, "moe_layer_freq": 1, "n_routed_experts": 128,
      "n_shared_experts": 2, "num_experts_per_tok": 6, "num_attention_heads": 32, "num_key_value_heads": 32,
      "num_hidden_layers": 62, "vocab_size": 152064, "n_group": 1, "topk_group": 1, "sliding_window": null})");
  const double each = Attention(4096, 4096, 4096) + 2 * 4096 + 2 * 128;
  const double outside = 2 * 152064.0 * 4096 + 4096 + 62 * each + Mlp(4096, 10944);
  EXPECT_EQ(json["parameters"], outside + 61 * (4096 * 128 + 128 + 130 * Mlp(4096, 1408)));
  EXPECT_EQ(json["active_parameters"], outside + 61 * (4096 * 128 + 128 + 8 * Mlp(4096, 1408)));
  EXPECT_NEAR(json["parameters"].get<double>(), 142.77e9, 0.1e9);
}

// inclusionAI: 16 billion, 1.4 of them active.
TEST(ImportMoreFamilies, LingMini) {
  const Json json = Imported(R"({"model_type": "bailing_moe", "hidden_size": 2048, "intermediate_size": 5120,
      "moe_intermediate_size": 512, "num_experts": 256, "num_shared_experts": 1, "num_experts_per_tok": 8,
      "first_k_dense_replace": 1, "num_hidden_layers": 20, "num_attention_heads": 16, "num_key_value_heads": 4,
      "head_dim": 128, "use_qk_norm": true, "vocab_size": 157184, "moe_router_enable_expert_bias": true,
      "use_qkv_bias": false, "use_bias": false})");
  const double each = Attention(2048, 2048, 512) + 2 * 2048 + 2 * 128;
  EXPECT_EQ(json["parameters"],
            2 * 157184.0 * 2048 + 2048 + 20 * each + Mlp(2048, 5120) + 19 * (2048 * 256 + 256 + 257 * Mlp(2048, 512)));
}

// Dense models: the Swiss AI Initiative's 8.05 billion, LG's 32.0, Z.ai's 9.40 and IBM's 3.40.
TEST(ImportMoreFamilies, Dense) {
  const Json apertus = Imported(R"({"model_type": "apertus", "hidden_size": 4096, "intermediate_size": 21504,
      "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32, "qk_norm": true,
      "vocab_size": 131072, "tie_word_embeddings": false})");
  EXPECT_EQ(apertus["parameters"], 2 * 131072.0 * 4096 + 4096 +
                                       32 * (Attention(4096, 4096, 1024) + 2 * 4096.0 * 21504 + 2 * 4096 +
                                             2 * 128));  // without a gate projection
  const Json exaone = Imported(R"({"model_type": "exaone4", "head_dim": 128, "hidden_size": 5120,
      "intermediate_size": 27392, "num_attention_heads": 40, "num_key_value_heads": 8, "num_hidden_layers": 64,
      "sliding_window": 4096, "sliding_window_pattern": "LLLG", "vocab_size": 102400, "tie_word_embeddings": false})");
  EXPECT_EQ(exaone["parameters"],
            2 * 102400.0 * 5120 + 5120 + 64 * (Attention(5120, 5120, 1024) + Mlp(5120, 27392) + 2 * 5120 + 2 * 128));
  EXPECT_EQ(exaone["model"]["global_every"], 4);
  const Json glm = Imported(R"({"model_type": "chatglm", "add_bias_linear": false, "add_qkv_bias": true,
      "ffn_hidden_size": 13696, "hidden_size": 4096, "kv_channels": 128, "multi_query_attention": true,
      "multi_query_group_num": 2, "num_attention_heads": 32, "num_layers": 40, "padded_vocab_size": 151552,
      "seq_length": 131072, "tie_word_embeddings": false})");
  EXPECT_EQ(glm["parameters"], 2 * 151552.0 * 4096 + 4096 +
                                   40 * (Attention(4096, 4096, 256) + 4096 + 2 * 256 + Mlp(4096, 13696) + 2 * 4096));
  // Granite 4 without experts uses its shared MLP, and without recurrent layers it is an ordinary transformer.
  std::string types;
  for (int layer = 0; layer < 40; ++layer) types += layer > 0 ? R"(, "attention")" : R"("attention")";
  const Json granite = Imported(R"({"model_type": "granitemoehybrid", "hidden_size": 2560, "intermediate_size": 512,
      "num_attention_heads": 40, "num_key_value_heads": 8, "num_hidden_layers": 40, "num_local_experts": 0,
      "num_experts_per_tok": 0, "shared_intermediate_size": 8192, "tie_word_embeddings": true, "vocab_size": 100352,
      "layer_types": [)" + types +
                                "]}");
  EXPECT_EQ(granite["parameters"],
            100352.0 * 2560 + 2560 + 40 * (Attention(2560, 2560, 512) + Mlp(2560, 8192) + 2 * 2560));
  EXPECT_FALSE(granite["model"].contains("linear"));
}

struct Known {
  const char* preset;
  std::string config;
};

std::string Repeated(const std::string& types, int times) {
  std::string list;
  for (int i = 0; i < times; ++i) list += (i > 0 ? ", " : "") + types;
  return list;
}

TEST(ImportMoreFamilies, AreTheirPresets) {
  const std::string mamba =
      R"("mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba")";
  const std::vector<Known> table{
      {"ministral-3-8b", R"({"model_type": "mistral3", "text_config": {"head_dim": 128, "hidden_size": 4096,
          "intermediate_size": 14336, "max_position_embeddings": 262144, "model_type": "ministral3",
          "num_attention_heads": 32, "num_hidden_layers": 34, "num_key_value_heads": 8, "sliding_window": null,
          "vocab_size": 131072, "tie_word_embeddings": false}})"},
      {"mistral-small-4-119b", R"({"model_type": "mistral3", "text_config": {"model_type": "mistral4",
          "hidden_size": 4096, "intermediate_size": 12288, "moe_intermediate_size": 2048, "num_hidden_layers": 36,
          "num_attention_heads": 32, "num_key_value_heads": 32, "n_shared_experts": 1, "n_routed_experts": 128,
          "kv_lora_rank": 256, "q_lora_rank": 1024, "qk_rope_head_dim": 64, "v_head_dim": 128, "qk_nope_head_dim": 64,
          "n_group": 1, "topk_group": 1, "num_experts_per_tok": 4, "first_k_dense_replace": 0, "vocab_size": 131072}})"},
      {"glm-4.7-flash", R"({"model_type": "glm4_moe_lite", "first_k_dense_replace": 1, "hidden_size": 2048,
          "intermediate_size": 10240, "moe_intermediate_size": 1536, "num_attention_heads": 20, "n_routed_experts": 64,
          "n_shared_experts": 1, "num_experts_per_tok": 4, "num_hidden_layers": 47, "num_key_value_heads": 20,
          "q_lora_rank": 768, "kv_lora_rank": 512, "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256,
          "vocab_size": 154880, "max_position_embeddings": 202752})"},
      {"hy3", R"({"model_type": "hy_v3", "hidden_size": 4096, "intermediate_size": 13312, "num_hidden_layers": 80,
          "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128, "num_experts": 192,
          "num_experts_per_tok": 8, "num_shared_experts": 1, "moe_intermediate_size": 1536, "vocab_size": 120832,
          "mlp_layer_types": ["dense", )" +
                  Repeated(R"("sparse")", 79) + "]}"},
      {"granite-4.0-h-small", R"({"model_type": "granitemoehybrid", "hidden_size": 4096, "intermediate_size": 768,
          "mamba_d_conv": 4, "mamba_d_head": 64, "mamba_d_state": 128, "mamba_expand": 2, "mamba_n_groups": 1,
          "mamba_n_heads": 128, "num_attention_heads": 32, "num_experts_per_tok": 10, "num_hidden_layers": 40,
          "num_key_value_heads": 8, "num_local_experts": 72, "shared_intermediate_size": 1536,
          "tie_word_embeddings": true, "vocab_size": 100352, "layer_types": [)" +
                                  Repeated(mamba, 4) + "]}"},
      {"mimo-7b", R"({"model_type": "mimo", "attention_bias": true, "head_dim": 128, "hidden_size": 4096,
          "intermediate_size": 11008, "num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8,
          "num_nextn_predict_layers": 1, "vocab_size": 151680, "tie_word_embeddings": false})"}};
  for (const Known& known : table) {
    const ParameterCount count = CountParameters(Named(known.preset));
    const Json json = Imported(known.config);
    EXPECT_EQ(json["parameters"].get<double>(), count.total) << known.preset;
    EXPECT_EQ(json["active_parameters"].get<double>(), count.active) << known.preset;
  }
}

// A newer file of Nemotron-H lists layer names in place of a pattern.
TEST(ImportMoreFamilies, NemotronInWords) {
  const auto nemotron = [](const std::string& layers) {
    return Imported(R"({"model_type": "nemotron_h", "hidden_size": 64, "intermediate_size": 64, "mamba_num_heads": 2,
        "mamba_head_dim": 64, "n_groups": 1, "ssm_state_size": 16, "num_attention_heads": 2, "num_hidden_layers": 5,
        "vocab_size": 9, )" +
                    layers + "}");
  };
  EXPECT_EQ(nemotron(R"("layers_block_type": ["mamba", "mlp", "attention", "mlp", "mamba"])"),
            nemotron(R"("hybrid_override_pattern": "M-*-M")"));
}

// InternVL and DeepSeek-VL2 keep their text model under other names.
TEST(ImportMoreFamilies, TextModelsWithin) {
  const std::string text =
      R"({"model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
      "intermediate_size": 128, "vocab_size": 100, "tie_word_embeddings": false})";
  const Json plain = Imported(text);
  for (const char* key : {"text_config", "llm_config", "language_config"}) {
    const Json within = Imported(R"({"model_type": "internvl_chat", ")" + std::string(key) + "\": " + text + "}");
    EXPECT_EQ(within["model"], plain["model"]) << key;
    EXPECT_EQ(within["notes"].size(), 1U) << key;
  }
}

// Stability AI's 12 billion: the norms of queries and keys have weights for each head, of 160 dimensions, and no
// biases.
TEST(ImportMoreFamilies, StableLm2NormsEachHead) {
  const Json json = Imported(R"({"model_type": "stablelm", "hidden_size": 5120, "intermediate_size": 13824,
      "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 100352,
      "qk_layernorm": true, "use_parallel_residual": true, "use_qkv_bias": false, "tie_word_embeddings": false})");
  EXPECT_EQ(json["model"]["qk_norm"], "each_head");
}

// A config that cannot be described is refused with the reason.
TEST(ImportMoreFamilies, RefusesWithAReason) {
  for (const char* type :
       {"falcon_h1", "lfm2", "longcat_flash", "nemotron-nas", "mllama", "gemma3n_text", "xlm-roberta"}) {
    const Answer answer = ImportModelAnswer(std::string(R"({"model_type": ")") + type + R"(", "hidden_size": 64})");
    ASSERT_EQ(answer.issues.size(), 1U) << type;
    EXPECT_EQ(answer.issues[0].message.find("by hand"), std::string::npos) << type;
    EXPECT_NE(answer.issues[0].message.find("supported"), std::string::npos) << type;
  }
}

}  // namespace
}  // namespace slipstick
