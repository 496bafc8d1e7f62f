// Steps against measured kernels, counted work and physical bounds.
#include "core/engine_step/step_time.h"

#include "core/operators/efficiency.h"
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

Flops FlopsOf(const std::vector<ServedOperator>& operators) {
  Flops sum;
  for (const ServedOperator& one : operators) sum += one.count * one.flops;
  return sum;
}
Bytes BytesOf(const std::vector<ServedOperator>& operators) {
  Bytes sum;
  for (const ServedOperator& one : operators) sum += one.count * one.bytes;
  return sum;
}

// The operator with this name; the test fails if there is none.
ServedOperator Named(std::string_view name, const std::vector<ServedOperator>& operators) {
  for (const ServedOperator& one : operators) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << name;
  return {};
}

const std::vector<std::string> kOneSequence{"cluster=single-h200-sxm", "serving.engine=ideal", "serving.batch=1"};

struct WorkCase {
  const char* model;
  double decode_flops;     // one token at a context of 1024, batch 1
  double decode_bytes;     // weights and 1024 tokens of KV cache
  double prefill_linears;  // GEMMs of all layers over 2048 tokens
  double prefill_scores;   // causal attention, each pair once
  double head;             // hidden x vocabulary
};
// A multiply-add counts as two FLOP; 16 bit; shapes as published.
constexpr WorkCase kWork[] = {
    {"llama-2-7b", 13751025664, 13214154752 + 536870912, 26525718020096, 1100048498688, 131072000},
    {"llama-3.1-8b", 15546187776, 15009316864 + 134217728, 28587302322176, 1100048498688, 525336576},
};

TEST(DecodeStep, DoesTheWorkThatTheShapesSay) {
  for (const WorkCase& one : kWork) {
    // Prompt 1023 and two outputs: the mean context of the step is 1024.
    const ServingReport report =
        Serve(kOneSequence + std::vector<std::string>{std::string("model=") + one.model, "serving.prompt=1023",
                                                      "serving.output=2"},
              true);
    EXPECT_NEAR(FlopsOf(report.operators.decode).base() / one.decode_flops, 1, 1e-9) << one.model;
    EXPECT_GE(BytesOf(report.operators.decode).base(), one.decode_bytes) << one.model;
    EXPECT_LE(BytesOf(report.operators.decode).base(), 1.02 * one.decode_bytes) << one.model;
  }
}

TEST(Prefill, DoesTheWorkThatTheShapesSay) {
  for (const WorkCase& one : kWork) {
    const ServingReport report =
        Serve(kOneSequence + std::vector<std::string>{std::string("model=") + one.model, "serving.prompt=2048",
                                                      "serving.output=1"},
              true);
    // the head computes the last token only
    const double expected = one.prefill_linears + one.prefill_scores + 2 * one.head;
    EXPECT_NEAR(FlopsOf(report.operators.prefill).base() / expected, 1, 1e-6) << one.model;
  }
}

// llama.cpp computes 512 tokens at a time; the last micro-batch has the tokens that are left.
TEST(Prefill, OfAShortLastMicroBatchTakesItsShare) {
  const auto prefill = [](const std::string& prompt) {
    return Serve({"model=llama-3.1-8b", "cluster=single-m3-max", "serving.engine=llamacpp", "serving.concurrency=1",
                  "serving.prompt=" + prompt})
        .prefill;
  };
  EXPECT_NEAR(prefill("513") / prefill("512"), 1, 0.03);
  EXPECT_NEAR(prefill("768") / prefill("512"), 1.5, 0.05);
  EXPECT_NEAR(prefill("1024") / prefill("512"), 2, 0.05);
}

TEST(Prefill, IsNeverFasterThanThePeak) {
  for (const std::string engine : {"ideal", "vllm", "trtllm", "sglang", "fastertransformer", "lmdeploy"}) {
    for (const std::string prompt : {"16", "512", "8192", "65536"}) {
      const ServingReport report = Serve(
          {"cluster=single-h200-sxm", "model=llama-3.1-8b", "serving.engine=" + engine, "serving.prompt=" + prompt},
          true);
      EXPECT_GE(report.ttft * (989 * kTFlops), FlopsOf(report.operators.prefill)) << engine << " " << prompt;
    }
  }
}

