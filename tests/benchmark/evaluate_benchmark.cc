// How long answers take, natively. tests/benchmark/module.js times the same requests in the module.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "core/base/trace.h"
#include "core/serving/serving.h"
#include "core/study/answer.h"
#include "core/study/scenario.h"
#include "core/training/training.h"

namespace slipstick {
namespace {

void DefaultScenarioTextToText(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(EvaluateAnswer(""));
}
BENCHMARK(DefaultScenarioTextToText)->Unit(benchmark::kMicrosecond);

void DefaultScenarioExplained(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(EvaluateAnswer("", {}, "training.step_time_s"));
}
BENCHMARK(DefaultScenarioExplained)->Unit(benchmark::kMicrosecond);

Scenario DefaultScenario() {
  Result<Scenario> scenario = ParseScenario(DefaultRequest());
  if (!scenario) std::abort();
  return *scenario;
}

void ReadDefaultScenario(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ParseScenario(DefaultRequest()));
}
BENCHMARK(ReadDefaultScenario)->Unit(benchmark::kMicrosecond);

void TrainingFigures(benchmark::State& state) {
  const Scenario scenario = DefaultScenario();
  Trace trace = Trace::Off();
  for (auto _ : state) {
    benchmark::DoNotOptimize(EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {false, false}, trace));
  }
}
BENCHMARK(TrainingFigures)->Unit(benchmark::kMicrosecond);

// A 3D-parallel step whose schedule has 9,216 passes.
void Gpt3Step(benchmark::State& state) {
  const Result<Json> request =
      ReadRequest("", {"model=gpt3-175b", "cluster=dgx-a100", "cluster.devices=512", "training.sequence=2048", "training.global_batch=1536",
                       "training.mapping.pp=8", "training.mapping.virtual_stages=3"});
  if (!request) std::abort();
  const Result<Scenario> scenario = ParseScenario(*request);
  if (!scenario) std::abort();
  Trace trace = Trace::Off();
  for (auto _ : state) {
    benchmark::DoNotOptimize(EvaluateTraining(scenario->model, scenario->cluster, *scenario->training, {false, false}, trace));
  }
}
BENCHMARK(Gpt3Step)->Unit(benchmark::kMicrosecond);

void ServingFigures(benchmark::State& state) {
  const Scenario scenario = DefaultScenario();
  Trace trace = Trace::Off();
  for (auto _ : state) benchmark::DoNotOptimize(EvaluateServing(scenario.model, scenario.cluster, *scenario.serving, false, trace));
}
BENCHMARK(ServingFigures)->Unit(benchmark::kMicrosecond);

void ThousandMappings(benchmark::State& state) {
  Trace trace = Trace::Off();
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
      Complete(*scenario.training, scenario.model, scenario.cluster, "training", issues);
      benchmark::DoNotOptimize(EvaluateTraining(scenario.model, scenario.cluster, *scenario.training, {false, false}, trace));
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
