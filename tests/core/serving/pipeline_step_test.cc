// Steps of pipelines against measured engines and the work of their hosts.
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "tests/core/serving/served.h"
#include "tests/support/explained.h"

namespace slipstick {
namespace {

// On an idle engine the first token is out when the prefill has passed every stage and the request has been handled.
TEST(Prefill, OfALoneRequestPassesEveryStageOnce) {
  for (const char* pp : {"1", "2", "4", "8"}) {
    const ServingReport report =
        Serve({"cluster=dgx-h100", "cluster.devices=64", "model=llama-3.1-70b", "serving.engine=vllm",
               "serving.devices=64", "serving.mapping.tp=8", std::string("serving.mapping.pp=") + pp, "serving.batch=1",
               "serving.prompt=8192", "serving.output=100"});
    const Seconds handling = 8 * kMs + 8192 * 2.5 * kUs;  // vLLM's handling of a request and of its tokens
    EXPECT_NEAR((report.ttft - report.prefill) / handling, 1, 1e-9) << pp;
  }
}

// SGLang, chunked pipeline parallelism (LMSYS, 2026-01-15): DeepSeek-V3.1 on H20, chunks of 12k, one request at a time.
// PP 4 TP 8 prefills 3.31 times as fast as TP 8, and its first token comes up to 67.9 % earlier.
TEST(Prefill, OfAPromptInChunksFillsThePipeline) {
  const auto with = [](int pp, const std::string& chunk) {
    return Serve({"cluster=hgx-h20", "cluster.devices=32", "model=deepseek-v3", "serving.engine=sglang",
                  "serving.mapping.tp=8", "serving.mapping.ep=1", "serving.devices=" + std::to_string(8 * pp),
                  "serving.mapping.pp=" + std::to_string(pp), "serving.batch=1", "serving.prompt=131072",
                  "serving.output=16", "serving.prefill_chunk=" + chunk});
  };
  const ServingReport one = with(1, "12288"), four = with(4, "12288"), whole = with(4, "131072");
  EXPECT_NEAR(one.prefill / four.prefill / 3.31, 1, 0.1);
  EXPECT_NEAR(1 - four.ttft / one.ttft, 0.679, 0.02);
  EXPECT_GT(whole.prefill, 0.9 * one.prefill);  // without chunks a prompt is in one stage at a time
  EXPECT_NEAR((four.ttft - four.prefill) / (one.ttft - one.prefill), 1, 1e-9);
}

// FasterTransformer, docs/gpt_guide.md, Megatron-530B on A100 with TP 8 and PP 3; none of its rows sets a constant. (TP
// 16 and TP 32 without a pipeline are within 3 % in the mean of their 51 rows.)
TEST(Decode, InAPipelineMatchesFasterTransformer) {
  struct Row {
    int batch, prompt, output;
    Seconds latency;
  };
  const Row rows[] = {{1, 20, 8, 842 * kMs},    {16, 20, 8, 1049 * kMs},   {64, 20, 8, 1722 * kMs},
                      {256, 20, 8, 3140 * kMs}, {1, 60, 20, 2085 * kMs},   {16, 60, 20, 2753 * kMs},
                      {64, 60, 20, 4117 * kMs}, {128, 60, 20, 5319 * kMs}, {8, 128, 8, 1434 * kMs},
                      {32, 128, 8, 2623 * kMs}, {128, 128, 8, 5512 * kMs}, {256, 128, 8, 9614 * kMs}};
  double errors = 0;
  for (const Row& row : rows) {
    const ServingReport report =
        Serve({"cluster=dgx-a100", "cluster.devices=24", "model.preset=gpt3-175b", "model.layers=105",
               "model.hidden=20480", "model.heads=128", "model.kv_heads=128", "model.ffn=81920",
               "serving.engine=fastertransformer", "serving.devices=24", "serving.mapping.tp=8", "serving.mapping.pp=3",
               "serving.precision.weights=fp16", "serving.precision.activations=fp16",
               "serving.precision.kv_cache=fp16", "serving.batch=" + std::to_string(row.batch),
               "serving.prompt=" + std::to_string(row.prompt), "serving.output=" + std::to_string(row.output)});
    const double error = report.static_latency / row.latency - 1;
    EXPECT_NEAR(error, 0, 0.12) << row.batch << " x " << row.prompt;
    errors += std::abs(error) / std::size(rows);
  }
  EXPECT_LT(errors, 0.06);
}

// The host of a stage schedules one group after another; a single request passes each stage once.
TEST(Decode, InAPipelinePaysTheHostOncePerGroup) {
  const auto added = [](const std::string& batch) {
    const auto with = [&](const std::string& step) {
      return Serve({"cluster=dgx-h100", "model=llama-3.1-70b", "serving.engine=vllm", "serving.mapping.tp=2",
                    "serving.mapping.pp=4", "serving.devices=8", "serving.engine.step=" + step,
                    "serving.batch=" + batch})
          .decode_step;
    };
    return with("3 ms") - with("1 ms");
  };
  EXPECT_NEAR(added("1") / (2 * kMs), 1, 1e-9);
  EXPECT_NEAR(added("64") / (8 * kMs), 1, 1e-9);
}

// vLLM pull request 57433: groups of 7, 13, 2 and 10 requests in a pipeline of four stages.
TEST(Decode, InAPipelineHasThePaceOfTheLargestGroup) {
  const std::vector<FigureRecord> figures =
      ExplainedServing({"cluster=dgx-h100", "model=llama-3.1-70b", "serving.engine=vllm", "serving.mapping.tp=2",
                        "serving.mapping.pp=4", "serving.devices=8", "serving.batch=32"});
  const FigureRecord* group = AtPath(figures, "serving.sequences_of_the_fullest_group");
  ASSERT_NE(group, nullptr);
  EXPECT_NEAR(group->value, 13, 0.5);
}

}  // namespace
}  // namespace slipstick