TEST(DecodeStep, IsNeverFasterThanReadingTheWeights) {
  for (const std::string engine : {"ideal", "vllm", "trtllm", "sglang", "lmdeploy"}) {
    const ServingReport report =
        Serve({"cluster=single-h200-sxm", "model=llama-3.1-8b", "serving.engine=" + engine, "serving.batch=1"});
    EXPECT_GE(report.decode_step * (4800 * kGBps), 15.0 * kGB) << engine;
  }
}

TEST(DecodeStep, ReadsTheExpertsThatTokensHit) {
  // 128 experts, 8 per token: one token reads 8 experts, 16 tokens read 82 under independent routing.
  const auto expert_bytes = [](int batch) {
    const ServingReport report = Serve({"cluster=dgx-h200", "model=qwen3-30b-a3b", "serving.devices=1",
                                        "serving.engine=ideal", "serving.batch=" + std::to_string(batch)},
                                       true);
    return Named("experts", report.operators.decode).bytes.base();
  };
  const double expert = 3.0 * 2048 * 768 * 2;
  EXPECT_NEAR(expert_bytes(1) / expert, 8, 1.6);
  EXPECT_GT(expert_bytes(16) / expert, 60);
  EXPECT_LT(expert_bytes(16) / expert, 84);
  EXPECT_LT(expert_bytes(256) / expert, 140);
}

// gpt-oss-120b on 2 H100 under vLLM: 7,373 tokens x 4 experts x 6 x 2,880 x 1,440 = 734 GFLOP per device and layer.
// Marlin kernels reach 0.25 of weight-only GEMMs' 1.065 x 0.865 of 989 TFLOP/s: 3.22 ms, plus partial tiles, routing
// and permutation. With half a tile of 128 rows more than its 230 an expert computes 1.28 times its rows.
TEST(Prefill, ExpertsWithWeightOnlyQuantizationUseTheEnginesKernels) {
  const auto experts = [](const std::string& engine) {
    const std::vector<std::string> scenario{"cluster=dgx-h100",
                                            "model=gpt-oss-120b",
                                            "serving.devices=2",
                                            "serving.mapping.tp=2",
                                            "serving.batch=1",
                                            "serving.prompt=7373",
                                            "serving.precision.weights=mxfp4",
                                            "serving.precision.activations=bf16",
                                            "serving.engine=" + engine};
    return Named("experts", Serve(scenario, true).operators.prefill);
  };
  const ServedOperator own = experts("vllm");
  EXPECT_NEAR(In(own.flops, kTFlop), 0.7339, 0.0001);
  EXPECT_GT(In(own.time, kMs), 3.22);
  EXPECT_LT(In(own.time, kMs), 1.28 * 1.4 * 3.22);
  EXPECT_GT(own.time, 2 * experts("sglang").time);
}

// The same instructions give an A100 as much per SM and clock as an H100, 1,024 FLOP: half of 312 TFLOP/s on 108 SMs at
// 1.41 GHz. Cards with no higher rate (an A6000's 84 SMs at 1.8 GHz: 155 TFLOP/s) lose nothing.
TEST(Prefill, WeightOnlyProductsAreAsSlowPerClockOnAmpereAsOnHopper) {
  const auto experts = [](const std::string& device, const std::string& more) {
    const ServingReport report =
        Serve({"model=gpt-oss-20b", "cluster.device=" + device, "cluster.devices=1", "serving.batch=1",
               "serving.prompt=32768", "serving.prefill_chunk=32768", "serving.precision.weights=mxfp4",
               "serving.precision.activations=bf16", "serving.engine=vllm", more},
              true);
    return Named("experts", report.operators.prefill).time;
  };
  const std::string none = "serving.engine.on=[]", own = "serving.devices=1";
  EXPECT_NEAR(experts("a100-sxm4-80gb", own) / experts("a100-sxm4-80gb", none), 312e12 / (1024 * 108 * 1.41e9), 0.3);
  EXPECT_NEAR(experts("a6000", own) / experts("a6000", none), 1, 0.01);
}

