// Every explanation of a step: its text, evaluated with the values of its terms, gives its value.
#include <cmath>
#include <map>
#include <set>

#include "tests/core/training/scenarios.h"
#include "tests/support/formula.h"

namespace slipstick {
namespace {

struct Named {
  const char* name;
  const char* model;
  const char* cluster;
  const char* training;
};

constexpr Named kScenarios[] = {
    {"interleaved", R"({"preset": "llama-3.1-70b"})", R"({"preset": "dgx-h100", "devices": 512})",
     R"({"global_batch": 512, "framework": {"preset": "megatron"},
         "mapping": {"tp": 8, "pp": 4, "virtual_stages": 5, "zero": 1, "sequence_parallel": true}})"},
    {"experts", R"({"preset": "deepseek-v3"})", R"({"preset": "dgx-h100", "devices": 256})",
     R"({"sequence": 4096, "global_batch": 512, "precision": "fp8", "framework": {"preset": "megatron", "experts": {"dispatch": "dedicated"}},
         "mapping": {"pp": 8, "ep": 16, "schedule": "dualpipe", "zero": 1}})"},
    {"sharded", R"({"preset": "llama-3.1-8b"})", R"({"preset": "dgx-a100", "devices": 64})",
     R"({"sequence": 8192, "global_batch": 64, "recompute": "selective", "framework": {"preset": "fsdp"}, "mapping": {"zero": 3, "shard_within": 8}})"},
    {"gathered again", R"({"preset": "llama-3.1-8b"})", R"({"preset": "dgx-h100", "devices": 64})",
     R"({"sequence": 8192, "global_batch": 64, "recompute": "selective", "framework": {"preset": "fsdp"},
         "mapping": {"tp": 8, "zero": 3, "sequence_parallel": true, "overlap": {"tp": true}}})"},
    {"sliced", R"({"preset": "llama-3.1-70b"})", R"({"preset": "tpu-v5p-pod", "devices": 128})",
     R"({"sequence": 8192, "global_batch": 64, "framework": {"preset": "xla"}, "mapping": {"tp": 4, "cp": 2, "zero": 3}})"},
    {"padded", R"({"preset": "llama-2-7b"})", R"({"preset": "dgx-h100", "devices": 8})",
     R"({"sequence": 4096, "global_batch": 8, "documents": {"length": 512, "layout": "padded"}, "framework": {"preset": "megatron"}})"},
    {"packed_adapters", R"({"preset": "llama-2-7b"})", R"({"preset": "dgx-a100", "devices": 8})",
     R"({"sequence": 2048, "global_batch": 16, "trainable": "lora", "frozen_precision": "nf4", "recompute": "full",
         "framework": "fsdp-eager", "mapping": {"zero": 3, "micro_batch": 2}})"},
    {"adapters", R"({"preset": "llama-2-70b"})", R"({"preset": "dgx-b200", "devices": 8})",
     R"({"sequence": 8192, "global_batch": 8, "trainable": "lora", "documents": {"length": 512}, "framework": {"preset": "megatron"}, "mapping": {"tp": 4}})"},
    {"adapters everywhere", R"({"preset": "nemotron-h-8b"})", R"({"preset": "dgx-h100", "devices": 8})",
     R"({"sequence": 4096, "global_batch": 8, "trainable": "lora", "framework": {"preset": "megatron", "lora_targets": "all"}, "mapping": {"pp": 2}})"},
    {"adapters of shared caches", R"({"preset": "gemma-4-e2b"})", R"({"preset": "dgx-h100", "devices": 8})",
     R"({"sequence": 4096, "global_batch": 8, "trainable": "lora", "framework": {"preset": "megatron", "lora_targets": "all"}})"},
    {"adapters beside experts", R"({"preset": "mixtral-8x7b"})", R"({"preset": "dgx-h100", "devices": 8})",
     R"({"sequence": 4096, "global_batch": 8, "trainable": "lora", "framework": {"preset": "megatron", "lora_targets": "all"}, "mapping": {"tp": 8}})"},
    {"unfused", R"({"preset": "gpt3-175b"})", R"({"preset": "dgx-a100", "devices": 64})",
     R"({"sequence": 2048, "global_batch": 64, "recompute": "full", "flash_attention": false, "framework": {"preset": "megatron-2022"},
         "mapping": {"tp": 8, "pp": 8}})"},
    {"long context", R"({"preset": "gemma-2-9b"})", R"({"preset": "dgx-h200", "devices": 64})",
     R"({"sequence": 32768, "global_batch": 64, "recompute": "auto", "framework": {"preset": "megatron"},
         "mapping": {"tp": 4, "cp": 4, "pp": 2, "schedule": "zb-v", "virtual_stages": 2}})"},
    {"ulysses", R"({"preset": "llama-3.1-8b"})", R"({"preset": "tpu-v5p-pod", "devices": 64})",
     R"({"sequence": 8192, "global_batch": 64, "framework": {"preset": "xla"}, "mapping": {"cp": 4, "cp_kind": "ulysses", "zero": 3}})"},
    {"offloaded, ramped", R"({"preset": "llama-2-13b"})", R"({"preset": "dgx-a100", "devices": 16})",
     R"({"sequence": 4096, "global_batch": 256, "tokens_per_parameter": 20, "batch_ramp": {"start": 32, "tokens": "10 Gtoken"},
         "offload": {"activations": 0.5, "optimizer": 1}, "interruptions": {"asynchronous_checkpoints": true},
         "framework": {"preset": "nanotron"}, "mapping": {"tp": 2, "pp": 4, "zero": 1, "schedule": "zb-h1"}})"},
};

