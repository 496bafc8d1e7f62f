// Importing config.json as a model: what its members become, and what is refused.
#include "core/import/import_config.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/json.h"
#include "core/scenario/answer.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/core/import/imported.h"

namespace slipstick {
namespace {

TEST(Import, ReadsPeriodicWindows) {
  const std::string start =
      R"({"model_type": "gemma3_text", "num_hidden_layers": 6, "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 1,
          "head_dim": 16, "intermediate_size": 128, "vocab_size": 100, "sliding_window": 512)";
  EXPECT_EQ(Imported(start + "}")["model"]["global_every"], 6);
  EXPECT_EQ(Imported(start + R"(, "sliding_window_pattern": 3})")["model"]["global_every"], 3);
  const Json typed = Imported(start + R"(, "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
      "full_attention", "sliding_attention", "full_attention"]})");
  EXPECT_EQ(typed["model"]["global_every"], 2);
  EXPECT_TRUE(typed["notes"].empty());
  const Json full = Imported(start + R"(, "layer_types": ["full_attention", "full_attention", "full_attention",
      "full_attention", "full_attention", "full_attention"]})");
  EXPECT_FALSE(full["model"].contains("sliding_window"));
  const Json uneven = Imported(start + R"(, "layer_types": ["full_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention"]})");
  EXPECT_EQ(uneven["model"]["global_every"], 3);
  EXPECT_EQ(uneven["notes"].size(), 1u);
}

TEST(Import, NamesTheWeightsPrecisionAndTheModel) {
  const Json json =
      Imported(R"({"_name_or_path": "/models/Some-7B", "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
      "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100,
      "quantization_config": {"quant_method": "gptq", "bits": 4}})");
  EXPECT_EQ(json["model"]["name"], "Some-7B");
  EXPECT_EQ(json["weights"], "int4");
  EXPECT_EQ(json["model"]["kv_heads"], 4);
  EXPECT_FALSE(json["model"].contains("moe"));
}

// A mixture of experts with a quantization_config, modeled on moonshotai/Kimi-K2-Thinking.
Json ImportedMixture(const std::string& quantization) {
  const std::string shape =
      R"({"model_type": "kimi_k2", "num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 64,
      "num_key_value_heads": 64, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 384,
      "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 1, "q_lora_rank": 1536, "kv_lora_rank": 512,
      "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "topk_method": "noaux_tc",
      "num_nextn_predict_layers": 0, "vocab_size": 163840, "tie_word_embeddings": false,
      "quantization_config": {"quant_method": "compressed-tensors", )";
  return Imported(shape + quantization + "}}");
}

std::string Group(const std::string& weights) {
  return R"("config_groups": {"group_0": {"input_activations": null, "targets": ["Linear"], "weights": )" + weights +
         "}}";
}

TEST(Import, ReadsExpertsThatAloneAreInFourBits) {
  const std::string int4 = Group(R"({"num_bits": 4, "group_size": 32, "strategy": "group", "type": "int"})");
  const Json thinking = ImportedMixture(
      R"("format": "pack-quantized", "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*",
      "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"], )" +
      int4);
  EXPECT_EQ(thinking["weights"], "int4");
  EXPECT_EQ(thinking["model"]["moe"]["int4_group"], 32);
  EXPECT_TRUE(thinking["notes"].empty()) << thinking["notes"];
  // All linear layers are in int4, as in AWQ and GPTQ checkpoints.
  const Json all = ImportedMixture(R"("format": "pack-quantized", "ignore": ["lm_head"], )" + int4);
  EXPECT_EQ(all["weights"], "int4");
  EXPECT_EQ(all["model"]["moe"]["int4_group"], 0);
}

// The model keeps its published precision: ModelOpt states nvfp4 in groups of 16, MLX only the bits.
TEST(Import, TakesThePublishedPrecisionWithTheModel) {
  const auto quantized = [](const std::string& quantization) {
    return Imported(R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
        "intermediate_size": 128, "vocab_size": 100, )" +
                    quantization + "}");
  };
  const auto optimized = [&](const std::string& algorithm, const std::string& weights) {
    return quantized(R"("quantization_config": {"quant_method": "modelopt", "quant_algo": ")" + algorithm + "\", " +
                     Group(weights) + "}");
  };
  const Json nvfp4 = optimized("NVFP4", R"({"num_bits": 4, "type": "float", "group_size": 16})");
  EXPECT_EQ(nvfp4["weights"], "nvfp4");
  EXPECT_EQ(nvfp4["model"]["weights"], "nvfp4");
  EXPECT_EQ(optimized("FP8", R"({"num_bits": 8, "type": "float"})")["model"]["weights"], "fp8");
  EXPECT_EQ(quantized(R"("quantization": {"group_size": 64, "bits": 4})")["model"]["weights"], "q4_0");
  EXPECT_EQ(quantized(R"("quantization": {"group_size": 64, "bits": 8})")["model"]["weights"], "q8_0");
  EXPECT_EQ(quantized(R"("quantization": {"group_size": 32, "bits": 4, "mode": "mxfp4"})")["model"]["weights"],
            "mxfp4");
  const Json three = quantized(R"("quantization": {"group_size": 64, "bits": 3})");
  EXPECT_FALSE(three["model"].contains("weights"));
  EXPECT_EQ(three["notes"].size(), 1U);
  EXPECT_FALSE(quantized(R"("torch_dtype": "bfloat16")")["model"].contains("weights"));
}