// Prefill attention with sinks runs FlashAttention-3 on Hopper and elsewhere a Triton kernel as fast as
// FlashAttention-1, at 0.26 to 0.77 of the rate of version 2 (FlashAttention-2's benchmarks).
TEST(Prefill, AttentionWithSinksIsSlowWhereNoFastKernelSupportsThem) {
  const auto core = [](const std::string& cluster, const std::string& sinks) {
    const ServingReport report =
        Serve({"model=gpt-oss-20b", "cluster=" + cluster, "serving.batch=1", "serving.prompt=65536",
               "serving.engine=vllm", "model.attention_sinks=" + sinks},
              true);
    return Named("attention", report.operators.prefill).time;
  };
  EXPECT_EQ(core("single-h200-sxm", "true"), core("single-h200-sxm", "false"));
  const double slower = core("single-rtx-pro-6000", "true") / core("single-rtx-pro-6000", "false");
  EXPECT_GT(slower, 2);
  EXPECT_LT(slower, 0.77 / 0.26 * 1.5);
}

// gpt-oss-120b on one H200 under TensorRT-LLM, a prompt of 4,096 tokens: its kernels take 2.226 ms if all experts get
// the same number of tokens and 3.718 ms under a power law (AIConfigurator's tables, w4a16_mxfp4).
TEST(Prefill, ExpertsWithWeightOnlyQuantizationMatchTensorRtLlmsKernels) {
  const std::vector<std::string> scenario{"cluster=single-h200-sxm",
                                          "model=gpt-oss-120b",
                                          "serving.batch=1",
                                          "serving.prompt=4096",
                                          "serving.precision.weights=mxfp4",
                                          "serving.precision.activations=bf16",
                                          "serving.engine=trtllm"};
  const Seconds experts = Named("experts", Serve(scenario, true).operators.prefill).time;
  EXPECT_GT(In(experts, kMs), 2.226 * 0.95);
  EXPECT_LT(In(experts, kMs), 3.718);
}

// The host launches a prefill operation by operation, 75 us each under TensorRT-LLM. A Llama layer has five products
// and attention, and four fused passes.
TEST(Prefill, WaitsForTheLaunchesOfFusedLayers) {
  const ServingReport report =
      Serve({"cluster=dgx-h200", "model=llama-3.1-70b", "serving.engine=trtllm", "serving.mapping.tp=8",
             "serving.batch=1", "serving.prompt=16", "serving.output=2"});
  const double launches_ms = 80 * (5 + 4) * 0.075, request_ms = 8;
  EXPECT_GT(In(report.static_ttft, kMs), launches_ms - 1e-9);
  EXPECT_LT(In(report.static_ttft, kMs), launches_ms + request_ms);
}

// Gemma-2-9B has 42 layers of 3584. Its norms after attention and MLP read and write 2 bytes per element: two more
// kernels per layer, each with 0.7 of a GEMM's launch latency (2.7 us).
TEST(DecodeStep, NormsOfOutputsAreSeparateKernels) {
  const auto elementwise = [](const std::vector<std::string>& more) {
    const ServingReport report = Serve(std::vector<std::string>{"cluster=single-h200-sxm", "model=gemma-2-9b",
                                                                "serving.engine=vllm", "serving.batch=16"} +
                                           more,
                                       true);
    return Named("norms, activation, residual", report.operators.decode);
  };
  const ServedOperator all = elementwise({}), two = elementwise({"model.norms_per_layer=2"});
  EXPECT_EQ(all.count, 42);
  EXPECT_NEAR((all.bytes - two.bytes).base(), 16 * 2 * 4 * 3584, 1e-6);
  EXPECT_GT(all.time - two.time, 2 * 0.7 * 2.7 * kUs);
  EXPECT_LT(all.time - two.time, 4 * kUs);
}

