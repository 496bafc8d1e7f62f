#include "core/import/import_config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fix.h"
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
  } else if (const auto kv =
                 config.Whole({"num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num", "attn_config.kv_n_heads"})) {
    model["kv_heads"] = *kv;
  }
  const std::optional<Count> head_dim = config.Whole({"head_dim", "kv_channels", "attention_head_dim"});
  if (head_dim && config.Find({"kv_lora_rank"}) == nullptr) model["head_dim"] = *head_dim;
  const std::optional<double> ratio = config.Number({"expansion_ratio"});
  if (const auto ffn = config.Whole({"intermediate_size_mlp", "dense_intermediate_size", "intermediate_size", "moe_intermediate_size",
                                     "ffn_dim", "n_inner", "ffn_hidden_size", "ffn_config.ffn_hidden_size"})) {
    model["ffn"] = *ffn;
  } else if (ratio) {
    model["ffn"] = static_cast<Count>(std::llround(*ratio * static_cast<double>(hidden)));
  } else {
    model["ffn"] = config.Needed({"intermediate_size"}, "FFN size");
  }
  model["vocab"] = config.Needed({"vocab_size"}, "vocabulary size");
  model["tied_embeddings"] = config.Flag({"tie_word_embeddings"});
  if (const auto context = config.Whole(
          {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "max_sequence_length", "seq_length", "model_max_length"})) {
    model["context"] = *context;
    if (model.value("position", "") == "learned") model["max_positions"] = *context + in.family.position_offset;
  }
  if (const auto mtp = config.Whole({"num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"}); mtp && *mtp > 0)
    model["mtp_layers"] = *mtp;
  if (config.Flag({"lm_head_bias"})) model["head_bias"] = true;
}

// Gemma 4: the config's heads are those of local layers, the others have their own.
void ReadLocalHeads(const Import& in) {
  Json& model = in.model;
  Config& config = in.config;
  if (const auto global = config.Whole({"global_head_dim"}); global && model.contains("head_dim")) {
    model["window_head_dim"] = model["head_dim"];
    model["head_dim"] = *global;
  }
  if (config.Flag({"attention_k_eq_v"})) {
    model["keys_as_values"] = true;
    if (const auto global = config.Whole({"num_global_key_value_heads"}); global && model.contains("kv_heads")) {
      model["window_kv_heads"] = model["kv_heads"];
      model["kv_heads"] = *global;
    }
  }
}

