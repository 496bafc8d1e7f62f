// Every explanation of every golden scenario and of a model of every family: its formula, evaluated with the values of
// its terms, gives its value, and each term with an origin has that origin's value.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "golden_requests.h"
#include "tests/support/answers.h"
#include "tests/support/formula.h"
#include "tests/support/random_scenarios.h"

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
  EXPECT_EQ(value("pow(a, 2) + sqrt(b_2) + log2(8) + exp(zero) + log(1) + ceil(0.5) + floor(1.5)"),
            9 + 2 + 3 + 1 + 0 + 1 + 1);
}

TEST(Formula, NamesUnknownSymbols) {
  const std::map<std::string, double> symbols{{"a", 3}};
  for (const char* text : {"a + b", "a +", "(a", "a.b", "sin(a)", "max(a)", "a ? 1 : 2", "a b", ""}) {
    EXPECT_NE(EvaluateFormula(text, symbols).fault, "") << text;
  }
}

// Exactly one of several options was chosen, and none compares better: it has the least time, cost or waste, or the
// most of the figure itself, such as dies per wafer.
bool ChoseTheBest(const Json& figure) {
  std::vector<double> chosen, values;
  for (const Json& option : figure["among"]) {
    values.push_back(option["value"].get<double>());
    if (option["chosen"].get<bool>()) chosen.push_back(values.back());
  }
  if (values.size() < 2 || chosen.size() != 1) return false;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return chosen[0] == *least || (chosen[0] == *most && Near(chosen[0], figure["value"].get<double>()));
}

class Explanations : public ::testing::TestWithParam<GoldenRequest> {};

TEST_P(Explanations, HoldForEveryFigure) {
  const Json request = *ParseJson(GetParam().text);
  const Json report = Ask(request, "*");
  ASSERT_TRUE(report.contains("explanations")) << JsonText(report).substr(0, 500);
  std::set<std::pair<std::string, double>> known;
  for (const Json& figure : report["explanations"])
    known.insert({figure["path"].get<std::string>(), figure["value"].get<double>()});

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
      EXPECT_TRUE(figure.contains("kind") || formula.find(symbol) != std::string::npos)
          << symbol << " is not in the formula";
      const std::string origin = term["origin"].get<std::string>();
      if (origin.empty()) continue;
      if (const Json* input = Find(report["scenario"], origin)) {
        if (input->is_number()) {
          EXPECT_TRUE(Near(input->get<double>(), term["value"].get<double>()))
              << symbol << " differs from input " << origin << " " << JsonText(*input);
        }
      } else {
        EXPECT_TRUE(known.contains({origin, term["value"].get<double>()}))
            << symbol << " differs from figure " << origin;
      }
    }
    if (figure.contains("kind")) {
      EXPECT_EQ(formula, "");
      const std::string kind = TextOf(figure["kind"]);
      EXPECT_TRUE(kind == "choice" ? ChoseTheBest(figure)
                  : kind == "constant"
                      ? !TextOf(figure["source"]).empty()
                      : kind == "procedure" && !TextOf(figure["note"]).empty() && !figure["terms"].empty());
      continue;
    }
    const FormulaResult result = EvaluateFormula(formula, symbols);
    EXPECT_EQ(result.fault, "");
    EXPECT_TRUE(Near(result.value, figure["value"].get<double>()))
        << result.value << " is not " << figure["value"].get<double>();
  }
}

TEST_P(Explanations, GiveTheNumbersThatTheReportShows) {
  const Json report = Ask(*ParseJson(GetParam().text), "*");
  ASSERT_TRUE(report.contains("explanations"));
  int shown = 0;
  std::map<std::string, double> latest;
  for (const Json& figure : report["explanations"])
    latest[figure["path"].get<std::string>()] = figure["value"].get<double>();
  for (const auto& [path, value] : latest) {
    const Json* number = Find(report, path);
    if (number == nullptr || !number->is_number()) continue;
    ++shown;
    const bool in_tonnes = path.find("tco2") != std::string::npos;  // explained in grams
    const double shown_in = path.ends_with("_per_million_tokens") ? 1e6 : in_tonnes ? 1e-6 : 1;
    EXPECT_TRUE(Near(number->get<double>(), value * shown_in))
        << path << " is " << number->get<double>() << " but explained as " << value;
  }
  EXPECT_GT(shown, 0);
}

// Calls visit(path, number) for every number below. Lists are left out: they are rows of tables.
template <class Visit>
void VisitNumbers(const Json& json, const std::string& path, const Visit& visit) {
  if (json.is_number()) visit(path, json.get<double>());
  if (!json.is_object()) return;
  for (const auto& [key, member] : json.items()) VisitNumbers(member, path + "." + key, visit);
}

// Results of simulations have no formula.
bool IsSimulated(const std::string& path) {
  return path.starts_with("serving.simulated.") || path.find("_percentiles_s.") != std::string::npos;
}

