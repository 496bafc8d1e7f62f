// Studies: expectations can fail, and quotes of the paper are separate from our reading.
#include "core/studies/paper_study.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "core/catalogue/presets.h"

namespace slipstick {
namespace {

std::vector<std::string> StudyIds() {
  std::vector<std::string> ids;
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind == "study") ids.emplace_back(preset.id);
  }
  return ids;
}

// The verdicts of a study whose figures are a function of the label's index in the expectation.
Json Judged(const std::string& id, const std::function<double(std::size_t place)>& figure) {
  const Json& study = *FindPreset("study", id);
  Json points = Json::array();
  std::vector<std::string> labels;
  const auto add = [&](const Json& label) {
    for (const std::string& known : labels) {
      if (label == Json(known)) return;
    }
    labels.push_back(label.get<std::string>());
  };
  for (const Json& expectation : study["expect"]) {
    for (const char* member : {"along", "of", "at"}) {
      if (!expectation.contains(member)) continue;
      for (const Json& label : expectation[member]) add(label);
    }
  }
  for (std::size_t place = 0; place < labels.size(); ++place) {
    Json figures = Json::object();
    for (const Json& path : study["report"]) figures[path.get<std::string>()] = figure(place);
    points.push_back(Json{{"label", labels[place]}, {"figures", std::move(figures)}, {"issues", Json::array()}});
  }
  return (*ParseJson(StudyOfPointsAnswer(id, JsonText(points)).text))["expectations"];
}

// Predictions proportional to the measurements, and predictions that fall as these grow.
TEST(PaperStudy, CorrelatesPredictedWithMeasured) {
  const Json expectation = [] {
    const Json& expected = (*FindPreset("study", "flash-attention-versions"))["expect"];
    return *std::find_if(expected.begin(), expected.end(), [](const Json& one) { return one.contains("matches"); });
  }();
  const auto correlation = [&expectation](double slope) {
    Json points = Json::array();
    double measured = 1;
    for (const Json& label : expectation["at"]) {
      const auto path = expectation["matches"].get<std::string>();
      points.push_back(Json{{"label", label},
                            {"figures", {{path, 100 + slope * measured}}},
                            {"measured", {{path, measured}}},
                            {"issues", Json::array()}});
      measured *= 2;
    }
    const Json answer = *ParseJson(StudyOfPointsAnswer("flash-attention-versions", JsonText(points)).text);
    for (const Json& verdict : answer["expectations"])
      if (verdict["found"].is_object() && verdict["found"].contains("correlation"))
        return verdict["found"]["correlation"].get<double>();
    return 0.0;
  };
  EXPECT_NEAR(correlation(3), 1, 1e-12);
  EXPECT_NEAR(correlation(-1), -1, 1e-12);
}

TEST(PaperStudy, EqualFiguresMeetOnlyFlatExpectations) {
  for (const std::string& id : StudyIds()) {
    const Json& expected = (*FindPreset("study", id))["expect"];
    const Json verdicts = Judged(id, [](std::size_t) { return 0.125; });
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      EXPECT_EQ(verdicts[i]["holds"], Json(expected[i].contains("flat")))
          << id << ": " << verdicts[i]["text"].get<std::string>();
    }
  }
}

TEST(PaperStudy, TenfoldRisesMeetOnlyRisingExpectations) {
  for (const std::string& id : StudyIds()) {
    const Json& expected = (*FindPreset("study", id))["expect"];
    const Json verdicts =
        Judged(id, [](std::size_t place) { return std::pow(10.0, -15.0 + static_cast<double>(place)); });
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      if (expected[i].contains("rises") || expected[i].contains("falls")) continue;
      EXPECT_EQ(verdicts[i]["holds"], Json(false)) << id << ": " << verdicts[i]["text"].get<std::string>();
    }
  }
}

// 22 billion parameters do not fit an A100 without recomputation, but do with full recomputation.
TEST(PaperStudy, InfeasiblePointsSayWhy) {
  int infeasible = 0, feasible = 0;
  const Json points = (*ParseJson(StudyAnswer("training-memory").text))["points"];
  for (const Json& point : points) {
    const bool fits = point["figures"]["training.feasible"].get<bool>();
    (fits ? feasible : infeasible) += 1;
    EXPECT_EQ(point.contains("reason"), !fits) << point["label"];
    if (point.contains("reason")) {
      EXPECT_EQ(point["reason"].get<std::string>().rfind("Out of memory: ", 0), 0U) << point["label"];
    }
  }
  EXPECT_GT(infeasible, 0);
  EXPECT_GT(feasible, 0);
}

TEST(PaperStudy, NoBandIsWiderThanAFactorOfFour) {
  for (const std::string& id : StudyIds()) {
    for (const Json& expectation : (*FindPreset("study", id))["expect"]) {
      if (!expectation.contains("low")) continue;
      EXPECT_LE(expectation["high"].get<double>(), 4 * expectation["low"].get<double>())
          << id << ": " << JsonText(expectation);
    }
  }
}

TEST(PaperStudy, EveryBandCitesItsOrigin) {
  for (const std::string& id : StudyIds()) {
    for (const Json& expectation : (*FindPreset("study", id))["expect"]) {
      if (!expectation.contains("low") && !expectation.contains("within")) continue;
      ASSERT_TRUE(expectation.contains("source")) << id << ": " << JsonText(expectation);
      EXPECT_GT(expectation["source"].get<std::string>().size(), 20U) << id << ": " << JsonText(expectation);
    }
  }
}

std::ptrdiff_t Words(const std::string& text) {
  std::istringstream words(text);
  return std::distance(std::istream_iterator<std::string>(words), {});
}

TEST(PaperStudy, TheTextOfAStudyHasAtMostSixtyWords) {
  for (const std::string& id : StudyIds()) {
    const Json& study = *FindPreset("study", id);
    EXPECT_LE(Words(study["our_reading"].get<std::string>() + " " + study["differs"].get<std::string>()), 60) << id;
  }
}

TEST(PaperStudy, EveryStudyQuotesThePaperAndStatesOurReading) {
  for (const std::string& id : StudyIds()) {
    const Json& study = *FindPreset("study", id);
    const std::string says = study["paper_says"].get<std::string>();
    EXPECT_TRUE(says.starts_with("Abstract: “") || says.starts_with("Caption of Figure ")) << id << ": " << says;
    EXPECT_TRUE(says.ends_with("”")) << id << ": " << says;
    EXPECT_TRUE(study.contains("our_reading")) << id;
    EXPECT_EQ(JsonText(study).find("not public"), std::string::npos) << id;
  }
}

}  // namespace
}  // namespace slipstick