// Gemma 4 E2B and E4B: layers that share a KV cache, and tables of the layers.
void ReadSharedKv(const Import& in) {
  Json& model = in.model;
  Config& config = in.config;
  if (const Count shared = config.Whole({"num_kv_shared_layers"}).value_or(0); shared > 0) {
    model["kv_shared_layers"] = shared;
    if (config.Flag({"use_double_wide_mlp"})) model["kv_shared_ffn"] = 2 * model["ffn"].get<Count>();
  }
  const Count width = config.Whole({"hidden_size_per_layer_input"}).value_or(0);
  if (width == 0) return;
  model["layer_embedding"] = width;
  model["norms_per_layer"] = model.value("norms_per_layer", Count{2}) + 1;
  const std::optional<Count> rows = config.Whole({"vocab_size_per_layer_input"});
  if (rows && *rows != model["vocab"]) model["layer_embedding_rows"] = *rows;
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

// Which layers have experts: by a period, or all after the leading dense ones.
void ReadExpertLayers(const Import& in) {
  Config& config = in.config;
  Json& moe = in.model["moe"];
  if (const Json* listed = config.Find({"moe_layer_freq"}); listed != nullptr && listed->is_array()) {
    const auto first = std::find(listed->begin(), listed->end(), 1);
    if (std::find(first, listed->end(), 0) == listed->end()) {
      moe["dense_layers"] = first - listed->begin();
    } else {
      in.issues.push_back({"moe_layer_freq", "Must have its dense layers first, not " + internal::Shown(*listed)});
    }
    return;
  }
  if (const auto every = config.Whole({"moe_layer_freq", "decoder_sparse_step", "interleave_moe_layer_step", "expert_layer_period"});
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
  const std::optional<Count> experts =
      config.Whole({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", "ffn_config.moe_num_experts"});
  if (!experts || *experts < 2) {
    model.erase("moe");
    return;
  }
  Json& moe = model["moe"];
  moe["experts"] = *experts;
  moe["top_k"] = config.Needed(
      {"num_experts_per_tok", "num_experts_per_token", "num_selected_experts", "moe_top_k", "top_k_experts", "ffn_config.moe_top_k"},
      "experts per token (top-k)");
  // Llama-4 calls the dense layers' width intermediate_size_mlp, MiniMax-M3 dense_intermediate_size, and the experts' intermediate_size.
  const bool is_experts = config.Find({"intermediate_size_mlp", "dense_intermediate_size"}) != nullptr;
  const std::optional<Count> width = is_experts ? config.Whole({"intermediate_size"}) : config.Whole({"moe_intermediate_size"});
  const Count expert_ffn = width.value_or(model["ffn"].get<Count>());
  moe["expert_ffn"] = expert_ffn;
  if (const auto shared = config.Whole({"n_shared_experts", "num_shared_experts"}); shared && *shared > 0) moe["shared_experts"] = *shared;
  const bool is_fp8 = config.Text({"quantization_config.quant_method"}).find("fp8") != std::string::npos;
  if (is_fp8 && config.Find({"quantization_config.weight_block_size"}) == nullptr) moe["block_scales"] = false;
  if (const auto shared_ffn =
          config.Whole({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size"});
      shared_ffn && *shared_ffn > 0) {
    moe["shared_experts"] = std::max<Count>(1, *shared_ffn / std::max<Count>(1, expert_ffn));
    moe["shared_ffn"] = *shared_ffn;
  }
  if (const auto dense = config.Whole({"first_k_dense_replace"}); dense && *dense > 0) moe["dense_layers"] = *dense;
  ReadExpertLayers(in);
  if (const auto latent = config.Whole({"moe_latent_size", "routed_expert_hidden_size"})) moe["latent"] = *latent;
  if (config.Flag({"enable_moe_block"})) {  // Gemma 4: a dense MLP beside the experts, with norms of its own
    moe["shared_experts"] = 1;
    moe["shared_ffn"] = model["ffn"];
    model["norms_per_layer"] = 7;
  }
  if (config.Text({"topk_method"}) == "noaux_tc" || config.Flag({"use_routing_bias", "moe_router_enable_expert_bias"})) {
    moe["router_bias"] = true;
  }
}

// Layers with an indexer of their own (GLM-5.2): listed, or every n-th after the first; 0: all.
Count SelectingLayers(Config& config, Count layers) {
  if (const Json* types = config.Find({"indexer_types"}); types != nullptr && types->is_array())
    return std::count(types->begin(), types->end(), "full");
  const Count every = config.Whole({"index_topk_freq"}).value_or(1), offset = config.Whole({"index_skip_topk_offset"}).value_or(1);
  if (every <= 1) return 0;
  Count selecting = 0;
  for (Count layer = 0; layer < layers; ++layer) selecting += std::max<Count>(layer - offset + 1, 0) % every == 0 ? 1 : 0;
  return selecting;
}

// MiniMax-M3: blocks of the context, selected by one head for each KV head.
void ReadBlockSelection(const Import& in) {
  Config& config = in.config;
  if (!config.Flag({"sparse_attention_config.use_sparse_attention"})) return;
  const Count block = config.Needed({"sparse_attention_config.sparse_block_size"}, "tokens of a block");
  const Json* listed = config.Find({"sparse_attention_config.sparse_attention_freq"});
  in.model["indexer"] =
      Json{{"heads", config.Needed({"sparse_attention_config.sparse_num_index_heads"}, "heads of the indexer")},
           {"head_dim", config.Needed({"sparse_attention_config.sparse_index_dim"}, "head dimension of the indexer")},
           {"top_k", block * config.Needed({"sparse_attention_config.sparse_topk_blocks"}, "blocks that a query attends to")},
           {"block", block},
           {"layers", listed != nullptr && listed->is_array() ? std::count(listed->begin(), listed->end(), 1) : 0}};
}

void ReadLatentAttention(const Import& in) {
  Config& config = in.config;
  const std::optional<Count> rank = config.Whole({"kv_lora_rank"});
  if (!rank) return;
  in.model["mla"] = Json{{"q_lora_rank", config.Whole({"q_lora_rank"}).value_or(0)},
                         {"kv_lora_rank", *rank},
                         {"nope_head_dim", config.Needed({"qk_nope_head_dim"}, "non-rotary part of the head dimension")},
                         {"rope_head_dim", config.Needed({"qk_rope_head_dim"}, "rotary part of the head dimension")},
                         {"value_head_dim", config.Needed({"v_head_dim"}, "value head dimension")}};
  // Heads of latent attention need not divide the hidden size.
  if (in.model["hidden"].get<Count>() % std::max<Count>(1, in.model["heads"].get<Count>()) != 0)
    in.model["head_dim"] = in.model["mla"]["nope_head_dim"];
  if (config.Flag({"mla_use_output_gate"})) in.model["attention_gate"] = true;
  if (const std::optional<Count> heads = config.Whole({"index_n_heads"})) {
    in.model["indexer"] = Json{{"heads", *heads},
                               {"head_dim", config.Needed({"index_head_dim"}, "head dimension of the indexer")},
                               {"top_k", config.Needed({"index_topk"}, "tokens that a query attends to")},
                               {"layers", SelectingLayers(config, in.model["layers"].get<Count>())}};
  }
}

// Period of the layers with full attention; 0 if none has it, nothing if the list is irregular.
std::optional<Count> Rhythm(const std::vector<bool>& global) {
  const auto first = std::find(global.begin(), global.end(), true);
  if (first == global.end()) return 0;
  const auto every = static_cast<std::size_t>(first - global.begin()) + 1;
  for (std::size_t i = 0; i < global.size(); ++i) {
    if (global[i] != ((i + 1) % every == 0)) return std::nullopt;
  }
  return static_cast<Count>(every);
}

void ReadWindow(const Import& in) {
  Config& config = in.config;
  const std::optional<Count> window = config.Whole({"sliding_window", "sliding_window_size", "attention_chunk_size"});
  if (!window || *window <= 0 || in.model.contains("compressed") || (in.family.window_by_flag && !config.Flag({"use_sliding_window"})))
    return;
  if (const Json* context = FindMember(in.model, "context"); context != nullptr && *window >= context->get<Count>())
    return;  // wider than any context: full attention
  Count global_every =
      config.Whole({"sliding_window_pattern", "_sliding_window_pattern", "no_rope_layer_interval"}).value_or(in.family.global_every);
  const Json* types = config.Find({"layer_types"});
  if (types != nullptr && types->is_array() && !types->empty()) {
    std::vector<bool> global;
    for (const Json& type : *types) global.push_back(type == "full_attention");
    if (std::find(global.begin(), global.end(), false) == global.end()) return;
    const std::optional<Count> rhythm = Rhythm(global);
    if (rhythm) {
      global_every = *rhythm;
    } else {
      const auto all = static_cast<double>(std::count(global.begin(), global.end(), true));
      global_every = static_cast<Count>(std::llround(static_cast<double>(global.size()) / all));
      in.notes.push_back("layer_types is irregular: full attention is assumed every " + std::to_string(global_every) + " layers");
    }
  } else if (in.family.window_by_flag && config.Whole({"max_window_layers"}).value_or(0) > 0) {
    in.notes.push_back("max_window_layers is not supported: every layer gets the window");
  }
  in.model["sliding_window"] = *window;
  if (global_every > 0) in.model["global_every"] = global_every;
}

// The weight precision of a quantized checkpoint, as serving names it.
Json WeightPrecision(const Config& config, std::vector<std::string>& notes) {
  const std::string method = config.Text({"quantization_config.quant_method"});
  if (method.empty()) return nullptr;
  const Json* bits = config.Find({"quantization_config.bits", "quantization_config.w_bit"});
  if (method == "fp8" || method == "fbgemm_fp8") return "fp8";
  if (method == "mxfp4") return "mxfp4";
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
  std::string list;
  for (const std::string_view name : known) list += (list.empty() ? "" : ", ") + std::string(name);
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
                        "tied_embeddings by hand, or import one of " + list,
                    SetToEach("model_type", NearestNames(type, known))});
  return nullptr;
}

// The shape, and members that differ from the defaults.
Json Shortened(const Model& model) {
  const Json standard = Write(Model{});
  Json whole = Write(model), shortened = Json::object();
  for (const char* key : {"name", "layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "gated", "vocab", "tied_embeddings"}) {
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
  if (!parsed->is_object()) return WrongRequest({{"", "Must be the JSON object of a config.json, not " + internal::Shown(*parsed)}});
  Issues issues;
  std::vector<std::string> notes;
  // Multimodal checkpoints hold the text model in text_config; absent keys are outside it.
  Json flat = *parsed;
  const auto nested = parsed->find("text_config");
  if (nested != parsed->end() && nested->is_object()) {
    MergeJson(flat, *nested);
    flat.erase("text_config");
    notes.push_back("only the text model (text_config) is imported");
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
  if (!issues.empty()) return WrongRequest(std::move(issues));

  Model model;
  Read(members, "model", issues, model);
  if (issues.empty()) ValidateAndFillDefaults(model, "model", issues);
  if (!issues.empty()) return WrongRequest(std::move(issues));
  const ParameterCount count = CountParameters(model);
  Json weights = WeightPrecision(config, notes);
  return {JsonText(Json{{"model", Shortened(model)},
                        {"model_type", type},
                        {"parameters", count.total},
                        {"active_parameters", count.active},
                        {"weights", std::move(weights)},
                        {"notes", notes}}),
          {}};
}

}  // namespace slipstick
