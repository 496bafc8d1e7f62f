// Every expectation of every study fails if the model is broken on purpose: memory, arithmetic or a network costs
// nothing, a fixed cost dominates, or different points have the same inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/catalogue/presets.h"
#include "core/studies/paper_study.h"

namespace slipstick {
namespace {

// broken_models.json: {study: [{"how": words, "inputs": {path: value}, "at": [labels]}]}. The inputs override those of
// the points at the labels, or of all points.
const Json& BrokenModels() {
  static const Json models = [] {
    std::ifstream file(SLIPSTICK_SOURCE_DIR "/tests/core/studies/broken_models.json");
    return Json::parse(file);
  }();
  return models;
}

// The labels that a study's expectations name.
std::set<std::string> LabelsOf(const Json& study) {
  std::set<std::string> labels;
  for (const Json& expectation : study["expect"]) {
    for (const char* member : {"along", "of", "at"}) {
      if (!expectation.contains(member)) continue;
      for (const Json& label : expectation[member]) labels.insert(label.get<std::string>());
    }
  }
  return labels;
}

std::vector<std::string> Split(const std::string& text, const std::string& at) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t to = text.find(at); to != std::string::npos; from = to + at.size(), to = text.find(at, from)) {
    parts.push_back(text.substr(from, to - from));
  }
  parts.push_back(text.substr(from));
  return parts;
}

// The points that the expectations name; points of axes are written out.
Json PointsOf(const Json& study) {
  Json points = Json::array();
  for (const std::string& label : LabelsOf(study)) {
    if (study.contains("axes")) {
      Json overrides = Json::object();
      const std::vector<std::string> values = Split(label, " / ");
      for (std::size_t i = 0; i < values.size(); ++i)
        overrides[Split(study["axes"][i].get<std::string>(), "=")[0]] = values[i];
      points.push_back({{"label", label}, {"overrides", std::move(overrides)}});
      continue;
    }
    for (const Json& point : study["points"]) {
      if (point["label"] == Json(label)) points.push_back(point);
    }
  }
  return points;
}

// The study at the points that its expectations name, with the overrides of `broken`.
Json AnswerOf(const Json& whole, const Json& broken) {
  Json study = whole;
  study["points"] = PointsOf(whole);
  study.erase("axes");
  for (Json& point : study["points"]) {
    const Json at = broken.value("at", Json::array({point["label"]}));
    if (std::find(at.begin(), at.end(), point["label"]) == at.end()) continue;
    for (const auto& [path, value] : broken["inputs"].items()) {
      point["overrides"].erase(path);
      point["overrides"][path] = value;
    }
  }
  return AnswerOfStudy("", study);
}

std::vector<std::string> Studies() {
  std::vector<std::string> ids;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind == "study") ids.emplace_back(preset.id);
  }
  return ids;
}

class BrokenModel : public testing::TestWithParam<std::string> {};

TEST_P(BrokenModel, FailsEveryExpectation) {
  const Json& study = *FindPreset("study", GetParam());
  const Json sound = AnswerOf(study, {{"inputs", Json::object()}})["expectations"];
  std::vector<bool> failed(sound.size());
  for (const Json& broken : BrokenModels().value(GetParam(), Json::array())) {
    const Json answer = AnswerOf(study, broken);
    for (const Json& point : answer["points"]) {
      EXPECT_TRUE(point["issues"].empty()) << broken["how"] << ", " << point["label"] << ": " << point["issues"].dump();
    }
    for (const Json& verdict : answer["expectations"]) {
      EXPECT_EQ(verdict["found"].dump().find("null"), std::string::npos)
          << broken["how"] << ", no figure: " << verdict.dump();
    }
    bool fails_one = false;
    for (std::size_t i = 0; i < sound.size(); ++i) {
      const bool fails = sound[i]["holds"] == Json(true) && answer["expectations"][i]["holds"] == Json(false);
      fails_one = fails_one || fails;
      failed[i] = failed[i] || fails;
    }
    EXPECT_TRUE(fails_one) << "nothing fails where " << broken["how"];
  }
  for (std::size_t i = 0; i < sound.size(); ++i) {
    EXPECT_TRUE(failed[i] || sound[i].contains("missed")) << "fails in no broken model: " << sound[i].dump();
  }
}

INSTANTIATE_TEST_SUITE_P(Studies, BrokenModel, testing::ValuesIn(Studies()), [](const auto& study) {
  std::string name = study.param;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

}  // namespace
}  // namespace slipstick
