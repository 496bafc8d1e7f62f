// No time falls when work grows: any model on any device under any engine, over fine steps of prompt, batch and
// concurrency.
#include <algorithm>

#include "core/catalogue/presets.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

constexpr int kDrawn = 1500;
constexpr Count kLadder[] = {1,    2,    3,    4,    7,    8,    12,   15,   16,   17,   24,   31,    32,
                             33,   48,   63,   64,   65,   96,   100,  127,  128,  129,  200,  255,   256,
                             257,  300,  384,  400,  500,  512,  513,  640,  768,  1000, 1024, 1025,  1500,
                             2000, 2048, 2049, 3000, 4000, 4096, 4097, 6000, 8000, 8192, 8193, 16384, 16385};
constexpr double kGrain = 0.005;
// Measured attention kernels split a context even where merging costs more than it gains (NVIDIA aiconfigurator, A100
// and H100).
constexpr double kMerged = 0.025;
// Pipeline groups and prompts per pass are mean values: a fraction of a sequence more may fill a tile better.
constexpr double kParts = 0.01;
// In a closed loop longer steps mean fewer arrivals, so that fewer requests find a prefill in progress.
constexpr double kFewerArrivals = 0.04;

class PresetDraw {
 public:
  explicit PresetDraw(std::uint64_t seed) : state_(seed * 2654435761U + 99) {}
  std::uint64_t Below(std::uint64_t count) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33) % count;
  }
  std::string Preset(std::string_view kind) {
    std::vector<std::string_view> ids;
    for (const PresetText& preset : PresetTexts()) {
      if (preset.kind == kind) ids.push_back(preset.id);
    }
    return std::string(ids[Below(ids.size())]);
  }
  std::string One(std::initializer_list<const char*> values) { return *(values.begin() + Below(values.size())); }

 private:
  std::uint64_t state_;
};

struct Watched {
  const char* name;
  Seconds ServingReport::* time;
  double tolerance = kGrain;
};
constexpr Watched kPasses[] = {{"prefill", &ServingReport::prefill},
                               {"static_ttft", &ServingReport::static_ttft},
                               {"static_tpot", &ServingReport::static_tpot, kMerged},
                               {"static_latency", &ServingReport::static_latency, kMerged},
                               {"decode_step", &ServingReport::decode_step, kMerged}};
constexpr Watched kRequests[] = {{"ttft", &ServingReport::ttft, kFewerArrivals},
                                 {"tpot", &ServingReport::tpot, kParts},
                                 {"request_latency", &ServingReport::request_latency, kParts}};

// llama.cpp leaves its matrix-vector kernels at the ninth row even if they are faster (ggml-cuda/mmvq.cuh,
// MMVQ_MAX_BATCH_SIZE). Such engines are left out.
bool SwitchesKernelsByRows(const Scenario& scenario) { return scenario.serving->engine.stored_products.has_value(); }

// A valid deployment, or none.
struct DrawnService {
  std::string text;
  Result<Scenario> scenario;
};
DrawnService DrawnDeployment(std::uint64_t seed) {
  PresetDraw draw(seed);
  std::vector<std::string> drawn{"model=" + draw.Preset("model"), "cluster=" + draw.Preset("cluster"),
                                 "serving.engine=" + draw.Preset("engine")};
  for (const std::string& more :
       {draw.One({"", "", "serving.precision.weights=fp8", "serving.precision.weights=int4"}),
        draw.One({"", "", "serving.mapping.tp=2", "serving.mapping.tp=8", "serving.mapping.pp=2"})}) {
    if (!more.empty()) drawn.push_back(more);
  }
  std::string text;
  for (const std::string& one : drawn) text += one + ' ';
  return {text, ScenarioOf(drawn)};
}

// Compares each time over the steps of one input with the longest before it. It stops where memory lets fewer sequences
// run at once, since steps are then shorter.
template <class Grow, std::size_t kCount>
void ExpectNoFall(const DrawnService& drawn, const Watched (&watched)[kCount], const std::string& what,
                  const Grow& grow) {
  Scenario scenario = *drawn.scenario;
  scenario.serving->prompt = 512;
  scenario.serving->output = 256;
  std::array<Seconds, kCount> longest{};
  for (const Count value : kLadder) {
    const Count asked = grow(*scenario.serving, value);
    const ServingReport report = EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, false);
    if (report.max_batch < asked) break;
    for (std::size_t i = 0; i < kCount; ++i) {
      const Seconds time = report.*watched[i].time;
      EXPECT_GE(time * (1 + watched[i].tolerance), longest[i])
          << drawn.text << watched[i].name << ", " << what << ' ' << value;
      longest[i] = max(longest[i], time);
    }
  }
}

TEST(MoreWork, IsNeverAShorterPass) {
  int valid = 0;
  for (std::uint64_t seed = 0; seed < kDrawn; ++seed) {
    const DrawnService drawn = DrawnDeployment(seed);
    if (!drawn.scenario || SwitchesKernelsByRows(*drawn.scenario)) continue;
    ++valid;
    for (const Count batch : {1, 64}) {
      const auto prompt = [&](ServingLoad& load, Count value) {
        load.batch = {false, batch}, load.prompt = value;
        return batch;
      };
      ExpectNoFall(drawn, kPasses, "batch " + std::to_string(batch) + " prompt", prompt);
    }
    const auto batch = [](ServingLoad& load, Count value) {
      load.batch = {false, value};
      return value;
    };
    ExpectNoFall(drawn, kPasses, "batch", batch);
  }
  EXPECT_GT(valid, kDrawn / 5);
}

TEST(MoreWork, IsNeverASoonerAnswer) {
  for (std::uint64_t seed = 0; seed < kDrawn; ++seed) {
    const DrawnService drawn = DrawnDeployment(seed);
    // Requests whose prompts share a pass by design finish it together, so the time to first token jumps where fewer
    // share one.
    if (!drawn.scenario || drawn.scenario->serving->engine.scheduler.groups_prefills ||
        SwitchesKernelsByRows(*drawn.scenario))
      continue;
    const auto prompt = [](ServingLoad& load, Count value) {
      load.batch = {false, 64}, load.prompt = value;
      return Count{64};
    };
    const auto concurrency = [](ServingLoad& load, Count value) {
      load.concurrency = value;
      return Count{1};
    };
    ExpectNoFall(drawn, kRequests, "prompt", prompt);
    ExpectNoFall(drawn, kRequests, "concurrency", concurrency);
  }
}

}  // namespace
}  // namespace slipstick
