// Physical laws on ten thousand random mappings with every feature: figures are finite and add up, no efficiency
// exceeds the hardware, exposed communication never exceeds link time, better hardware is never slower, and
// recomputation never keeps more.
#include <cmath>

#include "tests/core/training/scenarios.h"

namespace slipstick {
namespace {

constexpr int kMappings = 10000;
constexpr double kRounding = 1 + 1e-9;

class Dice {
 public:
  explicit Dice(unsigned seed) : state_(seed) {}
  Count Of(std::initializer_list<Count> values) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return *(values.begin() + (state_ >> 33) % values.size());
  }
  template <class T>
  const T& One(const std::vector<T>& values) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return values[(state_ >> 33) % values.size()];
  }
  std::optional<bool> Maybe() {
    const Count value = Of({0, 1, 2, 2, 2});
    return value == 2 ? std::nullopt : std::optional<bool>(value == 1);
  }

 private:
  std::uint64_t state_;
};

Scenario Made(const std::string& model, const std::string& cluster, const std::string& framework) {
  return TrainingScenario(
      R"({"preset": ")" + model + R"("})", R"({"preset": ")" + cluster + R"(", "devices": 64})",
      R"({"sequence": 4096, "global_batch": 512, "framework": {"preset": ")" + framework + R"("}})");
}

// A random mapping; null if it is invalid.
std::optional<Scenario> DrawScenario(Dice& dice) {
  static const std::vector<Scenario> models = [] {
    std::vector<Scenario> made;
    for (const char* id :
         {"llama-3.1-8b", "llama-2-70b", "mixtral-8x7b", "deepseek-v3", "gpt3-175b", "gemma-2-9b", "gpt-oss-20b"}) {
      made.push_back(Made(id, "dgx-h100", "megatron"));
    }
    return made;
  }();
  static const std::vector<Scenario> clusters = [] {
    std::vector<Scenario> made;
    for (const char* id :
         {"dgx-v100", "dgx-a100", "dgx-h100", "dgx-b200", "gb200-nvl72", "hgx-mi300x", "tpu-v5p-pod", "pcie-server"}) {
      made.push_back(Made("llama-3.1-8b", id, "megatron"));
    }
    return made;
  }();
  static const std::vector<Scenario> frameworks = [] {
    std::vector<Scenario> made;
    for (const char* id : {"megatron", "megatron-2022", "megatron-deepspeed", "fsdp", "fsdp-eager", "composer",
                           "internevo", "nanotron", "xla"}) {
      made.push_back(Made("llama-3.1-8b", "dgx-h100", id));
    }
    return made;
  }();
  Scenario scenario = dice.One(models);
  scenario.cluster = dice.One(clusters).cluster;
  TrainingRun& run = *scenario.training;
  run.framework = dice.One(frameworks).training->framework;
  run.framework.experts.dispatch = static_cast<ExpertDispatch>(dice.Of({0, 1}));
  TrainingMapping& mapping = run.mapping;
  mapping = {};
  run.devices = 64;
  run.sequence = dice.Of({2048, 4096, 32768});
  run.precision =
      static_cast<Precision>(dice.Of({static_cast<Count>(Precision::kBf16), static_cast<Count>(Precision::kFp8)}));
  run.recompute = static_cast<Recompute>(dice.Of({0, 1, 2, 3}));
  run.flash_attention = dice.Of({0, 1, 1}) == 1;
  run.trainable = dice.Of({0, 0, 0, 1}) == 1 ? Trainable::kLora : Trainable::kAll;
  run.optimizer = static_cast<Optimizer>(dice.Of({0, 0, 1, 2, 3, 4}));
  run.offload = {0.25 * static_cast<double>(dice.Of({0, 0, 0, 2, 4})),
                 0.25 * static_cast<double>(dice.Of({0, 0, 0, 2, 4}))};
  run.offload.parameters = run.offload.activations;
  if (scenario.model.moe) scenario.model.moe->capacity_factor = 0.5 * static_cast<double>(dice.Of({0, 0, 2, 3}));
  mapping.tp = dice.Of({1, 2, 4, 8});
  mapping.sequence_parallel = dice.Of({0, 1}) == 1;
  mapping.cp = dice.Of({1, 1, 2, 4});
  mapping.cp_kind = static_cast<ContextKind>(dice.Of({0, 1, 2}));
  mapping.pp = dice.Of({1, 1, 2, 4, 8});
  mapping.schedule =
      mapping.pp > 1 ? static_cast<PipelineSchedule>(dice.Of({0, 0, 1, 2, 3, 4})) : PipelineSchedule::kOneFOneB;
  mapping.virtual_stages = mapping.schedule == PipelineSchedule::kZbV                          ? 2
                           : mapping.pp > 1 && mapping.schedule == PipelineSchedule::kOneFOneB ? dice.Of({1, 1, 2, 3})
                                                                                               : 1;
  mapping.ep = scenario.model.moe ? dice.Of({1, 2, 4, 8}) : 1;
  mapping.expert_tp = scenario.model.moe ? dice.Of({1, 1, 2}) : 1;
  mapping.micro_batch = dice.Of({1, 1, 2});
  mapping.zero = dice.Of({0, 1, 1, 2, 3});
  if (dice.Of({0, 0, 1}) == 1) mapping.shard_within = 2;
  mapping.order = dice.Of({0, 0, 1}) == 1 ? "tp-pp-cp-ep-dp" : "tp-cp-ep-dp-pp";
  mapping.overlap = {dice.Maybe(), dice.Maybe(), dice.Maybe(), dice.Maybe()};
  Issues issues;
  ValidateAndFillDefaults(run, scenario.model, scenario.cluster, "training", issues);
  return issues.empty() ? std::optional<Scenario>(scenario) : std::nullopt;
}

