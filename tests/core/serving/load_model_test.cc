// The load model: queueing identities, limits, and an explanation for every figure.
#include "core/serving/load_model.h"

#include <cmath>

#include "core/engine_step/deployment.h"
#include "tests/core/serving/served.h"
#include "tests/support/explained.h"

namespace slipstick {
namespace {

const std::vector<std::string> kLargeLoad{"cluster=dgx-h100",  "model=llama-3.1-70b",  "serving.engine=vllm",
                                          "serving.devices=8", "serving.mapping.tp=4", "serving.prompt=2000",
                                          "serving.output=300"};

ServingReport ServedWith(const std::vector<std::string>& more) { return Serve(kLargeLoad + more); }

TEST(ClosedLoop, ObeysLittlesLaw) {
  for (const char* concurrency : {"2", "5", "16", "64", "300", "5000"}) {
    const ServingReport report = ServedWith({std::string("serving.concurrency=") + concurrency});
    EXPECT_NEAR(report.requests_per_s * report.request_latency.base() / std::stod(concurrency), 1, 1e-9) << concurrency;
    EXPECT_NEAR((report.ttft + 299 * report.tpot) / report.request_latency, 1, 1e-9);
    EXPECT_NEAR(report.tokens_per_s / report.tokens_per_s_per_device, 8, 1e-9);
  }
}

TEST(ClosedLoop, NeverGivesMoreThanSaturation) {
  const ServingReport most = ServedWith({"serving.batch=max"});
  TokensPerSecond before;
  for (const char* concurrency : {"2", "8", "32", "128", "512", "2000", "20000"}) {
    const ServingReport report = ServedWith({std::string("serving.concurrency=") + concurrency});
    EXPECT_LE(report.tokens_per_s, 1.12 * most.tokens_per_s)
        << concurrency;  // most: every slot reserves its whole output
    EXPECT_GE(report.tokens_per_s, before * 0.97) << concurrency;
    EXPECT_LE(report.batch, report.max_batch);
    before = report.tokens_per_s;
  }
}

TEST(ClosedLoop, StallsTokensByOthersPrefills) {
  const ServingReport report = ServedWith({"serving.concurrency=64"});
  EXPECT_GT(report.tpot, report.decode_step);
  EXPECT_NEAR(ServedWith({"serving.concurrency=2"}).tpot / ServedWith({"serving.concurrency=2"}).decode_step, 1, 1e-9)
      << "one request a replica: no other";
}

TEST(ClosedLoop, ShowsTheFirstWaveOfABenchmark) {
  EXPECT_GT(ServedWith({"serving.concurrency=64", "serving.waves=1"}).ttft,
            ServedWith({"serving.concurrency=64", "serving.waves=10"}).ttft);
  EXPECT_GT(ServedWith({"serving.concurrency=64", "serving.waves=10"}).ttft,
            ServedWith({"serving.concurrency=64"}).ttft);
}

TEST(OpenLoop, ServesWhatArrivesUntilItCannot) {
  const double most = ServedWith({"serving.batch=max"}).requests_per_s;
  const ServingReport idle = ServedWith({"serving.requests_per_s=" + std::to_string(0.001 * most)});
  EXPECT_NEAR(idle.requests_per_s / (0.001 * most), 1, 1e-4);
  EXPECT_LT(idle.utilization, 0.01);
  Seconds before;
  for (const double share : {0.1, 0.5, 0.8, 0.95}) {
    const ServingReport report = ServedWith({"serving.requests_per_s=" + std::to_string(share * most)});
    EXPECT_TRUE(report.infeasible.empty()) << share;
    EXPECT_NEAR(report.utilization, share, 0.02);
    EXPECT_GT(report.ttft, before) << share;
    EXPECT_NEAR(report.requests_per_s / (share * most), 1, 1e-4);
    before = report.ttft;
  }
  // With a full batch, a slot stays empty while its next request is handled; with arrivals, a handled request always
  // waits.
  const Result<Scenario> scenario = ScenarioOf(kLargeLoad);
  const Deployment deployment = Deploy(scenario->model, scenario->cluster, *scenario->serving);
  const Seconds handling = deployment.engine.overhead.per_request * deployment.load.tuning.host +
                           2000 * deployment.engine.overhead.per_prompt_token;
  const ServingReport over = ServedWith({"serving.requests_per_s=" + std::to_string(1.2 * most)});
  ASSERT_EQ(over.infeasible.size(), 1U);
  EXPECT_EQ(over.infeasible[0].reason, "rate");
  EXPECT_NEAR(over.requests_per_s / most, over.request_latency / (over.request_latency - handling), 1e-6);
  EXPECT_NEAR(over.requests_per_s * over.request_latency.base() / over.requests_in_flight, 1, 1e-9);
}

// A step of 8,192 tokens takes two prompts of 4,096, and a request decodes in 16 steps, so no more than 32 run, however
// many fit. Of prompts of 5,000 tokens a step takes 1.638 if the engine splits prompts, and one if it does not.
TEST(OpenLoop, RunsNoMoreThanArriveDuringARequest) {
  const auto running = [](const char* engine, const char* prompt) {
    const ServingReport over = Serve({"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.output=16",
                                      std::string("serving.engine=") + engine, std::string("serving.prompt=") + prompt,
                                      "serving.requests_per_s=1000"});
    EXPECT_GT(over.max_batch, 64);
    return over.batch;
  };
  EXPECT_EQ(running("vllm", "4096"), 32);
  EXPECT_EQ(running("vllm", "5000"), 26);
  EXPECT_EQ(running("trtllm", "5000"), 16);
  EXPECT_GT(running("sglang", "4096"), 64);
}

// One server that is busy half of the time (Pollaczek and Khinchine). Services of one length wait for half of a
// service, 0.5 / (2 x 0.5); exponential ones for one; those with a squared variation of 3 for two.
TEST(OpenLoop, WaitsLongerWhereServicesDiffer) {
  EXPECT_NEAR(WaitOverService(0.5, 1, 0).base(), 0.5, 1e-12);
  EXPECT_NEAR(WaitOverService(0.5, 1, 1).base(), 1, 1e-12);
  EXPECT_NEAR(WaitOverService(0.5, 1, 3).base(), 2, 1e-12);
}

TEST(Prefix, FoundInTheCacheShortensThePrefillOnly) {
  const ServingReport cold = ServedWith({"serving.concurrency=16"}),
                      warm = ServedWith({"serving.concurrency=16", "serving.prefix_hit=0.75"});
  EXPECT_LT(warm.prefill, 0.5 * cold.prefill);
  EXPECT_LT(warm.ttft, cold.ttft);
  EXPECT_EQ(warm.decode_step, cold.decode_step);
}

TEST(Chunks, LengthenThePrefillByTheirSteps) {
  const ServingReport whole = ServedWith({"serving.concurrency=16"}),
                      chunked = ServedWith({"serving.concurrency=16", "serving.prefill_chunk=500"});
  EXPECT_GT(chunked.prefill, whole.prefill);
  EXPECT_LT(chunked.prefill, 2 * whole.prefill);
  EXPECT_EQ(ServedWith({"serving.concurrency=16", "serving.prefill_chunk=4096"}).prefill, whole.prefill);
}

// vLLM's get_batch_defaults: 2,048 tokens per step, and 8,192 on devices with at least 70 GiB that are not A100.
// TensorRT-LLM takes whole prompts by default.
TEST(Chunks, AreAsLargeAsTheEnginesStepOnTheDevice) {
  const auto prefill = [](const char* cluster, const char* engine, const char* chunk) {
    return Serve({std::string("cluster=") + cluster, "model=llama-3.1-8b", std::string("serving.engine=") + engine,
                  "serving.devices=1", "serving.mapping.tp=1", "serving.batch=1", "serving.prompt=8000",
                  std::string("serving.prefill_chunk=") + chunk})
        .prefill;
  };
  EXPECT_EQ(prefill("dgx-a100", "vllm", "null"), prefill("dgx-a100", "vllm", "2048"));
  EXPECT_GT(prefill("dgx-a100", "vllm", "null"), prefill("dgx-a100", "vllm", "8192"));
  EXPECT_EQ(prefill("dgx-h100", "vllm", "null"), prefill("dgx-h100", "vllm", "8192"));
  EXPECT_GT(prefill("dgx-h100", "trtllm", "2048"), prefill("dgx-h100", "trtllm", "null"));
}

TEST(Speculation, GainsWithAcceptanceAndCostsWithoutIt) {
  const auto tpot = [](const char* acceptance) {
    return ServedWith({"serving.batch=1", "serving.speculative.draft_tokens=3",
                       std::string("serving.speculative.acceptance=") + acceptance})
        .tpot;
  };
  const Seconds plain = ServedWith({"serving.batch=1"}).tpot;
  EXPECT_GT(tpot("0"), plain);
  EXPECT_LT(tpot("0.9"), plain);
  EXPECT_LT(tpot("1"), tpot("0.9"));
  EXPECT_GT(tpot("1"), plain / 4) << "four tokens a step at most";
}

TEST(TwoPools, KeepPrefillsOutOfTheWay) {
  const std::vector<std::string> load{"cluster=dgx-h100",      "model=llama-3.1-70b", "serving.engine=vllm",
                                      "serving.mapping.tp=4",  "serving.prompt=2000", "serving.output=300",
                                      "serving.concurrency=32"};
  const ServingReport apart = Serve(load + std::vector<std::string>{"serving.disaggregated.prefill_devices=4",
                                                                    "serving.disaggregated.decode_devices=4"});
  EXPECT_NEAR(apart.tpot / apart.decode_step, 1, 1e-9);
  EXPECT_NEAR(apart.requests_per_s * apart.request_latency.base(), 32, 1e-6);
  const ServingReport together = Serve(load + std::vector<std::string>{"serving.devices=8"});
  EXPECT_LT(apart.tpot, together.tpot);
}

TEST(Pipeline, RunsAsManyGroupsAsStages) {
  const auto at = [](const char* pp, const char* batch) {
    return Serve({"cluster=dgx-h100", "model=llama-3.1-8b", "serving.engine=ideal",
                  std::string("serving.devices=") + pp, std::string("serving.mapping.pp=") + pp,
                  std::string("serving.batch=") + batch});
  };
  EXPECT_GE(at("4", "1").decode_step, at("1", "1").decode_step) << "one sequence goes through all stages in turn";
  EXPECT_GT(at("4", "256").tokens_per_s, at("1", "256").tokens_per_s);
  EXPECT_LT(at("4", "256").tokens_per_s, 4.4 * at("1", "64").tokens_per_s) << "no more than four such devices";
}

// Prompts shorter than a chunk pass through the stages in passes of a chunk's tokens, as in an engine with as many
// tokens per step.
TEST(Pipeline, TakesNoMorePromptTokensAPassThanAChunk) {
  const auto prefill = [](const char* limit) {
    return Serve({"cluster=dgx-h100", "model=llama-3.1-8b", "serving.engine=vllm", "serving.devices=2",
                  "serving.mapping.pp=2", "serving.mapping.tp=1", "serving.batch=8", "serving.prompt=1000", limit})
        .static_ttft;
  };
  EXPECT_NEAR(
      prefill("serving.prefill_chunk=2000") / prefill("serving.engine.memory.large_devices.0.activation_tokens=2000"),
      1, 1e-9);
  EXPECT_NE(prefill("serving.prefill_chunk=2000"), prefill("serving.prefill_chunk=null"));
}

TEST(Report, ExplainsEveryFigureDownToInputs) {
  const struct {
    const char* path;
    double (*value)(const ServingReport&);
  } figures[] = {
      {"serving.ttft_s", [](const ServingReport& r) { return r.ttft.base(); }},
      {"serving.tpot_s", [](const ServingReport& r) { return r.tpot.base(); }},
      {"serving.request_latency_s", [](const ServingReport& r) { return r.request_latency.base(); }},
      {"serving.prefill_s", [](const ServingReport& r) { return r.prefill.base(); }},
      {"serving.decode_step_s", [](const ServingReport& r) { return r.decode_step.base(); }},
      {"serving.static_latency_s", [](const ServingReport& r) { return r.static_latency.base(); }},
      {"serving.tokens_per_s", [](const ServingReport& r) { return r.tokens_per_s.base(); }},
      {"serving.tokens_per_s_per_device", [](const ServingReport& r) { return r.tokens_per_s_per_device.base(); }},
      {"serving.tokens_per_s_per_user", [](const ServingReport& r) { return r.tokens_per_s_per_user.base(); }},
      {"serving.kv_cache_bytes_per_token", [](const ServingReport& r) { return r.kv_cache_per_token.base(); }},
      {"serving.kv_cache_bytes", [](const ServingReport& r) { return r.kv_cache.base(); }},
      {"serving.max_batch", [](const ServingReport& r) { return static_cast<double>(r.max_batch); }},
      {"serving.max_context", [](const ServingReport& r) { return static_cast<double>(r.max_context); }},
      {"serving.memory_bytes.weights", [](const ServingReport& r) { return r.memory.weights.base(); }},
      {"serving.memory_bytes.kv_cache", [](const ServingReport& r) { return r.memory.kv_cache.base(); }},
      {"serving.memory_bytes.activations", [](const ServingReport& r) { return r.memory.activations.base(); }},
      {"serving.memory_bytes.workspace", [](const ServingReport& r) { return r.memory.workspace.base(); }},
      {"serving.memory_bytes.total", [](const ServingReport& r) { return r.memory.Total().base(); }},
      {"serving.device_energy_j_per_token", [](const ServingReport& r) { return r.energy_per_token.base(); }}};
  for (const std::vector<std::string>& load :
       {std::vector<std::string>{"serving.batch=8"}, std::vector<std::string>{"serving.concurrency=40"},
        std::vector<std::string>{"serving.requests_per_s=0.5"}}) {
    const std::vector<FigureRecord> explained = ExplainedServing(kLargeLoad + load);
    const ServingReport report = Serve(kLargeLoad + load);
    for (const auto& [path, value] : figures) {
      const FigureRecord* found = AtPath(explained, path);
      ASSERT_NE(found, nullptr) << path << " with " << load[0];
      EXPECT_DOUBLE_EQ(found->value, value(report)) << path << " with " << load[0];
      EXPECT_FALSE(found->terms.empty());
    }
  }
}

}  // namespace
}  // namespace slipstick
