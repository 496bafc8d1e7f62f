// Random training scenarios: any model on any cluster or single device under any framework, with a written mapping.
#pragma once

#include <string>

#include "core/catalogue/presets.h"
#include "tests/core/training/scenarios.h"

namespace slipstick {

class PresetDice {
 public:
  explicit PresetDice(std::uint64_t seed) : state_(seed * 2654435761U + 7) {}
  template <class T>
  T One(std::initializer_list<T> values) {
    return *(values.begin() + Below(values.size()));
  }
  std::string Number(std::initializer_list<int> values) { return std::to_string(One(values)); }
  std::string Preset(std::string_view kind) {
    std::vector<std::string_view> ids;
    for (const PresetText& preset : PresetTexts()) {
      if (preset.kind == kind) ids.push_back(preset.id);
    }
    return std::string(ids[Below(ids.size())]);
  }

 private:
  std::uint64_t Below(std::uint64_t count) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33) % count;
  }
  std::uint64_t state_;
};

struct DrawnRun {
  std::string text;
  Result<Scenario> scenario;  // most are valid
};

inline std::string MemberText(const std::string& name, const std::string& value) {
  return ", \"" + name + "\": " + value;
}
inline std::string QuotedText(const std::string& text) { return '"' + text + '"'; }

inline std::string DrawnMapping(PresetDice& dice, bool has_experts) {
  const std::string schedule = dice.One({"1f1b", "1f1b", "1f1b", "gpipe", "zb-h1", "zb-v", "dualpipe"});
  const int pp = dice.One({1, 1, 2, 4});
  std::string chunks = "1";
  if (pp > 1 && schedule == "zb-v") chunks = "2";
  if (pp > 1 && schedule == "1f1b") chunks = dice.Number({1, 1, 2, 3});
  return "{\"tp\": " + dice.Number({1, 1, 2, 4, 8}) + MemberText("pp", std::to_string(pp)) +
         MemberText("virtual_stages", chunks) + MemberText("schedule", QuotedText(pp > 1 ? schedule : "1f1b")) +
         MemberText("cp", dice.Number({1, 1, 1, 2})) +
         MemberText("cp_kind", QuotedText(dice.One({"ring", "all_gather", "ulysses"}))) +
         MemberText("zero", dice.Number({0, 1, 2, 3})) + MemberText("sequence_parallel", dice.One({"true", "false"})) +
         MemberText("ep", has_experts ? dice.Number({1, 2, 4, 8}) : "1") + "}";
}

inline DrawnRun DrawnTraining(std::uint64_t seed) {
  PresetDice dice(seed);
  const std::string model = dice.Preset("model");
  const bool single = dice.One({0, 0, 1}) == 1;
  const std::string cluster = single ? QuotedText("single-" + dice.Preset("device"))
                                     : "{\"preset\": " + QuotedText(dice.Preset("cluster")) +
                                           MemberText("devices", dice.Number({8, 16, 64})) + "}";
  const bool has_experts = FindPreset("model", model)->contains("moe");
  const std::string training =
      "{\"framework\": " + QuotedText(dice.Preset("framework")) + MemberText("sequence", "2048") +
      MemberText("global_batch", "384") +
      MemberText("recompute", QuotedText(dice.One({"none", "none", "selective", "full"}))) +
      MemberText("precision", QuotedText(dice.One({"bf16", "bf16", "fp8"}))) +
      MemberText("trainable", QuotedText(dice.One({"all", "all", "all", "lora"}))) +
      MemberText("flash_attention", dice.One({"true", "true", "false"})) +
      MemberText("offload",
                 dice.One({"{}", "{}", "{}", "{\"activations\": 0.5}", "{\"optimizer\": 1}", "{\"parameters\": 1}"})) +
      MemberText("mapping", DrawnMapping(dice, has_experts)) + "}";
  const std::string text = "{\"version\": 1, \"model\": " + QuotedText(model) + MemberText("cluster", cluster) +
                           MemberText("training", training) + MemberText("serving", "null") +
                           MemberText("cost", "null") + "}";
  return {text, ParseScenario(*ParseJson(text))};
}

}  // namespace slipstick