// All intervals have the same level.
bool IsLevel(const std::string& path) { return path.ends_with("_interval.level"); }

TEST_P(Explanations, ExistForEveryFigure) {
  const Json report = Ask(*ParseJson(GetParam().text), "*");
  ASSERT_TRUE(report.contains("explanations"));
  std::set<std::string> explained{"serving.batch"};  // an input, or the mean under a load
  for (const Json& figure : report["explanations"]) explained.insert(figure["path"].get<std::string>());
  int numbers = 0;
  for (const char* part : {"training", "serving", "cost"}) {
    VisitNumbers(report[part], part, [&](const std::string& path, double number) {
      ++numbers;
      EXPECT_TRUE(number == 0 || explained.contains(path) || IsSimulated(path) || IsLevel(path)) << path;
    });
  }
  EXPECT_GT(numbers, 40);
}

// The figures and inputs that a figure of the report depends on, itself included.
std::set<std::string> ReachedFrom(const std::string& path, const Json& report) {
  std::map<std::string, std::set<std::string>> rests_on;
  for (const Json& figure : report["explanations"]) {
    std::set<std::string>& origins = rests_on[figure["path"].get<std::string>()];
    for (const Json& term : figure["terms"]) origins.insert(term["origin"].get<std::string>());
  }
  std::set<std::string> seen{path};
  std::vector<std::string> open{path};
  while (!open.empty()) {
    const std::string at = open.back();
    open.pop_back();
    for (const std::string& origin : rests_on[at]) {
      if (seen.insert(origin).second) open.push_back(origin);
    }
  }
  return seen;
}

// A training step time does not depend on packaging, nor a TPOT on training degrees.
TEST_P(Explanations, NeverRestOnAnotherQuestion) {
  const Json report = Ask(*ParseJson(GetParam().text), "*");
  for (const std::string path : {"training.step_time_s", "training.memory_bytes.total", "serving.ttft_s",
                                 "serving.tpot_s", "serving.memory_bytes.total", "cost.device_usd"}) {
    if (Find(report, path) == nullptr) continue;
    const std::string question = path.substr(0, path.find('.'));
    for (const std::string& origin : ReachedFrom(path, report)) {
      for (const std::string other : {"training", "serving", "cost"}) {
        EXPECT_TRUE(other == question || !origin.starts_with(other + ".")) << path << " rests on " << origin;
      }
    }
  }
}

// Derivations lead, term by term, to inputs of the device and the model.
TEST_P(Explanations, TimesLeadToTheDeviceAndTheModel) {
  const Json report = Ask(*ParseJson(GetParam().text), "*");
  for (const char* path : {"training.step_time_s", "training.time_s.forward", "training.time_s.backward",
                           "serving.ttft_s", "serving.tpot_s"}) {
    if (Find(report, path) == nullptr) continue;
    const std::set<std::string> seen = ReachedFrom(path, report);
    for (const char* input :
         {"cluster.device.peak.", "cluster.device.memory.bandwidth", "cluster.device.units", "model."}) {
      const auto starts = [&](const std::string& origin) { return origin.starts_with(input); };
      EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), starts)) << path << " does not rest on " << input;
    }
  }
}

// With its own device, a prefill pool depends on that device and the decode pool on the cluster's.
TEST(PrefillPool, RestsOnItsOwnDevice) {
  const auto ask = [](const char* bandwidth) {
    return Ask(
        *ParseJson(std::string(
                       R"({"cluster": {"preset": "dgx-h200", "devices": 8}, "training": null, "cost": null, "serving": {
        "prompt": 2048, "output": 128, "concurrency": 8, "devices": 8, "mapping": {"tp": 4}, "disaggregated": {"prefill_devices": 4,
        "decode_devices": 4, "prefill_device": {"preset": "h100-sxm5-80gb", "memory": {"bandwidth": ")") +
                   bandwidth + R"("}}}}})"),
        "*");
  };
  const Json report = ask("2 TB/s");
  ASSERT_TRUE(report.contains("explanations")) << JsonText(report).substr(0, 500);
  const std::string own = "serving.disaggregated.prefill_device.", bandwidth = "memory.bandwidth";
  const auto names = [](const std::set<std::string>& origins, const std::string& start) {
    return std::any_of(origins.begin(), origins.end(),
                       [&](const std::string& origin) { return origin.starts_with(start); });
  };
  const std::set<std::string> prefill = ReachedFrom("serving.prefill_s", report);
  EXPECT_TRUE(prefill.contains(own + bandwidth));
  EXPECT_FALSE(names(prefill, "cluster.device."));
  const std::set<std::string> decode = ReachedFrom("serving.capacity_of_the_decode_pool", report);
  EXPECT_TRUE(decode.contains("cluster.device." + bandwidth));
  EXPECT_FALSE(names(decode, own));
  const std::set<std::string> reached = ReachedFrom("serving.ttft_s", report);
  EXPECT_TRUE(reached.contains(own + bandwidth));
  EXPECT_TRUE(reached.contains("cluster.device." + bandwidth));
  EXPECT_LT((*Find(ask("3 TB/s"), "serving.prefill_s")).get<double>(),
            (*Find(report, "serving.prefill_s")).get<double>());
}