// DeepSeek-V3 sends a token to at most four of eight nodes, DeepSeek-V2 to at most three, Kimi K2 to any.
TEST(Import, ReadsGroupsOfExpertsAsNodes) {
  const auto limit = [](const char* groups) {
    return Imported(std::string(R"({"model_type": "deepseek_v3", "num_hidden_layers": 2, "hidden_size": 64,
        "num_attention_heads": 4, "intermediate_size": 9, "vocab_size": 9, "n_routed_experts": 16, "num_experts_per_tok":
        8, )") + groups +
                    "}")["model"]["moe"]["node_limit"];
  };
  EXPECT_EQ(limit(R"("n_group": 8, "topk_group": 4)"), 4);
  EXPECT_EQ(limit(R"("n_group": 8, "topk_group": 3)"), 3);
  EXPECT_EQ(limit(R"("n_group": 1, "topk_group": 1)"), 0);
}

TEST(Import, ReadsTheFormatsOfCompressedTensors) {
  EXPECT_EQ(
      ImportedMixture(R"("format": "float-quantized", )" + Group(R"({"num_bits": 8, "type": "float"})"))["weights"],
      "fp8");
  EXPECT_EQ(ImportedMixture(R"("format": "int-quantized", )" + Group(R"({"num_bits": 8, "type": "int"})"))["weights"],
            "int8");
  for (const char* format : {"mxfp4", "nvfp4"}) {
    const Json json = ImportedMixture(R"("format": ")" + std::string(format) +
                                      R"(-pack-quantized", "ignore": ["re:.*self_attn.*"], )" +
                                      Group(R"({"num_bits": 4, "group_size": 32, "type": "float"})"));
    EXPECT_EQ(json["weights"], format);
    EXPECT_EQ(json["model"]["moe"]["int4_group"], 0) << format;
  }
  const Json unknown = ImportedMixture(R"("format": "pack-quantized", )" + Group(R"({"num_bits": 3, "type": "int"})"));
  EXPECT_EQ(unknown["weights"], nullptr);
  EXPECT_EQ(unknown["notes"].size(), 1U);
}

std::vector<std::string> Paths(const std::string& config) {
  std::vector<std::string> paths;
  for (const Issue& issue : ImportModelAnswer(config).issues) paths.push_back(issue.path);
  return paths;
}
using Strings = std::vector<std::string>;

double ParametersOf(const std::string& config) { return Imported(config)["parameters"].get<double>(); }

// Hybrids whose parameter counts or checkpoint sizes are published to a few digits.
TEST(Import, CountsHybridsLikeTheirCheckpoints) {
  // Checkpoints of 4.99 and 3.98 GB in bf16.
  EXPECT_NEAR(
      ParametersOf(
          R"({"model_type": "nemotron_h", "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-",
      "hidden_size": 3072, "intermediate_size": 12288, "mamba_num_heads": 112, "mamba_head_dim": 64, "n_groups": 8,
      "ssm_state_size": 128, "conv_kernel": 4, "num_attention_heads": 32, "num_hidden_layers": 52, "num_key_value_heads": 8,
      "attention_head_dim": 128, "vocab_size": 131072, "tie_word_embeddings": false})"),
      8.97e9 / 2, 5e6);
  // The model card says 9.78 billion.
  EXPECT_NEAR(
      ParametersOf(
          R"({"model_type": "bamba", "attn_layer_indices": [9, 18, 27], "hidden_size": 4096, "intermediate_size": 14336,
      "mamba_d_conv": 4, "mamba_d_head": 64, "mamba_d_state": 128, "mamba_n_groups": 1, "mamba_n_heads": 128, "mamba_expand":
      2, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
      "tie_word_embeddings": false})"),
      9.78e9, 5e6);
  // A checkpoint of 91.5 GiB in bf16.
  EXPECT_NEAR(
      ParametersOf(
          R"({"model_type": "kimi_linear", "first_k_dense_replace": 1, "head_dim": 72, "hidden_size": 2304, "intermediate_size":
      9216, "kv_lora_rank": 512, "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "head_dim": 128,
      "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26], "num_heads": 32,
      "short_conv_kernel_size": 4}, "model_max_length": 1048576, "moe_intermediate_size": 1024, "moe_layer_freq": 1,
      "num_attention_heads": 32, "num_experts": 256, "num_experts_per_token": 8, "num_hidden_layers": 27,
      "num_key_value_heads": 32, "num_nextn_predict_layers": 0, "num_shared_experts": 1, "q_lora_rank": null,
      "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 163840, "tie_word_embeddings": false})"),
      91.5 * 1073741824 / 2, 0.05 * 1073741824 / 2);
}