std::string Text(const Scenario& scenario) {
  const TrainingRun& run = *scenario.training;
  const TrainingMapping& m = run.mapping;
  return scenario.model.name + " on " + scenario.cluster.name + ", " + run.framework.preset + ", " +
         std::string(NameOf(m.schedule)) + ", tp " + std::to_string(m.tp) + " cp " + std::to_string(m.cp) + " pp " +
         std::to_string(m.pp) + " v " + std::to_string(m.virtual_stages) + " ep " + std::to_string(m.ep) + " zero " +
         std::to_string(m.zero) + " mb " + std::to_string(m.micro_batch) + " s " + std::to_string(run.sequence) + " " +
         std::string(NameOf(run.recompute)) + (run.flash_attention ? " flash" : " unfused") + " " +
         std::string(NameOf(run.precision)) + " " + std::string(NameOf(run.trainable));
}

void ScaleRates(PeakRates& peak, double factor) {
  for (std::optional<FlopsPerSecond> PeakRates::* rate :
       {&PeakRates::fp32, &PeakRates::tf32, &PeakRates::fp16, &PeakRates::bf16, &PeakRates::fp8, &PeakRates::int8,
        &PeakRates::fp4, &PeakRates::int4}) {
    if (peak.*rate) *(peak.*rate) *= factor;
  }
}

void ExpectSound(const TrainingReport& report) {
  const StepTime& t = report.time;
  EXPECT_EQ(report.step_time, t.Total());
  for (const Seconds part :
       {t.forward, t.backward, t.recompute, t.tp, t.cp, t.ep, t.pp, t.dp, t.bubble, t.optimizer, t.other, t.offload}) {
    EXPECT_TRUE(std::isfinite(part.base()) && part.base() >= 0);
  }
  const LinkTime& link = report.communication;
  EXPECT_LE(t.tp.base(), link.tp.base() * kRounding);
  EXPECT_LE(t.cp.base(), link.cp.base() * kRounding);
  EXPECT_LE(t.ep.base(), link.ep.base() * kRounding);
  EXPECT_LE(t.pp.base(), link.pp.base() * kRounding);
  EXPECT_LE(t.dp.base(), link.dp.base() * kRounding);
  EXPECT_LE(t.offload.base(), link.offload.base() * kRounding);
  EXPECT_LE(report.arithmetic_utilization, 1);
  EXPECT_GT(report.arithmetic_utilization, 0);
  EXPECT_LT(report.hardware_flops_utilization, 1);
  EXPECT_LE(report.model_flops_utilization, report.hardware_flops_utilization);
  Bytes sum;
  for (const Bytes part : {report.memory.weights, report.memory.gradients, report.memory.optimizer,
                           report.memory.activations, report.memory.workspace}) {
    EXPECT_TRUE(std::isfinite(part.base()) && part.base() >= 0);
    sum += part;
  }
  EXPECT_EQ(sum, report.memory.Total());
  for (const TrainingStage& stage : report.stages) EXPECT_LE(stage.memory.Total(), report.memory.Total());
  EXPECT_TRUE(report.run.goodput >= 0 && report.run.goodput <= 1);
}

