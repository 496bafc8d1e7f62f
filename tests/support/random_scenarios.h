// Seeded random requests, most of them valid: any mix of models, clusters, mappings, batches, precisions and engines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/api.h"
#include "core/base/json.h"
#include "core/base/quantity.h"
#include "core/catalogue/presets.h"

namespace slipstick::testing {

// Gives the same sequence on every platform, unlike the distributions of <random>.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2685821657736338717u + 88172645463325252u) {}

  std::uint64_t Below(std::uint64_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ % n;
  }
  bool Chance(int percent) { return Below(100) < static_cast<std::uint64_t>(percent); }
  template <class T>
  T Of(const std::vector<T>& choices) {
    return choices[Below(choices.size())];
  }
  // 1, 2, 4, … up to a limit.
  Count PowerOfTwo(Count limit) {
    Count exponents = 1;
    while ((Count{1} << exponents) <= limit) ++exponents;
    return Count{1} << Below(static_cast<std::uint64_t>(exponents));
  }

 private:
  std::uint64_t state_;
};

inline std::vector<std::string> PresetIds(std::string_view kind) {
  std::vector<std::string> ids;
  const Json presets = *ParseJson(PresetsAnswer(kind).text);
  for (const Json& preset : presets) ids.push_back(preset["id"].get<std::string>());
  return ids;
}

// One model per family: dense, with windows, with experts, with latent attention, and hybrids with each kind of
// recurrence.
inline const std::vector<std::string>& ModelFamilies() {
  static const std::vector<std::string> families{
      "llama-3.1-8b",       "bloom-7b1",     "mistral-7b",       "gemma-3-4b",          "gpt-oss-20b",
      "mixtral-8x7b",       "llama-4-scout", "deepseek-v2-lite", "deepseek-v3",         "glm-4.5-air",
      "qwen3-next-80b-a3b", "jamba-v0.1",    "minimax-text-01",  "kimi-linear-48b-a3b", "nemotron-h-8b"};
  return families;
}

struct Catalogue {
  std::vector<std::string> models = PresetIds("model"), clusters = PresetIds("cluster"),
                           frameworks = PresetIds("framework"), engines = PresetIds("engine");
};

inline Json RandomModel(Random& random, const Catalogue& catalogue) {
  if (random.Chance(30)) return Json{{"preset", random.Of(ModelFamilies())}};
  if (random.Chance(40)) return Json{{"preset", random.Of(catalogue.models)}};
  const Count head_dim = random.Of<Count>({64, 80, 128}), heads = 8 * random.Of<Count>({1, 2, 4, 5, 8, 12, 16});
  Json model{{"layers", random.Of<Count>({1, 2, 12, 24, 30, 32, 61, 80, 96})},
             {"hidden", head_dim * heads},
             {"heads", heads},
             {"kv_heads", random.Chance(50) ? heads : 8},
             {"head_dim", head_dim},
             {"ffn", 256 * (1 + static_cast<Count>(random.Below(100)))},
             {"gated", random.Chance(60)},
             {"vocab", random.Of<Count>({32000, 50257, 128256, 256000})},
             {"tied_embeddings", random.Chance(40)}};
  if (random.Chance(25)) {
    model["moe"] = Json{{"experts", random.Of<Count>({8, 64, 256})},
                        {"top_k", random.Of<Count>({1, 2, 8})},
                        {"imbalance", random.Of<double>({1, 1.3, 2})}};
  }
  if (random.Chance(15)) model["sliding_window"] = random.Of<Count>({1024, 4096});
  return model;
}

// The number of routed experts of a request's model; 0 if it has none.
inline Count ExpertsOf(const Json& model) {
  const Json* preset = model.contains("preset") ? FindPreset("model", TextOf(model["preset"])) : nullptr;
  const Json& shape = preset != nullptr ? *preset : model;
  return shape.contains("moe") && shape["moe"].is_object() ? shape["moe"]["experts"].get<Count>() : 0;
}

// Adds degrees for the experts that the devices of a stage allow.
inline void AddExpertDegrees(Random& random, Count experts, Count stage_devices, Json& mapping) {
  const Count tp = mapping["tp"].get<Count>();
  Count ep = random.PowerOfTwo(std::min<Count>(8, stage_devices));
  while (experts % ep != 0) ep /= 2;
  mapping["ep"] = ep;
  mapping["expert_tp"] = stage_devices % (ep * tp) == 0 && random.Chance(50) ? tp : 1;
}