TEST(Step, GrowsWithWorkAndShrinksWithHardware) {
  const std::vector<std::string> base{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.engine=vllm",
                                      "serving.prompt=1000", "serving.output=200"};
  Seconds before;
  for (const char* batch : {"1", "2", "7", "16", "64", "200"}) {
    const Seconds step = Serve(base + std::vector<std::string>{std::string("serving.batch=") + batch}).decode_step;
    EXPECT_GE(step, before) << batch;
    before = step;
  }
  before = Seconds{};
  for (const char* prompt : {"1", "100", "1000", "5000", "30000"}) {
    const ServingReport report =
        Serve(base + std::vector<std::string>{std::string("serving.prompt=") + prompt, "serving.batch=8"});
    EXPECT_GE(report.decode_step, before) << prompt;
    before = report.decode_step;
  }
  before = Seconds{} + 1e9 * kS;
  for (const char* bandwidth : {"500 GB/s", "1 TB/s", "2 TB/s", "3.35 TB/s", "6 TB/s", "20 TB/s"}) {
    const ServingReport report =
        Serve(base + std::vector<std::string>{std::string("cluster.device.memory.bandwidth=") + bandwidth,
                                              "serving.batch=16"});
    EXPECT_LE(report.decode_step, before * (1 + 1e-12)) << bandwidth;
    before = report.decode_step;
  }
  before = Seconds{} + 1e9 * kS;
  for (const char* peak : {"100 TFLOP/s", "300 TFLOP/s", "989 TFLOP/s", "3000 TFLOP/s"}) {
    const ServingReport report =
        Serve(base + std::vector<std::string>{std::string("cluster.device.peak.bf16=") + peak});
    EXPECT_LE(report.prefill, before) << peak;
    before = report.prefill;
  }
}

TEST(Step, ShortensOrKeepsUnderTensorParallelismOfAnIdealEngineWithoutNetworkCost) {
  Bytes weights = 1e15 * kB;
  for (const char* tp : {"1", "2", "4", "8"}) {
    const ServingReport report =
        Serve({"cluster=dgx-h200", "model=llama-3.1-70b", "serving.engine=trtllm", "serving.batch=64",
               std::string("serving.mapping.tp=") + tp, std::string("serving.devices=") + tp});
    EXPECT_LT(report.memory.weights, weights) << tp;
    weights = report.memory.weights;
  }
}

// Published: 20 to 35 ms with vLLM V1, of which 12 ms are the engine's. Launched operation by operation, 80 layers of
// five products and attention, four elementwise kernels and two all-reduces take 80 x 11 x 30 us, and the step 2 ms
// more.
TEST(Prefill, OfAFewTokensReplaysGraphsBetweenTheLayersAttention) {
  const std::vector<std::string> served{"cluster=dgx-h100",    "cluster.devices=8", "model=llama-3.1-70b",
                                        "serving.engine=vllm", "serving.devices=8", "serving.mapping.tp=8",
                                        "serving.batch=1",     "serving.output=128"};
  const auto with = [&](const std::vector<std::string>& more) { return Serve(served + more); };
  const ServingReport few = with({"serving.prompt=16"});
  EXPECT_GT(few.ttft, 20 * kMs);
  EXPECT_LT(few.ttft, 35 * kMs);
  EXPECT_NEAR(with({"serving.prompt=16", "serving.engine.prefill_graphs=0"}).prefill / (28.4 * kMs), 1, 1e-9);
  // Graphs are captured up to 512 tokens: beyond, there are 80 x 10 gaps of 10 us in place of 80 x 2.
  EXPECT_GT(with({"serving.prompt=513"}).prefill - with({"serving.prompt=512"}).prefill, 6.4 * kMs);
  // The host takes at least two launches per layer.
  const ServingReport launches = with({"serving.prompt=16", "serving.engine.prefill_launch=1 ms"});
  EXPECT_NEAR(launches.prefill / (80 * 2 * kMs + 2 * kMs), 1, 1e-9);
  // A faster device shortens the prefill.
  const std::vector<std::string> faster{"serving.prompt=256", "cluster.device.memory.bandwidth=6.7 TB/s"};
  EXPECT_LT(with(faster).prefill, with({"serving.prompt=256"}).prefill);
}

