// Five thousand seeded scenarios: parts add up exactly, figures are non-negative numbers, feasible scenarios fit, and
// no time falls when work grows. For two thousand of them, no time grows on stronger hardware. Shards run in parallel,
// and a failure names a small range of seeds.
#include "tests/support/random_scenarios.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "core/evaluation/evaluate.h"
#include "core/scenario/parse_scenario.h"
#include "tests/support/answers.h"
#include "tests/support/sound.h"

namespace slipstick::testing {
namespace {

constexpr int kScenarios = 5000, kOnStrongerHardware = 2000, kShards = 8;
constexpr std::size_t kLongestReport = 4'000'000;
// Allows for rounding: the guarded figures are sums and quotients of many terms.
constexpr double kSlack = 1 + 1e-9;

double Sum(const Json& object, std::initializer_list<const char*> members) {
  double sum = 0;
  for (const char* member : members) sum += Number(object, member);
  return sum;
}

double SumOfParts(const Json& parts) {
  double sum = 0;
  for (const Json& part : parts) sum += Number(part, "cost_usd");
  return sum;
}

// The parts of a time by bound add up to the whole, and the levels of the network to its network part, except for
// rounding.
void ExpectBoundsAddUp(const Json& parts, const Json& levels, double whole, const std::string& path) {
  const auto bounds = {"compute", "l1", "l2", "memory", "network", "latency", "bubble"};
  EXPECT_NEAR(Sum(parts, bounds) / whole, 1, 1e-9) << path;
  double network = 0;
  for (const Json& level : levels) network += Number(level, "time_s");
  EXPECT_LE(std::fabs(network - Number(parts, "network")), 1e-9 * whole) << path;
}

void ExpectTimesAndEnergiesAddUp(const Json& report) {
  if (const Json* training = Find(report, "training"); training != nullptr && training->is_object()) {
    ExpectBoundsAddUp((*training)["time_by_bound"], (*training)["network_by_level"], Number(*training, "step_time_s"),
                      "training");
    if ((*training)["server_energy_j"].is_number()) {
      const double parts =
          Sum(*training, {"device_energy_j", "server_energy_j", "network_energy_j", "building_energy_j"});
      EXPECT_NEAR(parts / Number(*training, "energy_j"), 1, 1e-9);
    }
  }
  if (const Json* serving = Find(report, "serving"); serving != nullptr && serving->is_object()) {
    for (const auto& [phase, time] : {std::pair{"prefill", "prefill_s"}, std::pair{"decode", "decode_step_s"}}) {
      ExpectBoundsAddUp((*serving)["time_by_bound"][phase], (*serving)["network_by_level"][phase],
                        Number(*serving, time), phase);
    }
    if ((*serving)["server_energy_j_per_token"].is_number()) {
      const double parts = Sum(*serving, {"device_energy_j_per_token", "server_energy_j_per_token",
                                          "network_energy_j_per_token", "building_energy_j_per_token"});
      EXPECT_NEAR(parts / Number(*serving, "energy_j_per_token"), 1, 1e-9);
    }
  }
}

// A feasible scenario fits into memory.
void ExpectFits(const Json& report) {
  for (const char* name : {"training", "serving"}) {
    const Json* part = Find(report, name);
    if (part == nullptr || !part->is_object() || !(*part)["feasible"].get<bool>()) continue;
    EXPECT_LE(Number(*part, "memory_bytes.total"), Number(*part, "memory_bytes.capacity") * kSlack) << name;
  }
}

void ExpectAddsUp(const Json& report) {
  if (const Json* training = Find(report, "training"); training != nullptr && training->is_object()) {
    const auto step = {"forward", "backward", "recompute", "tp",        "cp",    "ep",
                       "pp",      "dp",       "bubble",    "optimizer", "other", "offload"};
    const auto memory = {"weights", "gradients", "optimizer", "activations", "workspace"};
    EXPECT_EQ(Sum(*Find(*training, "time_s"), step), Number(*training, "step_time_s"));
    EXPECT_EQ(Sum(*Find(*training, "memory_bytes"), memory), Number(*training, "memory_bytes.total"));
    Count layers = 0;
    for (const Json& stage : *Find(*training, "stages")) {
      layers += stage["layers"].get<Count>();
      EXPECT_EQ(Sum(stage["memory_bytes"], memory), Number(stage, "memory_bytes.total"));
      EXPECT_LE(Number(stage, "memory_bytes.total"), Number(*training, "memory_bytes.total") * kSlack);
    }
    EXPECT_EQ(layers, Find(report, "scenario.model.layers")->get<Count>());
  }
  if (const Json* serving = Find(report, "serving"); serving != nullptr && serving->is_object()) {
    EXPECT_EQ(Sum(*Find(*serving, "memory_bytes"), {"weights", "kv_cache", "activations", "workspace"}),
              Number(*serving, "memory_bytes.total"));
  }
  if (const Json* cost = Find(report, "cost"); cost != nullptr && cost->is_object()) {
    for (const char* bill : {"device_usd", "system_usd", "device_hour_usd"}) {
      EXPECT_EQ(SumOfParts((*cost)[std::string(bill) + "_parts"]), Number(*cost, bill)) << bill;
    }
  }
}

// The operators of serving add up to its passes.
void ExpectOperatorsAddUp(const Json& report) {
  for (const auto& [phase, time] :
       {std::pair{"prefill", "serving.prefill_s"}, std::pair{"decode", "serving.decode_step_s"}}) {
    const Json* operators = Find(report, std::string("serving.operators.") + phase);
    if (operators == nullptr) continue;
    double sum = 0;
    for (const Json& one : *operators) sum += Number(one, "count") * Number(one, "time_s");
    EXPECT_NEAR(sum / Number(report, time), 1, 1e-9) << phase;
  }
}

// A decode step reads the weights and the KV cache once, so it is never faster than the memory. This holds for dense
// models on one stage. The embedding table is looked up, not read; the KV caches of other layers evict a layer's own
// from L2.
void ExpectReadsMemory(const Json& report) {
  if (Find(report, "serving.decode_step_s") == nullptr) return;
  const Json& scenario = *Find(report, "scenario");
  const Json* pp = Find(scenario, "serving.mapping.pp");
  if (pp->get<Count>() > 1 || Find(scenario, "model.moe")->is_object() ||
      Find(scenario, "model.sliding_window")->get<Count>() > 0)
    return;
  const double table = Number(scenario, "model.vocab") * Number(scenario, "model.hidden") * 2;
  const double prompt = Number(scenario, "serving.prompt"), output = Number(scenario, "serving.output");
  const double weights = std::fmax(0, Number(report, "serving.memory_bytes.weights") - table);
  const double cache = Number(report, "serving.kv_cache_bytes") * prompt / (prompt + output) / 2;  // whole pages aside
  EXPECT_GE(Number(report, "serving.decode_step_s") * kSlack * Number(scenario, "cluster.device.memory.bandwidth"),
            weights + cache)
      << "a step faster than its memory";
}

// No figure exceeds what the hardware can do.
void ExpectWithinPeaks(const Json& report) {
  double peak = 0;
  for (const auto& [precision, rate] : Find(report, "scenario.cluster.device.peak")->items()) {
    if (rate.is_number()) peak = std::fmax(peak, rate.get<double>());
  }
  const auto check = [&](const char* path) {
    const Json* operators = Find(report, path);
    if (operators == nullptr) return;
    for (const Json& one : *operators) {
      const double time = Number(one, "time_s");
      EXPECT_LE(Number(one, "flops"), peak * time * kSlack) << path << ' ' << TextOf(one["name"]);
    }
  };
  check("training.operators");
  check("serving.operators.prefill");
  check("serving.operators.decode");
  if (Find(report, "training.arithmetic_utilization") != nullptr) {
    EXPECT_LE(Number(report, "training.model_flops_utilization_causal"), 1);
    EXPECT_LE(Number(report, "training.arithmetic_utilization"), 1);
    // MFU and HFU count attention without its mask by definition; kernels skip at most half of it.
    EXPECT_LE(Number(report, "training.model_flops_utilization"),
              Number(report, "training.model_flops_per_step") / Number(report, "training.model_flops_per_step_causal"));
    EXPECT_LE(Number(report, "training.hardware_flops_utilization"), 2);
  }
  if (Find(report, "training.time_s") != nullptr) {
    for (const char* part : {"tp", "cp", "ep", "pp", "dp", "offload"}) {
      EXPECT_LE(Number(report, std::string("training.time_s.") + part),
                Number(report, std::string("training.communication_s.") + part) * kSlack)
          << part << " exposed past its link time";
    }
  }
}

std::string AnswerTo(const Json& request) { return EvaluateAnswer(JsonText(WithVersion(request)), {}, "").text; }

// The figures of training and serving, or the issues. It skips request and answer texts, operators and intervals, which
// take longer than the figures.
Json FiguresOf(const Json& request) {
  const Result<Scenario> scenario = ParseScenario(request);
  if (!scenario) return Json{{"issues", scenario.issues[0].message}};
  Result<Json> report = Evaluate(*scenario, ReportDetail::Figures({"training", "serving"}));
  if (!report) return Json{{"issues", report.issues[0].message}};
  return std::move(*report);
}

// `better` is `report`'s scenario on stronger hardware: no time may grow.
void ExpectNotSlower(const Json& report, const Json& better, const std::string& change) {
  for (const char* time : {"training.step_time_s", "serving.prefill_s", "serving.decode_step_s", "serving.ttft_s",
                           "serving.tpot_s", "serving.static_latency_s", "serving.request_latency_s"}) {
    if (Find(report, time) == nullptr || Find(better, time) == nullptr) continue;
    // With a fixed number of users who send their next request at once, faster tokens bring the next prompts sooner,
    // and prompts wait for each other.
    const Json* arrivals = Find(report, "scenario.serving.requests_per_s");
    if (time == std::string_view("serving.ttft_s") && (arrivals == nullptr || !arrivals->is_number())) continue;
    EXPECT_LE(Number(better, time), Number(report, time) * kSlack) << time << " with " << change;
  }
  for (const char* part : {"training", "serving"}) {
    const Json* feasible = Find(report, std::string(part) + ".feasible");
    if (feasible != nullptr && feasible->get<bool>()) {
      EXPECT_TRUE(Find(better, std::string(part) + ".feasible")->get<bool>()) << part << " with " << change;
    }
  }
}

void Scale(Json& scenario, const std::string& path, double factor) {
  if (const Json* value = Find(scenario, path); value != nullptr && value->is_number()) {
    SetPath(scenario, path, value->get<double>() * factor);
  }
}

void ExpectStrongerNotSlower(const Json& report, double factor) {
  Json bandwidth = report["scenario"];
  Scale(bandwidth, "cluster.device.memory.bandwidth", factor);
  ExpectNotSlower(report, FiguresOf(bandwidth), "more memory bandwidth");

  Json rates = report["scenario"];
  Json& peak = rates["cluster"]["device"]["peak"];
  for (Json& rate : peak) {
    if (rate.is_number()) rate = rate.get<double>() * factor;
  }
  ExpectNotSlower(report, FiguresOf(rates), "more FLOP/s");

  Json links = report["scenario"];
  for (Json& level : links["cluster"]["networks"]) level["bandwidth"] = level["bandwidth"].get<double>() * factor;
  ExpectNotSlower(report, FiguresOf(links), "more network bandwidth");

  // With more memory an engine runs more requests at once, each of them slower, so only training is compared.
  Json memory = report["scenario"];
  memory["serving"] = nullptr;
  Scale(memory, "cluster.device.memory.capacity", factor);
  Scale(memory, "cluster.device.memory.usable", factor);
  Json alone = report;
  alone.erase("serving");
  ExpectNotSlower(alone, FiguresOf(memory), "more memory");
}

void ExpectTrainingChoicesOrdered(const Json& report) {
  if (Find(report, "training.step_time_s") == nullptr) return;
  const auto with = [&](const char* path, Json value) {
    Json scenario = report["scenario"];
    scenario["serving"] = nullptr;
    SetPath(scenario, path, std::move(value));
    return FiguresOf(scenario);
  };
  const double flash = Number(with("training.flash_attention", true), "training.step_time_s");
  const double unfused = Number(with("training.flash_attention", false), "training.step_time_s");
  EXPECT_LE(flash, unfused * kSlack) << "flash attention is slower";
  const auto memory = [&](const char* recompute) {
    return Number(with("training.recompute", recompute), "training.memory_bytes.total");
  };
  const double none = memory("none"), selective = memory("selective"), full = memory("full");
  EXPECT_LE(selective, none * kSlack) << "selective recomputation keeps more";
  EXPECT_LE(full, selective * kSlack) << "full recomputation keeps more";
}

// An input that adds work, and the times that it must not lower. A wider product may fill its tiles better, and
// measured attention kernels split a context even where merging costs more than it gains
// (core/serving/more_work_test.cc).
struct Growth {
  const char* input;
  std::vector<std::pair<const char*, double>> times;  // with their tolerances
};
const std::vector<Growth>& Growths() {
  constexpr double kTiles = 0.005, kMerged = 0.025;
  static const std::vector<Growth> growths{
      {"training.sequence", {{"training.step_time_s", kTiles}, {"training.memory_bytes.total", kTiles}}},
      {"training.global_batch", {{"training.step_time_s", kTiles}, {"training.memory_bytes.total", kTiles}}},
      {"serving.prompt",
       {{"serving.prefill_s", kTiles},
        {"serving.decode_step_s", kMerged},
        {"serving.static_latency_s", kMerged},
        {"serving.kv_cache_bytes", 0}}},
      {"serving.output",
       {{"serving.decode_step_s", kMerged}, {"serving.static_latency_s", kMerged}, {"serving.kv_cache_bytes", 0}}},
      {"serving.batch",
       {{"serving.decode_step_s", kMerged},
        {"serving.static_ttft_s", kTiles},
        {"serving.static_latency_s", kMerged},
        {"serving.kv_cache_bytes", 0}}}};
  return growths;
}

void ExpectMoreWorkTakesLonger(const Json& report, std::uint64_t seed) {
  const Growth& growth = Growths()[seed % Growths().size()];
  Json scenario = report["scenario"];
  const Json* value = Find(scenario, growth.input);
  if (value == nullptr || !value->is_number()) return;
  SetPath(scenario, growth.input, value->get<Count>() * static_cast<Count>(2 + seed / 7 % 3));
  const Json grown = FiguresOf(scenario);
  if (grown.contains("issues")) return;
  // With less memory per sequence, fewer run at once and a step is shorter. One more row may select another kernel.
  const bool serves = std::string_view(growth.input).starts_with("serving");
  if (serves && (Number(grown, "serving.batch") < Number(report, "serving.batch") ||
                 Find(report, "scenario.serving.engine.stored_products")->is_object())) {
    return;
  }
  // Automatic recomputation may free more memory than the work added.
  const Json* recompute = Find(report, "scenario.training.recompute");
  const bool is_chosen = recompute != nullptr && *recompute == "auto";
  for (const auto& [path, tolerance] : growth.times) {
    if (is_chosen && path == std::string_view("training.memory_bytes.total")) continue;
    EXPECT_GE(Number(grown, path) * (1 + tolerance) * kSlack, Number(report, path))
        << path << " with more of " << growth.input;
  }
}

class RandomScenarios : public ::testing::TestWithParam<int> {};

TEST_P(RandomScenarios, AreSoundAndObeyPhysics) {
  const Catalogue catalogue;
  int answered = 0;
  constexpr int kEach = kScenarios / kShards;
  for (int seed = GetParam() * kEach; seed < (GetParam() + 1) * kEach && !HasFailure(); ++seed) {
    const Json request = RandomRequest(static_cast<std::uint64_t>(seed), catalogue);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + JsonText(request));
    const std::string answer = AnswerTo(request);
    const Json report = Json::parse(answer, nullptr, false);  // the answer may exceed the size limit of a request
    ASSERT_FALSE(report.is_discarded()) << "the answer is no JSON";
    EXPECT_LE(answer.size(), kLongestReport);
    if (report.contains("issues")) {
      for (const Json& issue : report["issues"]) EXPECT_NE(issue["message"], "");
      continue;
    }
    ++answered;
    ExpectSoundReport(report);
    ExpectAddsUp(report);
    ExpectOperatorsAddUp(report);
    ExpectReadsMemory(report);
    ExpectWithinPeaks(report);
    EXPECT_EQ(AnswerTo(report["scenario"]), answer) << "the resolved scenario reads back as another";
    ExpectTimesAndEnergiesAddUp(report);
    ExpectFits(report);
    ExpectMoreWorkTakesLonger(report, static_cast<std::uint64_t>(seed));
    if (seed % kEach >= kOnStrongerHardware / kShards) continue;
    ExpectStrongerNotSlower(report, std::array{1.02, 1.5, 3.0}[static_cast<std::size_t>(seed % 3)]);
    ExpectTrainingChoicesOrdered(report);
  }
  // Most drawn requests are valid.
  EXPECT_TRUE(HasFailure() || answered > kEach / 2) << answered;
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomScenarios, ::testing::Range(0, kShards));

}  // namespace
}  // namespace slipstick::testing
