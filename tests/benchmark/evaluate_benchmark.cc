// Times answers natively. tests/benchmark/module.js times the same requests in the module.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "core/api/api.h"
#include "core/economics/cost.h"
#include "core/economics/device_bill.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "core/serving/serving.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

// The request as the page sends it.
void DefaultScenarioTextToText(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(EvaluateAnswer(R"({"version": 1})", {}, "", false));
}
BENCHMARK(DefaultScenarioTextToText)->Unit(benchmark::kMicrosecond);

void DefaultScenarioWithTimeline(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(EvaluateAnswer(R"({"version": 1})"));
}
BENCHMARK(DefaultScenarioWithTimeline)->Unit(benchmark::kMicrosecond);

void DefaultScenarioAllExplained(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(EvaluateAnswer(R"({"version": 1})", {}, "*"));
}
BENCHMARK(DefaultScenarioAllExplained)->Unit(benchmark::kMillisecond);

void DefaultScenarioExplained(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(EvaluateAnswer(R"({"version": 1})", {}, "training.step_time_s"));
}
BENCHMARK(DefaultScenarioExplained)->Unit(benchmark::kMicrosecond);

Scenario DefaultScenario() {
  Result<Scenario> scenario = ParseScenario(DefaultRequest(1));
  if (!scenario) std::abort();
  return *scenario;
}

void ReadDefaultScenario(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ParseScenario(DefaultRequest(1)));
}
BENCHMARK(ReadDefaultScenario)->Unit(benchmark::kMicrosecond);

void TrainingFigures(benchmark::State& state) {
  const Scenario scenario = DefaultScenario();
  for (auto _ : state) {
    benchmark::DoNotOptimize(EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {false, false}));
  }
}
BENCHMARK(TrainingFigures)->Unit(benchmark::kMicrosecond);

void ServingFigures(benchmark::State& state) {
  const Scenario scenario = DefaultScenario();
  for (auto _ : state)
    benchmark::DoNotOptimize(EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, false));
}
BENCHMARK(ServingFigures)->Unit(benchmark::kMicrosecond);

// A 3D-parallel step with its schedule: 8 stages of 2 chunks and 32 micro-batches.
void Gpt3Step(benchmark::State& state) {
  Result<Json> request = ReadRequest(
      R"({"version": 1})", {"model=gpt3-175b", "cluster=dgx-a100", "cluster.devices=1024", "training.sequence=2048",
                            "training.global_batch=512", "training.mapping.tp=8", "training.mapping.pp=8",
                            "training.mapping.virtual_stages=2", "serving=null", "cost=null"});
  if (!request) std::abort();
  Result<Scenario> scenario = ParseScenario(std::move(*request));
  if (!scenario) std::abort();
  for (auto _ : state) {
    benchmark::DoNotOptimize(EvaluateTraining(scenario->model, scenario->cluster, *scenario->training, {false, true}));
  }
}
BENCHMARK(Gpt3Step)->Unit(benchmark::kMicrosecond);

void Costs(benchmark::State& state) {
  const Scenario scenario = DefaultScenario();
  for (auto _ : state) benchmark::DoNotOptimize(EvaluateCost(scenario.cluster, *scenario.cost));
}
BENCHMARK(Costs)->Unit(benchmark::kMicrosecond);

void OnePackage(benchmark::State& state) {
  const Scenario scenario = DefaultScenario();
  for (auto _ : state)
    benchmark::DoNotOptimize(PriceDevice(scenario.cost->device, ComputeGeometry(scenario.cost->device)));
}
BENCHMARK(OnePackage)->Unit(benchmark::kMicrosecond);

void ThousandMappings(benchmark::State& state) {
  for (auto _ : state) {
    Scenario scenario = DefaultScenario();
    for (int i = 0; i < 1000; ++i) {
      TrainingMapping& mapping = scenario.training->mapping;
      mapping = {};
      mapping.tp = Count{1} << (i % 4);
      mapping.pp = Count{1} << (i / 4 % 4);
      mapping.micro_batch = Count{1} << (i / 16 % 3);
      mapping.sequence_parallel = mapping.tp > 1;
      Issues issues;
      ValidateAndFillDefaults(*scenario.training, scenario.model, scenario.cluster, "training", issues);
      benchmark::DoNotOptimize(EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {false, false}));
    }
  }
}
BENCHMARK(ThousandMappings)->Unit(benchmark::kMillisecond);

void KernelLine(benchmark::State& state) {
  const std::string request =
      R"({"device": {"preset": "h100-sxm5-80gb"}, "operator": {"kind": "gemm", "m": 4096, "n": 8192, "k": 8192, "precision": "bf16"}})";
  for (auto _ : state) benchmark::DoNotOptimize(KernelAnswer(request));
}
BENCHMARK(KernelLine)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace slipstick

BENCHMARK_MAIN();