// A layer that shares a KV cache needs an earlier layer of its kind. Of these six layers, the first with full attention
// is the last.
TEST(Import, RefusesSharedKvCachesThatNoLayerHas) {
  EXPECT_EQ(
      Paths(R"({"model_type": "gemma4_text", "num_hidden_layers": 24, "hidden_size": 1536, "num_attention_heads": 8,
      "num_key_value_heads": 1, "head_dim": 256, "global_head_dim": 512, "intermediate_size": 6144, "vocab_size": 262144,
      "sliding_window": 512, "num_kv_shared_layers": 19, "hidden_size_per_layer_input": 256})"),
      Strings{"model.kv_shared_layers"});
}

TEST(Import, RefusesUnsupportedHybrids) {
  const auto nemotron = [](const std::string& pattern) {
    std::string config =
        R"({"model_type": "nemotron_h", "hidden_size": 64, "intermediate_size": 64, "mamba_num_heads": 2,
        "mamba_head_dim": 64, "n_groups": 1, "ssm_state_size": 16, "num_attention_heads": 2, "num_hidden_layers": 4, "vocab_size": 9)";
    return config + (pattern.empty() ? "}" : ", \"hybrid_override_pattern\": \"" + pattern + "\"}");
  };
  EXPECT_EQ(Paths(nemotron("M-*-")), Strings{});
  EXPECT_EQ(Paths(nemotron("")), Strings{"layer_types"});
  EXPECT_EQ(Paths(nemotron("M-M-")), Strings{"layer_types"});
  for (const char* pattern : {"M---*-", "M-*X", "MEM*E-"}) {
    EXPECT_EQ(Paths(nemotron(pattern)), Strings{"hybrid_override_pattern"}) << pattern;
  }
}

TEST(Import, NamesMissingKeys) {
  EXPECT_EQ(Paths(R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4})"),
            (Strings{"num_hidden_layers", "intermediate_size", "vocab_size"}));
  EXPECT_EQ(
      Paths(
          R"({"model_type": "deepseek_v3", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 9,
      "intermediate_size": 9, "kv_lora_rank": 8, "n_routed_experts": 4})"),
      (Strings{"num_experts_per_tok", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"}));
  EXPECT_EQ(Paths(R"({"num_hidden_layers": 2})"), Strings{"model_type"});
}

TEST(Import, RefusesUnsupportedConfigs) {
  EXPECT_EQ(Paths(R"({"model_type": "mamba2"})"), Strings{"model_type"});
  EXPECT_EQ(Paths(R"({"model_type": "lama"})"), Strings{"model_type"});
  EXPECT_NE(ImportModelAnswer(R"({"model_type": "lama"})").text.find("llama"), std::string::npos);
  EXPECT_EQ(
      Paths(
          R"({"model_type": "opt", "num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16, "ffn_dim": 4096,
      "max_position_embeddings": 2048, "vocab_size": 50272, "do_layer_norm_before": false, "word_embed_proj_dim": 512})"),
      (Strings{"do_layer_norm_before", "word_embed_proj_dim"}));
  EXPECT_EQ(
      Paths(
          R"({"model_type": "qwen3_moe", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 9,
      "intermediate_size": 9, "num_experts": 4, "num_experts_per_tok": 2, "mlp_only_layers": [2]})"),
      Strings{"mlp_only_layers"});
}

TEST(Import, SurvivesHostileConfigs) {
  for (const char* config :
       {"", "[]", "7", "{", "null", R"({"model_type": 3})", R"({"model_type": "llama", "num_hidden_layers": "many"})",
        R"({"model_type": "llama", "num_hidden_layers": -1, "hidden_size": 64, "num_attention_heads": 4,
                                 "intermediate_size": 1, "vocab_size": 1})",
        R"({"model_type": "llama", "num_hidden_layers": 1e300, "hidden_size": 0.5, "num_attention_heads": [],
                                 "intermediate_size": {}, "vocab_size": true})",
        R"({"model_type": "mixtral", "num_hidden_layers": 1, "hidden_size": 64, "num_attention_heads": 7,
                                 "intermediate_size": 1, "vocab_size": 1, "num_local_experts": 4, "num_experts_per_tok": 9})",
        R"({"model_type": "llama", "text_config": [], "layer_types": 5, "quantization_config": "x"})"}) {
    EXPECT_FALSE(ImportModelAnswer(config).issues.empty()) << config;
  }
}

}  // namespace
}  // namespace slipstick