// Every kind of load, in addition to the golden scenarios.
const GoldenRequest kLoads[] = {
    {"batch", R"({"training": null, "serving": {"batch": 32, "devices": 8}})"},
    {"largest_batch", R"({"training": null, "serving": {"batch": "max", "devices": 8}})"},
    {"concurrency", R"({"training": null, "serving": {"concurrency": 300, "max_requests": 20, "devices": 8}})"},
    {"waves",
     R"({"training": null, "serving": {"concurrency": 48, "waves": 5, "devices": 8, "engine": "trtllm-0.9"}})"},
    {"arrivals", R"({"training": null, "serving": {"requests_per_s": 2, "devices": 8}})"},
    {"overload", R"({"training": null, "serving": {"requests_per_s": 2000, "devices": 8}})"},
    {"pools_batch", R"({"training": null, "serving": {"batch": 16, "devices": 8, "mapping": {"tp": 4},
        "disaggregated": {"prefill_devices": 4, "decode_devices": 4}}})"},
    {"pools_concurrency", R"({"training": null, "serving": {"concurrency": 500, "devices": 8, "mapping": {"tp": 4},
        "disaggregated": {"prefill_devices": 4, "decode_devices": 4}}})"},
    {"pools_arrivals", R"({"training": null, "serving": {"requests_per_s": 1, "devices": 8, "mapping": {"tp": 4},
        "disaggregated": {"prefill_devices": 4, "decode_devices": 4}}})"},
    {"host_memory",
     R"({"model": "gpt-oss-20b", "cluster": {"preset": "single-rtx-4090"}, "training": null, "serving": {"batch": "max",
        "engine": "llamacpp-2025", "precision": {"weights": "mxfp4", "activations": "fp16"}, "host_experts": {"layers": 12}, "kv_offload": {},
        "prefix_hit": 0.5, "prefix_cache": {"host_share": 0.5, "prefixes": 8}, "mapping": {"tp": 1}}})"},
    {"images", R"({"model": "qwen3-vl-8b", "training": null, "serving": {"batch": 8, "prompt": 4096, "devices": 2,
        "mapping": {"tp": 2}, "images": {"count": 3}}})"},
    {"block_diffusion", R"({"model": "llada2.0-mini", "training": null, "serving": {"batch": 8, "devices": 2,
        "engine": "sglang", "mapping": {"tp": 2}, "block_diffusion": {}}})"},
    {"host_cache", R"({"training": null, "serving": {"batch": "max", "kv_offload": {}, "devices": 8}})"},
    {"attention_dp", R"({"model": "deepseek-v3", "training": null, "serving": {"concurrency": 64, "devices": 16,
        "mapping": {"tp": 1, "attention_dp": 16, "ep": 16}}})"}};
INSTANTIATE_TEST_SUITE_P(Loads, Explanations, ::testing::ValuesIn(kLoads),
                         [](const auto& info) { return std::string(info.param.name); });

// One request per model family, in turn with a pipeline, sharded, or with full recomputation.
std::vector<GoldenRequest> FamilyRequests() {
  static const std::vector<std::string> texts = [] {
    const std::vector<std::string> trainings{
        R"("recompute": "auto", "mapping": {"pp": 2, "virtual_stages": 2, "micro_batch": 1, "zero": 1})",
        R"("framework": {"preset": "fsdp"}, "recompute": "selective", "mapping": {"tp": 2, "zero": 3})",
        R"("recompute": "full", "offload": {"activations": 0.5}, "mapping": {"pp": 2, "schedule": "zb-h1"})"};
    std::vector<std::string> requests;
    for (const std::string& model : ModelFamilies()) {
      requests.push_back(R"({"model": {"preset": ")" + model + R"("}, "cluster": {"preset": "dgx-h200", "devices": 64},
                             "serving": null, "training": {"sequence": 4096, "global_batch": 64, )" +
                         trainings[requests.size() % trainings.size()] + "}}");
    }
    return requests;
  }();
  std::vector<GoldenRequest> requests;
  for (std::size_t i = 0; i < texts.size(); ++i) requests.push_back({ModelFamilies()[i], texts[i]});
  return requests;
}

INSTANTIATE_TEST_SUITE_P(Family, Explanations, ::testing::ValuesIn(FamilyRequests()), [](const auto& info) {
  std::string name(info.param.name);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});
INSTANTIATE_TEST_SUITE_P(Golden, Explanations, ::testing::ValuesIn(GoldenRequests()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace slipstick::testing