void PrintTo(const Named& scenario, std::ostream* out) { *out << scenario.name; }
class TrainingExplanations : public ::testing::TestWithParam<Named> {};

TEST_P(TrainingExplanations, GiveTheirValues) {
  const Scenario scenario = TrainingScenario(GetParam().model, GetParam().cluster, GetParam().training);
  const TrainingReport report = Evaluated(scenario);
  std::map<std::string, double> shown;
  for (const FigureRecord& figure : Explained(scenario)) {
    SCOPED_TRACE(figure.path + " = " + figure.formula);
    if (figure.kind != FigureKind::kFormula) continue;
    std::map<std::string, double> symbols;
    for (const Term& term : figure.terms) symbols[term.symbol] = term.value;
    const testing::FormulaResult result = testing::EvaluateFormula(figure.formula, symbols);
    EXPECT_EQ(result.fault, "");
    EXPECT_NEAR(result.value, figure.value, 1e-12 * std::abs(figure.value));
    EXPECT_NE(figure.title, "");
    shown[figure.path] = figure.value;
  }
  // The explained value is the one in the report.
  const std::pair<const char*, double> expected[] = {
      {"training.step_time_s", report.step_time.base()},
      {"training.time_to_train_s", report.time_to_train.base()},
      {"training.time_s.bubble", report.time.bubble.base()},
      {"training.time_s.tp", report.time.tp.base()},
      {"training.time_s.offload", report.time.offload.base()},
      {"training.memory_bytes.total", report.memory.Total().base()},
      {"training.memory_bytes.activations", report.memory.activations.base()},
      {"training.device_energy_j", report.energy.base()},
      {"training.arithmetic_utilization", report.arithmetic_utilization},
      {"training.run.goodput", report.run.goodput},
      {"training.run.wall_time_s", report.run.wall_time->base()},
      {"training.run.checkpoint_interval_s", report.run.checkpoint_interval.base()},
      {"training.run.compute_optimal_tokens", report.run.compute_optimal_tokens.base()}};
  for (const auto& [path, value] : expected) {
    ASSERT_TRUE(shown.contains(path)) << path;
    EXPECT_EQ(shown[path], value) << path;
  }
}
INSTANTIATE_TEST_SUITE_P(All, TrainingExplanations, ::testing::ValuesIn(kScenarios), [](const auto& one) {
  std::string name;
  for (const char c : std::string(one.param.name)) name += c == ' ' ? '_' : c == ',' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace slipstick
