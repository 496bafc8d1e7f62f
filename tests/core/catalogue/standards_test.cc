// Defaults that were fitted, measured or stated by somebody are data (core/presets/standards); each number has its
// source.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/catalogue/presets.h"
#include "core/scenario/input_sources.h"
#include "core/scenario/scenario.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

using internal::Kind;
using internal::Type;

// Adds the standards of a type and of the types of its members.
void AddStandards(const Type& type, std::set<std::string>& found) {
  if (type.inner != nullptr) AddStandards(*type.inner, found);
  if (type.kind != Kind::kObject) return;
  if (!type.standard_id.empty()) found.emplace(type.standard_id);
  for (const FieldRow& row : *type.fields) AddStandards(*row.type, found);
}

void AddLeaves(const Json& json, const std::string& path, std::set<std::string>& leaves) {
  if (!json.is_object()) {
    leaves.insert(path);
    return;
  }
  for (const auto& [key, member] : json.items()) AddLeaves(member, JoinPath(path, key), leaves);
}

TEST(Standards, EveryFileHoldsTheDefaultsOfAnInput) {
  std::set<std::string> used, files;
  AddStandards(internal::kType<Scenario>, used);
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind == "standard") files.emplace(preset.id);
  }
  EXPECT_EQ(used, files);
}

TEST(Standards, EveryNumberHasASource) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "standard") continue;
    const Json& entry = *FindPreset(preset.kind, preset.id);
    ASSERT_TRUE(entry.contains("sources")) << preset.id;
    if (entry.contains("preset")) continue;  // that entry has the numbers and their sources
    const Json stated = WithoutRemarks(entry);
    std::set<std::string> leaves;
    AddLeaves(stated, "", leaves);
    leaves.erase("name");
    for (const auto& [key, source] : entry["sources"].items()) {
      EXPECT_GT(TextOf(source).size(), 4u) << preset.id << " " << key;
      // In the key "compute.loss_forward, adapter_traffic" the second name has the parent of the first.
      const std::size_t dot = key.substr(0, key.find(", ")).rfind('.');
      const std::string beside = dot == std::string::npos ? "" : key.substr(0, dot + 1);
      for (std::size_t at = 0; at < key.size(); at = std::min(key.find(", ", at), key.size() - 2) + 2) {
        const std::string name = key.substr(at, key.find(", ", at) - at);
        const std::string path = at == 0 ? name : beside + name;
        EXPECT_NE(MemberAt(stated, path), nullptr) << preset.id << " " << path;
        std::erase_if(leaves, [&](const std::string& leaf) { return leaf == path || leaf.starts_with(path + "."); });
      }
    }
    EXPECT_TRUE(leaves.empty()) << preset.id << " " << *leaves.begin();
  }
}

// Llama 3: 419 interruptions in 54 days on 16,384 devices, one per 2,111.54 device-days; all devices share 2 TB/s of
// storage bandwidth.
TEST(Standards, ApplyWhereARequestStatesNothing) {
  const Interruptions& interruptions = Standard<Scenario>().training->interruptions;
  EXPECT_NEAR(In(interruptions.device_mtbf, kDay), 2111.54, 0.01);
  EXPECT_NEAR(In(interruptions.storage_bandwidth, kGBps), 0.12207, 1e-5);
  const Json scenario = Ask(Json{{"training", {{"interruptions", Json::object()}}}})["scenario"];
  EXPECT_EQ(MemberAt(scenario, "training.interruptions.restart")->get<double>(), 600);
}

// A part that a request opens without members has its defaults too, in optional parts and in the entries of a list.
TEST(Standards, ApplyInOptionalPartsAndInLists) {
  Issues issues;
  Scenario scenario;
  Read(*ParseJson(R"({"post_training": {}, "serving": {"speculative": {},
    "engine": {"layer_split": {}}},
    "cost": {"device": {"dies": [{}]}}})"),
       "", issues, scenario);
  EXPECT_EQ(scenario.post_training->responses_per_prompt, 16);
  EXPECT_EQ(scenario.serving->speculative->acceptance, 0.7);
  EXPECT_EQ(scenario.serving->engine.layer_pipeline->launch_queue, 1024);
  EXPECT_EQ(In(scenario.cost->device.dies.at(0).area, kMm2), 814);
}

TEST(Standards, TheirSourceIsCitedForANumberThatNoPresetStates) {
  const Json scenario = Ask(Json::object())["scenario"];
  const auto sources = InputSources(scenario);
  const auto source = [&](const char* path) {
    const auto found = sources.find(path);
    return found != sources.end() ? std::string(found->second) : "";
  };
  EXPECT_NE(source("training.interruptions.restart").find("MegaScale"), std::string::npos);
  EXPECT_NE(source("training.framework.compute.element_wise").find("155 steps"), std::string::npos);
  EXPECT_NE(source("training.framework.exchange.hiding_share").find("estimate"), std::string::npos);
  EXPECT_NE(source("serving.engine.element_stream").find("vidur"), std::string::npos);
}

}  // namespace
}  // namespace slipstick::testing
