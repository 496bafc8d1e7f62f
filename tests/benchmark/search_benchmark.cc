// Mappings per second and core. --benchmark_repetitions=9 gives median and spread; module.js does the same in the
// module.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "core/exploration/search_job.h"
#include "core/exploration/search_spec.h"
#include "core/scenario/request.h"
#include "core/scenario/scenario.h"

namespace slipstick {
namespace {

Json RequestOf(const char* text) {
  Result<Json> json = ParseJson(text);
  if (json) (*json)["version"] = 1;
  if (json) json = CompleteRequest(std::move(*json));
  if (!json) std::abort();
  return *json;
}

void Decide(benchmark::State& state, const Json& request, const SearchSpec& spec) {
  Count decided = 0;
  for (auto _ : state) {
    const Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(request, spec);
    if (!job) std::abort();
    while ((*job)->Step(4096)) {
    }
    decided += (*job)->progress().done;
  }
  state.SetItemsProcessed(decided);
}

// calculon's default question (Isaev et al., SC 2023), whose space without offloading has 88,484 points.
void Gpt3On64(benchmark::State& state) {
  SearchSpec spec;
  if (state.range(0) != 0) spec.pareto = {"memory_headroom_bytes"};
  Decide(state, RequestOf(R"({"model": {"preset": "gpt3-175b"}, "cluster": {"preset": "dgx-a100", "devices": 64},
      "training": {"sequence": 2048, "global_batch": 64}, "serving": null, "cost": null})"),
         spec);
}
BENCHMARK(Gpt3On64)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void Llama70BOn512(benchmark::State& state) {
  Decide(state, RequestOf(R"({"model": {"preset": "llama-3.1-70b"}, "cluster": {"preset": "dgx-h100", "devices": 512},
      "training": {"sequence": 8192, "global_batch": 512}, "serving": null, "cost": null})"),
         {});
}
BENCHMARK(Llama70BOn512)->Unit(benchmark::kMillisecond);

void ServeDeepSeekOn64(benchmark::State& state) {
  SearchSpec spec;
  spec.part = "serving";
  spec.pareto = {"tokens_per_s_per_user"};
  spec.limits = {"tpot_s<=50 ms"};
  Decide(state,
         RequestOf(
             R"({"model": {"preset": "deepseek-v3"}, "cluster": {"preset": "dgx-h200", "devices": 64}, "training": null,
      "serving": {"devices": 64, "precision": {"weights": "fp8", "activations": "fp8", "kv_cache": "fp8"}}, "cost": null})"),
         spec);
}
BENCHMARK(ServeDeepSeekOn64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slipstick

BENCHMARK_MAIN();
