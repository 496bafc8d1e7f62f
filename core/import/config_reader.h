// Used by all readers of a config.json: its keys on top of the family's defaults, and the model to fill.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "core/base/schema.h"
#include "core/import/config_families.h"

namespace slipstick {

using Keys = std::initializer_list<const char*>;

// A config on top of the family's defaults. A key may be a path ("ffn_config.moe_top_k"); null counts as absent.
class Config {
 public:
  Config(Json json, Issues& issues) : json_(std::move(json)), issues_(issues) {}

  [[nodiscard]] const Json* Find(Keys keys) const {
    for (const std::string key : keys) {
      const Json* at = &json_;
      for (std::size_t from = 0; at != nullptr && from <= key.size();) {
        const std::size_t dot = std::min(key.find('.', from), key.size());
        const auto member = at->is_object() ? at->find(key.substr(from, dot - from)) : at->end();
        at = at->is_object() && member != at->end() ? &*member : nullptr;
        from = dot + 1;
      }
      if (at != nullptr && !at->is_null()) return at;
    }
    return nullptr;
  }
  std::optional<double> Number(Keys keys) {
    const Json* found = Find(keys);
    if (found == nullptr) return std::nullopt;
    // Hunyuan lists a number per layer; layers are alike here.
    const bool is_list = found->is_array() && !found->empty();
    const Json& one = is_list ? found->front() : *found;
    const bool is_same = !is_list || std::count(found->begin(), found->end(), one) == std::ssize(*found);
    if (is_same && one.is_number() && std::isfinite(one.get<double>())) return one.get<double>();
    issues_.push_back(
        {*keys.begin(), std::string(is_same ? "Must be a number, not " : "Must be the same in all layers, not ") +
                            internal::Shown(*found)});
    return std::nullopt;
  }
  std::optional<Count> Whole(Keys keys) {
    const std::optional<double> number = Number(keys);
    if (!number) return std::nullopt;
    if (*number == std::floor(*number) && std::abs(*number) < 1e12) return static_cast<Count>(*number);
    issues_.push_back({*keys.begin(), "Must be a whole number, not " + NumberText(*number)});
    return std::nullopt;
  }
  Count Needed(Keys keys, const char* what) {
    const std::size_t before = issues_.size();
    const std::optional<Count> whole = Whole(keys);
    if (!whole && issues_.size() == before)
      issues_.push_back({*keys.begin(), std::string("Required: ") + what, {}, true});
    return whole.value_or(1);
  }
  [[nodiscard]] bool Flag(Keys keys) const {
    const Json* found = Find(keys);
    return found != nullptr && found->is_boolean() && found->get<bool>();
  }
  [[nodiscard]] std::string Text(Keys keys) const {
    const Json* found = Find(keys);
    return found != nullptr && found->is_string() ? found->get<std::string>() : "";
  }

 private:
  Json json_;
  Issues& issues_;
};

struct Import {
  const ConfigFamily& family;
  Config& config;
  Json& model;
  Issues& issues;
  std::vector<std::string>& notes;
};

// Gemma 4: the config states the heads of local layers; the others have their own.
void ReadLocalHeads(const Import& in);
// Latent attention, and its indexer.
void ReadLatentAttention(const Import& in);
// MiniMax-M3: blocks of the context, selected by one indexer head per KV head.
void ReadBlockSelection(const Import& in);
// The sliding window, and the period of layers without it.
void ReadWindow(const Import& in);
// Gemma 4 E2B and E4B: layers that share a KV cache, and per-layer embedding tables.
void ReadSharedKv(const Import& in);
// The recurrent layers, if the family has any (a "linear" member of its model).
void ReadRecurrence(const Import& in);
// Attention to a compressed history.
void ReadCompressed(const Import& in);
// The vision encoder of a multimodal checkpoint.
void ReadVision(const Import& in);

}  // namespace slipstick
