// A search over pools of two kinds of device, against `evaluate` of every mapping of both.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/evaluation/evaluate.h"
#include "core/exploration/search_job.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

using Assignments = std::vector<std::string>;

struct Problem {
  Assignments scenario;
  Count prefill_devices, decode_devices;
  bool has_experts;
};

const std::vector<Problem> kProblems{
    {{"model=llama-3.1-8b", "cluster=dgx-h100", "serving.disaggregated.prefill_device=l40s", "serving.prompt=4000"},
     6,
     2,
     false},
    {{"model=qwen3-30b-a3b", "cluster=dgx-a100", "serving.disaggregated.prefill_device=h100-sxm5-80gb"}, 2, 4, true},
    // Some mappings of both pools do not fit.
    {{"model=llama-3.1-70b", "cluster=dgx-h100", "serving.disaggregated.prefill_device=a100-sxm4-80gb",
      "serving.precision.weights=bf16", "serving.prompt=8000", "serving.engine=trtllm"},
     4,
     4,
     false}};
const std::vector<std::string> kFigures{"tokens_per_s_per_device", "ttft_s", "tpot_s", "cost_usd_per_million_tokens"};
constexpr Count kBatches[]{8, 64};

Result<Scenario> ParsedWith(const Problem& problem, const Assignments& more) {
  Assignments all = problem.scenario;
  all.insert(all.end(), {"training=null", "cluster.devices=16", "serving.mapping.tp=1",
                         "serving.disaggregated.prefill_devices=" + std::to_string(problem.prefill_devices),
                         "serving.disaggregated.decode_devices=" + std::to_string(problem.decode_devices)});
  all.insert(all.end(), more.begin(), more.end());
  return ParseScenario(*ReadRequest(R"({"version": 3})", all));
}

// Every combination of degrees that `evaluate` accepts for the mapping at `path`.
std::vector<Assignments> LegalMappings(const Problem& problem, const std::string& path, Count devices) {
  std::vector<Assignments> legal;
  const Count most = problem.has_experts ? devices : 1;
  for (Count tp = 1; tp <= devices; ++tp) {
    for (Count pp = 1; pp <= devices; ++pp) {
      for (Count dp = 1; dp <= most; ++dp) {
        for (Count ep = 1; ep <= most; ++ep) {
          const Assignments mapping{path + ".tp=" + std::to_string(tp), path + ".pp=" + std::to_string(pp),
                                    path + ".attention_dp=" + std::to_string(dp), path + ".ep=" + std::to_string(ep)};
          Assignments with_prefill = mapping;
          with_prefill.push_back("serving.disaggregated.prefill_mapping.cp=1");
          if (ParsedWith(problem, with_prefill)) legal.push_back(mapping);
        }
      }
    }
  }
  return legal;
}

TEST(PoolsOfTwoKinds, TheBestOfASearchIsThatOfEveryMappingOfEitherPool) {
  for (const Problem& problem : kProblems) {
    const std::vector<Assignments> prefillers = LegalMappings(problem, "serving.disaggregated.prefill_mapping",
                                                              problem.prefill_devices),
                                   decoders = LegalMappings(problem, "serving.mapping", problem.decode_devices);
    ASSERT_GT(prefillers.size(), 1u);
    ASSERT_GT(decoders.size(), 1u);
    Count tried = 0, feasible = 0;
    std::map<std::string, double> best;
    for (const Assignments& prefiller : prefillers) {
      for (const Assignments& decoder : decoders) {
        for (const Count batch : kBatches) {
          Assignments mapping = prefiller;
          mapping.insert(mapping.end(), decoder.begin(), decoder.end());
          mapping.push_back("serving.batch=" + std::to_string(batch));
          const Result<Scenario> scenario = ParsedWith(problem, mapping);
          ASSERT_TRUE(scenario) << scenario.issues[0].path << ": " << scenario.issues[0].message;
          const Json serving = (*Evaluate(*scenario, ReportDetail::Figures()))["serving"];
          ++tried;
          if (!serving["feasible"].get<bool>()) continue;
          ++feasible;
          for (const std::string& figure : kFigures) {
            const double value = *NumberAt(serving, figure);
            const bool more_is_better = figure == "tokens_per_s_per_device";
            const auto [known, is_new] = best.try_emplace(figure, value);
            if (!is_new)
              known->second = more_is_better ? std::max(known->second, value) : std::min(known->second, value);
          }
        }
      }
    }
    ASSERT_GT(feasible, 0);
    Assignments asked = problem.scenario;
    asked.insert(asked.end(), {"training=null", "cluster.devices=16",
                               "serving.disaggregated.prefill_devices=" + std::to_string(problem.prefill_devices),
                               "serving.disaggregated.decode_devices=" + std::to_string(problem.decode_devices)});
    for (const std::string& figure : kFigures) {
      SearchSpec spec;
      spec.part = "serving";
      spec.objective = figure;
      spec.top = 1;
      spec.limits = {"batch=8,64", "prefill_chunk=0", "cp=1"};
      const auto job = SearchJob::Make(*ReadRequest(R"({"version": 3})", asked), spec);
      ASSERT_TRUE(job) << job.issues[0].path << ": " << job.issues[0].message;
      while ((*job)->Step(100)) {
      }
      const Json report = (*job)->Report();
      EXPECT_EQ(report["space"], tried) << problem.scenario[0];
      EXPECT_EQ(report["feasible"], feasible) << problem.scenario[0];
      ASSERT_FALSE(report["best"].empty());
      EXPECT_NEAR(*NumberAt(report["best"][0], figure) / best[figure], 1, 1e-12)
          << problem.scenario[0] << " " << figure;
    }
  }
}

}  // namespace
}  // namespace slipstick