TEST(Step, AddsUpFromItsOperatorsExactly) {
  for (const std::string engine : {"vllm", "trtllm-0.9", "fastertransformer", "ideal", "sglang", "lmdeploy"}) {
    for (const char* more :
         {"serving.mapping.pp=1", "serving.mapping.pp=3", "serving.prefill_chunk=100", "serving.concurrency=5"}) {
      const ServingReport report =
          Serve({"cluster=dgx-h100", "cluster.devices=24", "model=llama-3.1-70b", "serving.engine=" + engine,
                 "serving.mapping.tp=8", "serving.prompt=512", "serving.output=900", "serving.batch=4", more},
                true);
      Seconds decode, prefill;
      for (const ServedOperator& one : report.operators.decode) decode += one.count * one.time;
      for (const ServedOperator& one : report.operators.prefill) prefill += one.count * one.time;
      EXPECT_NEAR(decode / report.decode_step, 1, 1e-12) << engine << " " << more;
      EXPECT_NEAR(prefill / report.prefill, 1, 1e-12) << engine << " " << more;
    }
  }
}

TEST(Step, OfEveryEngineHasFiguresOnEveryKindOfDevice) {
  for (const std::string engine : {"ideal", "fastertransformer", "trtllm-0.9", "trtllm", "vllm", "sglang", "lmdeploy",
                                   "llamacpp", "llamacpp-2025", "mlc", "neuron", "gaudi"}) {
    for (const std::string cluster : {"single-v100-sxm2-32gb", "single-rtx-4090", "single-gaudi2", "single-trainium1",
                                      "single-mi300x", "single-m2-ultra"}) {
      for (const std::string model : {"llama-3.2-1b", "qwen3-30b-a3b", "deepseek-v2-lite", "gemma-2-2b"}) {
        const ServingReport report =
            Serve({"cluster=" + cluster, "model=" + model, "serving.engine=" + engine, "serving.batch=2"});
        EXPECT_GT(report.decode_step.base(), 0) << engine << " " << cluster << " " << model;
        EXPECT_TRUE(std::isfinite(report.tokens_per_s.base()) && std::isfinite(report.ttft.base()) &&
                    std::isfinite(report.energy_per_token.base()))
            << engine << " " << cluster << " " << model;
        EXPECT_GE(report.max_context, 0);
      }
    }
  }
}

// One sequence uses each weight that it reads once.
TEST(LayerPipeline, DecodingOneSequenceIsNotBoundByCompute) {
  const ServingReport report = Serve({"model=llama-2-7b", "cluster=single-rtx-4090", "serving.engine=llamacpp",
                                      "serving.batch=1", "serving.mapping.tp=1"},
                                     true);
  const ServedOperator& first = report.operators.decode.at(0);
  EXPECT_EQ(first.name, "weights");
  EXPECT_NE(first.bound, Bound::kCompute);
}

// 30 of 40 layers are recurrent: 28 kernels more in each of them are 21 in the mean layer, of 0.7 times 2 us.
TEST(DecodeStep, LaunchesMoreKernelsInARecurrentLayer) {
  const auto elementwise = [](const char* kernels) {
    const ServingReport report =
        Serve({"cluster=single-rtx-4090", "model=qwen3.6-35b-a3b", "serving.engine=llamacpp-2025", "serving.batch=1",
               "serving.precision.weights=q4_k_m", "serving.prompt=64", "serving.output=16",
               "cluster.device.efficiency.launch=2 us", kernels},
              true);
    return In(Named("norms, activation, residual", report.operators.decode).time, kUs);
  };
  EXPECT_NEAR(elementwise("serving.engine.recurrent_kernels=28") - elementwise("serving.engine.recurrent_kernels=0"),
              21 * 0.7 * 2, 1e-6);
}

}  // namespace
}  // namespace slipstick
