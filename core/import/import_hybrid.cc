#include <algorithm>

#include "core/import/config_reader.h"

namespace slipstick {
namespace {

std::optional<Count> CountOf(const Json* list, const Json& wanted) {
  if (list == nullptr || !list->is_array()) return std::nullopt;
  return std::count(list->begin(), list->end(), wanted);
}

// The number of attention layers; each family has its own keys.
std::optional<Count> AttentionLayers(Config& config, Count layers) {
  for (const char* key : {"layer_types", "layers_block_type"}) {
    const Json* types = config.Find({key});
    if (const auto full = CountOf(types, "full_attention")) return *full + *CountOf(types, "attention");
  }
  if (const auto softmax = CountOf(config.Find({"attn_type_list"}), 1)) return softmax;
  for (const char* key : {"attn_layer_indices", "linear_attn_config.full_attn_layers"}) {
    if (const Json* indices = config.Find({key}); indices != nullptr && indices->is_array())
      return static_cast<Count>(indices->size());
  }
  if (const auto every = config.Whole({"full_attention_interval"}); every && *every > 0) return layers / *every;
  const auto period = config.Whole({"attn_layer_period"}), offset = config.Whole({"attn_layer_offset"});
  if (period && *period > 0 && offset && layers > *offset) return (layers - *offset - 1) / *period + 1;
  return std::nullopt;
}

// Nemotron-H counts mixers (M: Mamba-2, *: attention) and MLPs (-, E: with experts) as separate layers; here a mixer
// and the MLP after it form one layer. Returns the number of attention layers.
std::optional<Count> ReadPattern(const Import& in, const std::string& pattern) {
  const auto count = [&](char kind) { return static_cast<Count>(std::count(pattern.begin(), pattern.end(), kind)); };
  const Count mixers = count('M') + count('*'), dense = count('-'), sparse = count('E');
  if (mixers + dense + sparse != static_cast<Count>(pattern.size()) || (dense > 0 && sparse > 0) ||
      dense + sparse > mixers) {
    in.issues.push_back(
        {"hybrid_override_pattern", "Must consist of M, * and either - or E, with at most one - or E per mixer, not " +
                                        internal::Shown(Json(pattern))});
    return std::nullopt;
  }
  in.model["layers"] = mixers;
  if (dense + sparse < mixers) in.model["mlp_layers"] = dense + sparse;
  if (dense > 0) in.model.erase("moe");
  return count('*');
}

// The pattern, which newer files list as words; empty where there is none.
std::string PatternOf(const Config& config) {
  std::string pattern = config.Text({"hybrid_override_pattern"});
  const Json* types = config.Find({"layers_block_type"});
  if (!pattern.empty() || types == nullptr || !types->is_array()) return pattern;
  for (const Json& type : *types) {
    if (type == "mlp") pattern += '-';
    if (type == "moe") pattern += 'E';
    if (type == "mamba") pattern += 'M';
    if (type == "attention") pattern += '*';
  }
  return pattern.find_first_of("-E") == std::string::npos ? "" : pattern;
}

}  // namespace

void ReadRecurrence(const Import& in) {
  if (!in.model.contains("linear")) return;
  Config& config = in.config;
  const std::string pattern = PatternOf(config);
  const auto attention =
      pattern.empty() ? AttentionLayers(config, in.model["layers"].get<Count>()) : ReadPattern(in, pattern);
  const Count layers = in.model["layers"].get<Count>();
  if (!attention) {
    if (in.issues.empty()) in.issues.push_back({"layer_types", "Required: which layers have attention"});
    return;
  }
  if (*attention == layers) {  // Granite 4 without a recurrence
    in.model.erase("linear");
    return;
  }
  if (*attention < 1 || *attention > layers) {
    in.issues.push_back({"layer_types", "A hybrid needs layers with and without attention, not " +
                                            std::to_string(*attention) + " of " + std::to_string(layers) +
                                            " with attention"});
    return;
  }
  Json& linear = in.model["linear"];
  linear["layers"] = layers - *attention;
  if (config.Flag({"linear_attn_config.use_full_rank_gate"})) linear["full_gate"] = true;
  const std::string kind = linear.value("kind", "");
  if (kind == "lightning") {  // same shape as the attention layers
    linear["heads"] = in.model["heads"];
    const Json* given = FindMember(in.model, "head_dim");
    const Count head_dim =
        given != nullptr ? given->get<Count>() : in.model["hidden"].get<Count>() / in.model["heads"].get<Count>();
    linear["head_dim"] = head_dim;
    linear["state"] = head_dim;
    linear["convolution"] = 0;
    return;
  }
  const Count inner = in.model["hidden"].get<Count>() * config.Whole({"mamba_expand", "expand"}).value_or(2);
  if (kind == "mamba") {  // has no heads: any number that yields the width
    linear["head_dim"] = inner % 64 == 0 ? 64 : 1;
    linear["heads"] = inner / linear["head_dim"].get<Count>();
    const bool automatic = config.Text({"mamba_dt_rank"}) == "auto";
    linear["step_rank"] = automatic ? (in.model["hidden"].get<Count>() + 15) / 16
                                    : config.Needed({"mamba_dt_rank"}, "rank of the time step (dt)");
  } else {
    const Count heads =
        config.Needed({"mamba_num_heads", "mamba_n_heads", "linear_num_value_heads", "linear_attn_config.num_heads"},
                      "heads of the recurrent layers");
    linear["heads"] = heads;
    linear["head_dim"] =
        config.Text({"mamba_d_head"}) == "auto"
            ? inner / std::max<Count>(1, heads)
            : config.Needed({"mamba_head_dim", "mamba_d_head", "linear_value_head_dim", "linear_attn_config.head_dim"},
                            "head dimension of the recurrent layers");
    if (const auto groups = config.Whole({"n_groups", "mamba_n_groups", "linear_num_key_heads"}))
      linear["key_heads"] = *groups;
  }
  linear["state"] =
      config.Needed({"ssm_state_size", "mamba_d_state", "linear_key_head_dim", "linear_attn_config.head_dim"},
                    "state size of the recurrent layers");
  linear["convolution"] =
      config
          .Whole({"conv_kernel", "mamba_d_conv", "linear_conv_kernel_dim", "linear_attn_config.short_conv_kernel_size"})
          .value_or(4);
}

}  // namespace slipstick