class Guards : public ::testing::TestWithParam<int> {};
constexpr int kShards = 8;

TEST_P(Guards, HoldOnRandomMappings) {
  Dice dice(1000 + GetParam());
  int tried = 0;
  while (tried < kMappings / kShards && !HasFailure()) {
    const std::optional<Scenario> drawn = DrawScenario(dice);
    if (!drawn) continue;
    ++tried;
    SCOPED_TRACE(Text(*drawn));
    const TrainingReport report = Evaluated(*drawn);
    ExpectSound(report);
    Count layers = 0;
    for (const TrainingStage& stage : report.stages) layers += stage.layers;
    EXPECT_EQ(layers, drawn->model.layers);
    const double time = report.step_time.base() * kRounding;
    const auto changed = [&](auto change) {
      Scenario scenario = *drawn;
      change(scenario);
      return Evaluated(scenario);
    };
    const auto expect_not_slower = [&](const char* what, auto change) {
      EXPECT_LE(changed(change).step_time.base(), time) << what;
    };
    const double factor = 1 + 0.01 * static_cast<double>(dice.Of({2, 50, 300}));
    expect_not_slower("more FLOP/s", [&](Scenario& s) { ScaleRates(s.cluster.device.peak, factor); });
    expect_not_slower("more memory bandwidth", [&](Scenario& s) { s.cluster.device.memory.bandwidth *= factor; });
    expect_not_slower("more memory", [&](Scenario& s) {
      s.cluster.device.memory.capacity *= factor;
      if (s.cluster.device.memory.usable) *s.cluster.device.memory.usable *= factor;
    });
    expect_not_slower("more network bandwidth", [&](Scenario& s) {
      for (NetworkLevel& level : s.cluster.networks) level.bandwidth *= factor;
    });
    expect_not_slower("a faster inner network", [&](Scenario& s) { s.cluster.networks.front().bandwidth *= factor; });
    expect_not_slower("a faster outer network", [&](Scenario& s) { s.cluster.networks.back().bandwidth *= factor; });
    expect_not_slower("a faster host link", [&](Scenario& s) { s.cluster.device.host.bandwidth *= factor; });
    const auto with_flash = [&](bool flash) {
      return changed([&](Scenario& s) { s.training->flash_attention = flash; });
    };
    const TrainingReport fused = with_flash(true), unfused = with_flash(false);
    const bool fits = unfused.infeasible.empty();
    if (fits || drawn->training->recompute != Recompute::kAuto) {
      EXPECT_LE(fused.step_time.base(), unfused.step_time.base() * kRounding) << "flash attention is slower";
    }
    EXPECT_TRUE(!fits || fused.infeasible.empty()) << "flash attention does not fit";
    const auto with = [&](Recompute recompute) {
      return changed([&](Scenario& s) { s.training->recompute = recompute; });
    };
    const TrainingReport none = with(Recompute::kNone), selective = with(Recompute::kSelective),
                         full = with(Recompute::kFull), least = with(Recompute::kAuto);
    const auto kept = [](const TrainingReport& one) { return one.memory.Total().base(); };
    const auto repeated = [](const TrainingReport& one) { return one.time.recompute.base(); };
    EXPECT_LE(kept(selective), kept(none) * kRounding) << "selective recomputation keeps more";
    EXPECT_LE(kept(full), kept(selective) * kRounding) << "full recomputation keeps more";
    EXPECT_LE(repeated(selective), repeated(full) * kRounding) << "selective recomputation repeats more";
    EXPECT_LE(repeated(least), repeated(full) * kRounding) << "as little as fits repeats more";
    if (!(drawn->training->offload.activations > 0)) {  // repeating can beat a slow host link
      EXPECT_LE(none.step_time.base(), selective.step_time.base() * kRounding) << "keeping all takes longer";
      EXPECT_TRUE(!none.infeasible.empty() || repeated(least) == 0) << "repeats what fits";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Shards, Guards, ::testing::Range(0, kShards));

}  // namespace
}  // namespace slipstick
