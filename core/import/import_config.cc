#include "core/import/import_config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fix.h"
#include "core/base/listed.h"
#include "core/base/nearest_names.h"
#include "core/base/schema.h"
#include "core/import/config_reader.h"

namespace slipstick {
namespace {

Biases Sum(Biases a, Biases b) {
  if (a == b || b == Biases::kNone) return a;
  if (a == Biases::kNone) return b;
  return Biases::kAll;  // attention's and the MLP's
}

void ReadShape(const Import& in) {
  Json& model = in.model;
  Config& config = in.config;
  model["layers"] = config.Needed({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, "number of layers");
  const Count hidden = config.Needed({"hidden_size", "n_embd", "n_embed", "d_model"}, "hidden size");
  model["hidden"] = hidden;
  const Count heads = config.Needed({"num_attention_heads", "n_head", "n_heads"}, "number of query heads");
  model["heads"] = heads;
  // Falcon: multi_query means one KV head, unless the newer decoder states the number.
  if (config.Flag({"multi_query"}) && !config.Flag({"new_decoder_architecture"})) {
    model["kv_heads"] = 1;
  } else if (const auto kv = config.Whole({"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads",
                                           "multi_query_group_num", "attn_config.kv_n_heads"})) {
    model["kv_heads"] = *kv;
  }
  const std::optional<Count> head_dim = config.Whole({"head_dim", "kv_channels", "attention_head_dim"});
  if (head_dim && config.Find({"kv_lora_rank"}) == nullptr) model["head_dim"] = *head_dim;
  const std::optional<double> ratio = config.Number({"expansion_ratio"});
  if (const auto ffn = config.Whole({"intermediate_size_mlp", "dense_intermediate_size", "intermediate_size",
                                     "moe_intermediate_size", "mlp_hidden_size", "ffn_dim", "n_inner",
                                     "ffn_hidden_size", "ffn_config.ffn_hidden_size"})) {
    model["ffn"] = *ffn;
  } else if (ratio) {
    model["ffn"] = static_cast<Count>(std::llround(*ratio * static_cast<double>(hidden)));
  } else {
    model["ffn"] = config.Needed({"intermediate_size"}, "FFN size");
  }
  model["vocab"] = config.Needed({"vocab_size", "padded_vocab_size"}, "vocabulary size");
  model["tied_embeddings"] = config.Flag({"tie_word_embeddings", "weight_tying"});
  if (const auto context = config.Whole({"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len",
                                         "max_sequence_length", "seq_length", "model_max_length"})) {
    model["context"] = *context;
    if (model.value("position", "") == "learned") model["max_positions"] = *context + in.family.position_offset;
  }
  if (const auto mtp = config.Whole({"num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"});
      mtp && *mtp > 0)
    model["mtp_layers"] = *mtp;
  if (config.Flag({"lm_head_bias"})) model["head_bias"] = true;
}

void ReadLayer(const Import& in) {
  Json& model = in.model;
  const Config& config = in.config;
  Biases biases = Biases::kNone;
  for (const auto& [value, name] : EnumNames<Biases>::names) {
    if (model.value("biases", "none") == name) biases = value;
  }
  for (const BiasRule& rule : in.family.biases) {
    if (rule.key.empty()) continue;
    const Json* flag = config.Find({std::string(rule.key).c_str()});
    if (flag != nullptr && flag->is_boolean() && flag->get<bool>() == rule.when) biases = Sum(biases, rule.adds);
  }
  if (biases != Biases::kNone) model["biases"] = NameOf(biases);
  if (config.Flag({"qk_layernorm", "use_qk_norm"})) model["qk_norm"] = NameOf(in.family.qk_norm);
  if (config.Flag({"alibi", "attn_config.alibi"})) model["position"] = "alibi";
  // Parallel attention and MLP: the family fixes the number of norms; Falcon's newer decoder has one each.
  const bool newer = config.Flag({"new_decoder_architecture"});
  if (newer || config.Flag({"use_parallel_residual", "parallel_attn"})) {
    model["parallel_attention"] = true;
    const Count own = in.config.Whole({"num_ln_in_parallel_attn"}).value_or(newer ? 2 : in.family.parallel_norms);
    if (own > 0) model["norms_per_layer"] = own;
  }
  if (const Json* before = config.Find({"do_layer_norm_before"}); before != nullptr && *before == false) {
    in.issues.push_back({"do_layer_norm_before", "Norms after the residual sum (OPT 350M) are not supported"});
  }
  const Json* projected = config.Find({"word_embed_proj_dim"});
  if (projected != nullptr && *projected != model["hidden"]) {
    in.issues.push_back({"word_embed_proj_dim", "An embedding narrower than the layers (OPT 350M) is not supported"});
  }
}

// How compressed-tensors quantizes the weights of its first group of layers; empty for other methods.
Json QuantizedWeights(const Config& config) {
  const Json* groups = config.Find({"quantization_config.config_groups"});
  if (groups == nullptr || !groups->is_object() || groups->empty() || !groups->begin()->is_object())
    return Json::object();
  const Json* weights = FindMember(*groups->begin(), "weights");
  return weights != nullptr && weights->is_object() ? *weights : Json::object();
}

// Weights per scale if only the experts are in int4, with attention excluded from quantization; otherwise 0.
Json GroupOfInt4Experts(const Config& config) {
  const Json weights = QuantizedWeights(config);
  const Json* ignored = config.Find({"quantization_config.ignore"});
  const bool is_int4 = weights.value("num_bits", Json()) == 4 && weights.value("type", Json()) == "int";
  if (!is_int4 || ignored == nullptr || !ignored->is_array()) return 0;
  const bool leaves_attention = std::any_of(ignored->begin(), ignored->end(), [](const Json& layers) {
    return layers.is_string() && layers.get<std::string>().find("attn") != std::string::npos;
  });
  const Json size = weights.value("group_size", Json());
  return leaves_attention && size.is_number_unsigned() ? size : Json(0);
}

// Which layers have experts: every n-th, or all after the leading dense ones.
void ReadExpertLayers(const Import& in) {
  Config& config = in.config;
  Json& moe = in.model["moe"];
  for (const char* key : {"mlp_layer_types", "moe_layer_freq"}) {
    const Json* listed = config.Find({key});
    if (listed == nullptr || !listed->is_array()) continue;
    const auto is_dense = [](const Json& layer) { return layer == 0 || layer == "dense"; };
    const auto first = std::find_if_not(listed->begin(), listed->end(), is_dense);
    if (std::find_if(first, listed->end(), is_dense) == listed->end()) {
      moe["dense_layers"] = first - listed->begin();
    } else {
      in.issues.push_back({key, "Must have its dense layers first, not " + internal::Shown(*listed)});
    }
    return;
  }
  if (const auto last = config.Whole({"moe_layer_end_index"}), layers = std::optional(in.model["layers"].get<Count>());
      last && *last >= 0 && *last + 1 < *layers) {
    in.issues.push_back(
        {"moe_layer_end_index", "Must be the last layer: dense layers after those with experts are not supported"});
  }
  if (const auto every = config.Whole({"moe_layer_freq", "decoder_sparse_step", "interleave_moe_layer_step",
                                       "expert_layer_period", "moe_layer_interval"});
      every && *every > 1) {
    moe["moe_every"] = *every;
  }
  // The model supports dense layers only at the start.
  if (const Json* dense = config.Find({"mlp_only_layers"}); dense != nullptr && dense->is_array() && !dense->empty()) {
    Json leading = Json::array();
    for (std::size_t i = 0; i < dense->size(); ++i) leading.push_back(i);
    if (*dense == leading) {
      moe["dense_layers"] = dense->size();
    } else {
      in.issues.push_back({"mlp_only_layers", "Must list the first layers in order, not " + internal::Shown(*dense)});
    }
  }
}

void ReadExperts(const Import& in) {
  Json& model = in.model;
  Config& config = in.config;
  const std::optional<Count> experts = config.Whole(
      {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "ffn_config.moe_num_experts"});
  if (!experts || *experts < 2) {
    model.erase("moe");
    // Granite 4 without experts states its MLP width as that of shared experts.
    if (const auto shared = config.Whole({"shared_intermediate_size"}); shared && *shared > 0) model["ffn"] = *shared;
    return;
  }
  Json& moe = model["moe"];
  moe["experts"] = *experts;
  moe["top_k"] = config.Needed({"num_experts_per_tok", "num_experts_per_token", "num_selected_experts", "moe_top_k",
                                "top_k_experts", "moe_k", "moe_topk", "ffn_config.moe_top_k"},
                               "experts per token (top-k)");
  // The width of dense layers is intermediate_size_mlp in Llama-4 and dense_intermediate_size in MiniMax-M3; that of
  // the experts is intermediate_size.
  const bool is_experts = config.Find({"intermediate_size_mlp", "dense_intermediate_size"}) != nullptr;
  const std::optional<Count> width =
      is_experts ? config.Whole({"intermediate_size"}) : config.Whole({"moe_intermediate_size"});
  const Count expert_ffn = width.value_or(model["ffn"].get<Count>());
  moe["expert_ffn"] = expert_ffn;
  if (const auto shared =
          config.Whole({"n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts"});
      shared && *shared > 0)
    moe["shared_experts"] = *shared;
  const bool is_fp8 = config.Text({"quantization_config.quant_method"}).find("fp8") != std::string::npos;
  if (is_fp8 && config.Find({"quantization_config.weight_block_size"}) == nullptr) moe["block_scales"] = false;
  moe["int4_group"] = GroupOfInt4Experts(config);
  if (const auto shared_ffn = config.Whole(
          {"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size"});
      shared_ffn && *shared_ffn > 0) {
    moe["shared_experts"] = std::max<Count>(1, *shared_ffn / std::max<Count>(1, expert_ffn));
    moe["shared_ffn"] = *shared_ffn;
  }
  if (const auto dense = config.Whole({"first_k_dense_replace", "moe_layer_start_index"}); dense && *dense > 0)
    moe["dense_layers"] = *dense;
  ReadExpertLayers(in);
  // DeepSeek places each group of experts on a node.
  if (const auto chosen = config.Whole({"topk_group"}), groups = config.Whole({"n_group"});
      chosen && groups && *chosen > 0 && *chosen < *groups)
    moe["node_limit"] = *chosen;
  if (const auto latent = config.Whole({"moe_latent_size", "routed_expert_hidden_size"})) moe["latent"] = *latent;
  if (config.Flag({"enable_moe_block"})) {  // Gemma 4: a dense MLP beside the experts, with norms of its own
    moe["shared_experts"] = 1;
    moe["shared_ffn"] = model["ffn"];
    model["norms_per_layer"] = 7;
  }
  if (config.Text({"topk_method"}) == "noaux_tc" ||
      config.Flag({"use_routing_bias", "moe_router_enable_expert_bias"})) {
    moe["router_bias"] = true;
  }
}

// The weight precision of a quantized checkpoint, named as in serving.
Json WeightPrecision(const Config& config, std::vector<std::string>& notes) {
  const std::string method = config.Text({"quantization_config.quant_method"});
  if (const Json* bits = config.Find({"quantization.bits"}); bits != nullptr && method.empty()) {  // MLX
    if (*bits == 8) return "q8_0";
    if (*bits == 4) return config.Text({"quantization.mode"}) == "mxfp4" ? "mxfp4" : "q4_0";
    notes.push_back("weights of " + internal::Shown(*bits) + " bits: set serving.precision.weights by hand");
    return nullptr;
  }
  if (method.empty()) return nullptr;
  const Json group = QuantizedWeights(config);
  const Json* size = FindMember(group, "group_size");
  const Json* bits = config.Find({"quantization_config.bits", "quantization_config.w_bit"});
  if (bits == nullptr) bits = FindMember(group, "num_bits");
  const std::string format = config.Text({"quantization_config.format"});
  const bool is_float = FindMember(group, "type") != nullptr && group["type"] == "float";
  if (method == "fp8" || method == "fbgemm_fp8" || (is_float && bits != nullptr && *bits == 8)) return "fp8";
  if (method == "mxfp4" || format.starts_with("mxfp4")) return "mxfp4";
  if (format.starts_with("nvfp4") || config.Text({"quantization_config.quant_algo"}) == "NVFP4") return "nvfp4";
  if (is_float && bits != nullptr && *bits == 4) return size != nullptr && *size == 32 ? "mxfp4" : "nvfp4";
  if (bits != nullptr && *bits == 4) return "int4";
  if (bits != nullptr && *bits == 8) return "int8";
  notes.push_back("quantization method " + method + ": set serving.precision.weights by hand");
  return nullptr;
}

// The family of a config, or issues with its type.
const ConfigFamily* FamilyOf(const std::string& type, Issues& issues) {
  std::vector<std::string_view> known;
  for (const ConfigFamily& family : ConfigFamilies()) {
    if (family.type == type) return &family;
    known.push_back(family.type);
  }
  const std::string list = Listed(known);
  if (type.empty()) {
    issues.push_back({"model_type", "Required: architecture, one of " + list});
    return nullptr;
  }
  for (const ForeignFamily& foreign : ForeignFamilies()) {
    if (foreign.type == type) {
      issues.push_back({"model_type", type + " " + std::string(foreign.reason)});
      return nullptr;
    }
  }
  issues.push_back({"model_type",
                    "Architecture " + internal::Shown(Json(type)) + " is not supported" +
                        ": set layers, hidden, heads, kv_heads, head_dim, ffn, gated, vocab and " +
                        "tied_embeddings by hand",
                    SetToEach("model_type", NearestNames(type, known))});
  return nullptr;
}

// The shape, and members that differ from the defaults.
Json Shortened(const Model& model) {
  const Json standard = Write(Model{});
  Json whole = Write(model), shortened = Json::object();
  for (const char* key :
       {"name", "layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "gated", "vocab", "tied_embeddings"}) {
    shortened[key] = whole[key];
  }
  for (const auto& [key, value] : whole.items()) {
    if (value != standard[key]) shortened[key] = value;
  }
  return shortened;
}

}  // namespace

Answer ImportModelAnswer(std::string_view text) {
  Result<Json> parsed = ParseJson(text);
  if (!parsed) return WrongRequest(std::move(parsed.issues));
  if (!parsed->is_object())
    return WrongRequest({{"", "Must be the JSON object of a config.json, not " + internal::Shown(*parsed)}});
  Issues issues;
  std::vector<std::string> notes;
  // Multimodal checkpoints have the text model in text_config; keys that are absent there are outside of it.
  Json flat = *parsed;
  for (const char* key : {"text_config", "llm_config", "language_config"}) {  // the others: InternVL, DeepSeek-VL2
    const auto nested = parsed->find(key);
    if (nested == parsed->end() || !nested->is_object()) continue;
    MergeJson(flat, *nested);
    flat.erase(key);
    notes.push_back("the text model (" + std::string(key) + ") and a vision encoder are imported, no other part");
  }
  const auto named = flat.find("model_type");
  const std::string type = named != flat.end() && named->is_string() ? named->get<std::string>() : "";
  const ConfigFamily* family = FamilyOf(type, issues);
  if (family == nullptr) return WrongRequest(std::move(issues));

  Json json = *ParseJson(family->defaults);
  MergeJson(json, flat);
  Config config(std::move(json), issues);
  Json members = *ParseJson(family->model);
  const Import in{*family, config, members, issues, notes};
  const std::string path = config.Text({"_name_or_path", "name_or_path"});
  members["name"] = path.empty() ? type : path.substr(path.find_last_of('/') + 1).substr(0, 100);
  ReadShape(in);
  ReadLocalHeads(in);
  ReadLayer(in);
  ReadExperts(in);
  ReadLatentAttention(in);
  ReadCompressed(in);
  ReadBlockSelection(in);
  ReadRecurrence(in);
  ReadWindow(in);
  ReadSharedKv(in);
  ReadVision(in);
  if (family->writes_blocks)
    notes.push_back("it writes blocks of tokens: serving.block_diffusion says how many a step computes and keeps");
  if (!issues.empty()) return WrongRequest(std::move(issues));

  Model model;
  Read(members, "model", issues, model);
  if (issues.empty()) ValidateAndFillDefaults(model, "model", issues);
  if (!issues.empty()) return WrongRequest(std::move(issues));
  const ParameterCount count = CountParameters(model);
  Json weights = WeightPrecision(config, notes);
  Json shortened = Shortened(model);
  if (!weights.is_null() && !shortened.contains("weights")) shortened["weights"] = weights;
  return {JsonText(Json{{"model", std::move(shortened)},
                        {"model_type", type},
                        {"parameters", double(count.total)},
                        {"active_parameters", double(count.active)},
                        {"weights", std::move(weights)},
                        {"notes", notes}}),
          {}};
}

}  // namespace slipstick