inline Json RandomTraining(Random& random, const Catalogue& catalogue, const Json& model, Count devices) {
  const Count tp = random.PowerOfTwo(std::min<Count>(8, devices));
  const Count pp = random.PowerOfTwo(std::min<Count>(8, devices / tp));
  const Count cp = random.Chance(20) ? random.PowerOfTwo(std::min<Count>(4, devices / tp / pp)) : 1;
  const Count dp = devices / (tp * pp * cp);
  const Count micro_batch = random.PowerOfTwo(4);
  const Count rounds = pp * (1 + static_cast<Count>(random.Below(4)));
  const std::string schedule =
      pp > 1 ? random.Of<std::string>({"1f1b", "1f1b", "gpipe", "zb-h1", "zb-v", "dualpipe"}) : "1f1b";
  const bool interleaves = schedule == "zb-v" || (schedule == "1f1b" && pp > 1 && random.Chance(40));
  Json mapping{{"tp", tp},
               {"pp", pp},
               {"cp", cp},
               {"sequence_parallel", tp > 1 && random.Chance(50)},
               {"virtual_stages", interleaves ? 2 : 1},
               {"schedule", schedule},
               {"zero", static_cast<Count>(random.Below(pp > 1 ? 2 : 4))},
               {"micro_batch", micro_batch}};
  if (const Count experts = ExpertsOf(model); experts > 0 && random.Chance(60))
    AddExpertDegrees(random, experts, devices / pp, mapping);
  Json offload = Json::object();
  if (random.Chance(20)) {
    offload = Json{{"activations", random.Of<double>({0, 0.3, 1})}, {"optimizer", random.Of<double>({0, 0.5, 1})}};
  }
  return Json{{"sequence", random.Of<Count>({512, 2048, 4096, 8192, 32768})},
              {"global_batch", dp * micro_batch * rounds},
              {"tokens", random.Of<std::string>({"1 Gtoken", "300 Gtoken", "15 Ttoken"})},
              {"precision", random.Of<std::string>({"bf16", "bf16", "fp16", "fp8", "fp32", "tf32"})},
              {"optimizer", random.Of<std::string>({"adamw", "adamw", "sgd", "adafactor", "adam8bit", "muon"})},
              {"recompute", random.Of<std::string>({"none", "selective", "full", "auto"})},
              {"flash_attention", random.Chance(80)},
              {"framework", Json{{"preset", random.Of(catalogue.frameworks)}}},
              {"trainable", random.Chance(15) ? "lora" : "all"},
              {"offload", offload},
              {"mapping", mapping}};
}

inline Json RandomServing(Random& random, const Catalogue& catalogue, Count devices) {
  const Count tp = random.PowerOfTwo(std::min<Count>(8, devices));
  const Count pp = random.Chance(20) ? random.PowerOfTwo(std::min<Count>(4, devices / tp)) : 1;
  const std::string precision = random.Of<std::string>({"bf16", "bf16", "fp16", "fp8"});
  Json serving{
      {"prompt", random.Of<Count>({1, 128, 2048, 8192, 32768})},
      {"output", random.Of<Count>({1, 2, 128, 2048})},
      {"batch", random.Of<Count>({1, 1, 2, 8, 32, 128})},
      {"devices", tp * pp * random.PowerOfTwo(std::max<Count>(1, devices / tp / pp))},
      {"engine", Json{{"preset", random.Of(catalogue.engines)}}},
      {"precision",
       {{"weights", precision}, {"activations", precision}, {"kv_cache", random.Chance(30) ? "fp8" : precision}}},
      {"mapping", {{"tp", tp}, {"pp", pp}}}};
  if (random.Chance(20)) serving["batch"] = "max";
  if (random.Chance(10)) serving["prefix_hit"] = 0.5;
  if (random.Chance(10)) serving["concurrency"] = random.PowerOfTwo(4096);
  return serving;
}

inline Json RandomRequest(std::uint64_t seed, const Catalogue& catalogue) {
  Random random(seed + 1);
  const Count devices = random.PowerOfTwo(4096);
  Json request{{"version", 1}, {"model", RandomModel(random, catalogue)}};
  std::string cluster = random.Of(catalogue.clusters);
  const bool single = cluster.starts_with("single-");
  request["cluster"] = single ? Json{{"preset", cluster}} : Json{{"preset", cluster}, {"devices", devices}};
  request["training"] =
      random.Chance(10) ? Json(nullptr) : RandomTraining(random, catalogue, request["model"], single ? 1 : devices);
  request["serving"] = random.Chance(10) ? Json(nullptr) : RandomServing(random, catalogue, single ? 1 : devices);
  request["cost"] = random.Chance(10) ? Json(nullptr) : Json::object();
  return request;
}

}  // namespace slipstick::testing
