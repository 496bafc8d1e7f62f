// Every device, cluster and model of the catalogue gives a report of valid numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/api/api.h"
#include "core/hardware/cluster.h"
#include "core/operators/efficiency.h"
#include "core/scenario/answer.h"
#include "tests/core/preset.h"

namespace slipstick {
namespace {

bool IsOptional(const std::string& key) {
  return key.starts_with("cost_") || key == "simulated" || key == "sessions" || key == "session_usd" ||
         key == "pools" || key == "prefill_pool" || key == "timeline_cut" || key.ends_with("_percentiles_s");
}

// No figure is NaN (null in JSON) or negative, except the free memory of a scenario that does not fit. Null are prices
// without the cost question, simulated figures without a simulation, figures of pools without pools, and the cut of a
// whole timeline.
void ExpectFigures(const Json& json, const std::string& path) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (!value.is_null() || !IsOptional(key)) ExpectFigures(value, JoinPath(path, key));
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) ExpectFigures(json[i], path + "." + std::to_string(i));
  } else if (json.is_number()) {
    EXPECT_TRUE(json.get<double>() >= 0 || path.ends_with("memory_headroom_bytes")) << path;
    EXPECT_TRUE(std::isfinite(json.get<double>())) << path;
  } else {
    EXPECT_FALSE(json.is_null()) << path;
  }
}

// Checks that the request has a report and that its parts hold no null figure.
void ExpectAnswer(const Json& request, const std::string& name) {
  const Answer answer = EvaluateAnswer(JsonText(request));
  for (const Issue& issue : answer.issues) ADD_FAILURE() << name << ": " << issue.path << " " << issue.message;
  const Result<Json> report = ParseJson(answer.text);
  ASSERT_TRUE(report) << name;
  for (const char* part : {"training", "serving", "cost"}) {
    if (report->contains(part) && !(*report)[part].is_null()) ExpectFigures((*report)[part], name + " " + part);
  }
}

TEST(Catalogue, EveryDeviceAnswersAlone) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "device") continue;
    const std::string id(preset.id);
    ExpectAnswer(Json{{"model", {{"preset", "llama-3.2-1b"}}},
                      {"cluster", {{"preset", "single-" + id}}},
                      {"training", {{"global_batch", 1}, {"mapping", {{"tp", 1}}}}},
                      {"serving", {{"batch", 1}, {"mapping", {{"tp", 1}}}}}},
                 id);
  }
}

TEST(Catalogue, EveryClusterAnswers) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "cluster") continue;
    const std::string id(preset.id);
    const Count devices = FromPreset<Cluster>(preset.id).devices;
    ExpectAnswer(Json{{"model", {{"preset", "llama-3.2-1b"}}},
                      {"cluster", {{"preset", id}}},
                      {"training", {{"global_batch", 2 * devices}, {"mapping", {{"tp", 1}}}}},
                      {"serving", {{"batch", 4}, {"devices", 1}, {"mapping", {{"tp", 1}}}}}},
                 id);
  }
}

// Most models do not fit on one device, but the report still has their figures.
TEST(Catalogue, EveryModelAnswers) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "model") continue;
    const std::string id(preset.id);
    ExpectAnswer(Json{{"model", {{"preset", id}}},
                      {"cluster", {{"preset", "single-gb300"}}},
                      {"training", {{"global_batch", 1}, {"sequence", 1024}, {"mapping", {{"tp", 1}}}}},
                      {"serving", {{"batch", 1}, {"prompt", 512}, {"output", 64}, {"mapping", {{"tp", 1}}}}}},
                 id);
  }
}

FlopsPerSecond GemmRate(std::string_view device, double m, double n, double k, const char* precision) {
  const Json request{{"device", {{"preset", device}}},
                     {"operator", {{"kind", "gemm"}, {"m", m}, {"n", n}, {"k", k}, {"precision", precision}}}};
  const Answer answer = KernelAnswer(JsonText(request));
  if (!answer.issues.empty()) ADD_FAILURE() << device << answer.text;
  return 2 * m * n * k * kFlop / ((*ParseJson(answer.text))["time_s"].get<double>() * kS);
}

// A large GEMM approaches the data sheet's rate and never exceeds it.
TEST(Catalogue, NoDeviceMultipliesFasterThanItsDataSheet) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind != "device") continue;
    const double share =
        GemmRate(preset.id, 8192, 8192, 8192, "bf16") / PeakRate(FromPreset<Device>(preset.id), Precision::kBf16);
    EXPECT_LE(share, 1) << preset.id;
    EXPECT_GE(share, 0.25) << preset.id << ": its architecture, caches, units or clock are missing or wrong";
  }
}

// Measured by PyTorch in 16 and 8 bits: 620 and 990 TFLOP/s (SemiAnalysis, MI300X vs H100 vs H200, December 2024).
TEST(Catalogue, Mi300xMultipliesAsMeasured) {
  EXPECT_NEAR(GemmRate("mi300x", 16384, 8192, 1280, "bf16") / (620 * kTFlops), 1, 0.1);
  EXPECT_NEAR(GemmRate("mi300x", 16384, 8192, 1280, "fp8") / (990 * kTFlops), 1, 0.1);
}

}  // namespace
}  // namespace slipstick
