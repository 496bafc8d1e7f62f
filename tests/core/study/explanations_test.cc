// Every explanation of every golden scenario: its formula, evaluated with the values of its terms, gives its value; each
// term that names where it comes from has the value that stands there.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "golden_requests.h"
#include "tests/support/answers.h"
#include "tests/support/formula.h"

namespace slipstick::testing {
namespace {

constexpr double kTolerance = 1e-12;

bool Near(double a, double b) { return std::abs(a - b) <= kTolerance * std::fmax(std::abs(a), std::abs(b)); }

TEST(Formula, EvaluatesTheLanguageOfTheTrace) {
  const std::map<std::string, double> symbols{{"a", 3}, {"b_2", 4}, {"zero", 0}};
  const auto value = [&](std::string_view text) {
    const FormulaResult result = EvaluateFormula(text, symbols);
    EXPECT_EQ(result.fault, "") << text;
    return result.value;
  };
  EXPECT_EQ(value("a + b_2 * 2"), 11);
  EXPECT_EQ(value("(a + b_2) * 2 / 7 - 1"), 1);
  EXPECT_EQ(value("-a - -b_2"), 1);
  EXPECT_EQ(value("12 / a / 2"), 2);
  EXPECT_EQ(value("1.5e3 * a"), 4500);
  EXPECT_EQ(value("max(a, b_2, 1) + min(a, b_2)"), 7);
  EXPECT_EQ(value("norm(a, b_2, 2)"), 5);
  EXPECT_EQ(value("norm(a, b_2, 1) + norm(zero, zero, 2)"), 7);
  EXPECT_EQ(value("pow(a, 2) + sqrt(b_2) + log2(8) + exp(zero) + log(1) + ceil(0.5) + floor(1.5)"), 9 + 2 + 3 + 1 + 0 + 1 + 1);
}

TEST(Formula, NamesWhatItDoesNotUnderstand) {
  const std::map<std::string, double> symbols{{"a", 3}};
  for (const char* text : {"a + b", "a +", "(a", "a.b", "sin(a)", "max(a)", "a ? 1 : 2", "a b", ""}) {
    EXPECT_NE(EvaluateFormula(text, symbols).fault, "") << text;
  }
}

class Explanations : public ::testing::TestWithParam<GoldenRequest> {};

TEST_P(Explanations, HoldForEveryFigure) {
  const Json request = *ParseJson(GetParam().text);
  const Json report = Ask(request, "*");
  ASSERT_TRUE(report.contains("explanations")) << JsonText(report).substr(0, 500);
  std::set<std::pair<std::string, double>> known;
  for (const Json& figure : report["explanations"]) known.insert({figure["path"].get<std::string>(), figure["value"].get<double>()});

  for (const Json& figure : report["explanations"]) {
    const std::string path = figure["path"].get<std::string>();
    const std::string formula = figure["formula"].get<std::string>();
    SCOPED_TRACE(path + " = " + formula);
    ASSERT_TRUE(figure["value"].is_number());
    EXPECT_NE(figure["title"], "");
    std::map<std::string, double> symbols;
    for (const Json& term : figure["terms"]) {
      const std::string symbol = term["symbol"].get<std::string>();
      ASSERT_TRUE(term["value"].is_number()) << symbol;
      symbols[symbol] = term["value"].get<double>();
      EXPECT_NE(formula.find(symbol), std::string::npos) << symbol << " is not in the formula";
      const std::string origin = term["origin"].get<std::string>();
      if (origin.empty()) continue;
      if (const Json* input = Find(report["scenario"], origin)) {
        if (input->is_number()) {
          EXPECT_TRUE(Near(input->get<double>(), term["value"].get<double>()))
              << symbol << " differs from input " << origin << " " << JsonText(*input);
        }
      } else {
        EXPECT_TRUE(known.contains({origin, term["value"].get<double>()})) << symbol << " differs from figure " << origin;
      }
    }
    const FormulaResult result = EvaluateFormula(formula, symbols);
    EXPECT_EQ(result.fault, "");
    EXPECT_TRUE(Near(result.value, figure["value"].get<double>())) << result.value << " is not " << figure["value"].get<double>();
  }
}

TEST_P(Explanations, GiveTheNumbersThatTheReportShows) {
  const Json report = Ask(*ParseJson(GetParam().text), "*");
  ASSERT_TRUE(report.contains("explanations"));
  int shown = 0;
  std::map<std::string, double> latest;
  for (const Json& figure : report["explanations"]) latest[figure["path"].get<std::string>()] = figure["value"].get<double>();
  for (const auto& [path, value] : latest) {
    const Json* number = Find(report, path);
    if (number == nullptr || !number->is_number()) continue;
    ++shown;
    const double shown_in = path.ends_with("_per_million_tokens") ? 1e6 : 1;
    EXPECT_TRUE(Near(number->get<double>(), value * shown_in)) << path << " is " << number->get<double>() << " but explained as " << value;
  }
  EXPECT_GT(shown, 0);
}

// What a person may ask "why" about.
constexpr const char* kExplained[] = {"training.step_time_s",
                                      "training.time_to_train_s",
                                      "training.tokens_per_s",
                                      "training.tokens_per_s_per_device",
                                      "training.model_flops_utilization",
                                      "training.hardware_flops_utilization",
                                      "training.model_flops_per_step",
                                      "training.time_s.forward",
                                      "training.time_s.backward",
                                      "training.time_s.bubble",
                                      "training.time_s.optimizer",
                                      "training.memory_bytes.weights",
                                      "training.memory_bytes.gradients",
                                      "training.memory_bytes.optimizer",
                                      "training.memory_bytes.activations",
                                      "training.memory_bytes.total",
                                      "training.energy_j",
                                      "training.cost_usd",
                                      "serving.ttft_s",
                                      "serving.tpot_s",
                                      "serving.request_latency_s",
                                      "serving.prefill_s",
                                      "serving.decode_step_s",
                                      "serving.tokens_per_s",
                                      "serving.tokens_per_s_per_device",
                                      "serving.tokens_per_s_per_user",
                                      "serving.kv_cache_bytes_per_token",
                                      "serving.kv_cache_bytes",
                                      "serving.max_batch",
                                      "serving.max_context",
                                      "serving.memory_bytes.weights",
                                      "serving.memory_bytes.kv_cache",
                                      "serving.memory_bytes.total",
                                      "serving.cost_usd_per_million_tokens",
                                      "serving.energy_j_per_token",
                                      "cost.device_usd",
                                      "cost.system_usd",
                                      "cost.device_hour_usd"};

TEST_P(Explanations, AnswerEveryWhy) {
  const Json report = Ask(*ParseJson(GetParam().text), "*");
  ASSERT_TRUE(report.contains("explanations"));
  std::set<std::string> explained;
  for (const Json& figure : report["explanations"]) explained.insert(figure["path"].get<std::string>());
  for (const char* path : kExplained) {
    const Json* number = Find(report, path);
    if (number == nullptr || !number->is_number()) continue;
    EXPECT_TRUE(explained.contains(path)) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Explanations, ::testing::ValuesIn(GoldenRequests()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace slipstick::testing
