// Regression cases for faults found in other serving calculators.
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

double FlopsOf(const std::vector<ServedOperator>& operators, std::string_view name) {
  double sum = 0;
  for (const ServedOperator& one : operators) {
    if (one.name == name) sum += one.count * one.flops.base();
  }
  return sum;
}

// LLM-Viewer: flash attention made decoding slower (it counted scores as output and read the KV cache for every query
// head).
TEST(PeerFaults, FlashAttentionIsNeverSlower) {
  for (const char* prompt : {"512", "4000", "32000"}) {
    const std::vector<std::string> load{"cluster=single-h100-sxm5-80gb", "model=llama-3.1-8b", "serving.engine=vllm",
                                        "serving.batch=8", std::string("serving.prompt=") + prompt};
    const ServingReport flash = Serve(load),
                        unfused = Serve(load + std::vector<std::string>{"serving.engine.attention=unfused"});
    EXPECT_LE(flash.prefill, unfused.prefill) << prompt;
    EXPECT_LE(flash.decode_step, unfused.decode_step * 1.02) << prompt;
  }
}

// llm-analysis: MoE FLOPs without the factor top_k; GenZ: top_k/E of the experts read at any batch.
TEST(PeerFaults, EveryChosenExpertComputes) {
  const ServingReport report = Serve({"cluster=single-h200-sxm", "model=qwen3-30b-a3b", "serving.engine=ideal",
                                      "serving.batch=1", "serving.prompt=2048", "serving.output=1"},
                                     true);
  EXPECT_NEAR(FlopsOf(report.operators.prefill, "experts") / (48 * 2.0 * 2048 * 8 * 3 * 2048 * 768), 1, 1e-9);
}

// LLM-Viewer: LM head with one FLOP per weight, and without the batch.
TEST(PeerFaults, TheHeadCountsForEverySequence) {
  const ServingReport report =
      Serve({"cluster=single-h200-sxm", "model=llama-3.1-8b", "serving.engine=ideal", "serving.batch=16"}, true);
  EXPECT_NEAR(FlopsOf(report.operators.decode, "LM head") / (2.0 * 16 * 4096 * 128256), 1, 1e-9);
}

// GenZ: energy a hundred times too large.
TEST(PeerFaults, NoDeviceDrawsMoreThanItsDesignPower) {
  for (const char* batch : {"1", "32", "max"}) {
    const ServingReport report = Serve({"cluster=dgx-h100", "model=llama-3.1-70b", "serving.engine=vllm",
                                        "serving.mapping.tp=4", std::string("serving.batch=") + batch});
    const Watts drawn = report.energy_per_token * report.tokens_per_s / 8;
    EXPECT_LE(drawn, 700 * kWatt) << batch;
    EXPECT_GE(drawn, 75 * kWatt) << batch;
  }
}

// calculon: less time for more work.
TEST(PeerFaults, MoreWorkIsNeverFasterAndMoreHardwareNeverSlower) {
  const std::vector<std::string> load{"cluster=dgx-h100", "model=llama-3.1-70b", "serving.engine=trtllm",
                                      "serving.prompt=1000", "serving.output=200"};
  ServingReport before;
  for (const char* tp : {"2", "4", "8"}) {
    const ServingReport report =
        Serve(load + std::vector<std::string>{std::string("serving.mapping.tp=") + tp, "serving.batch=16"});
    if (before.batch > 1) {
      EXPECT_LT(report.decode_step, before.decode_step) << tp;
      EXPECT_LT(report.prefill, before.prefill) << tp;
    }
    before = report;
  }
  Seconds step, latency;
  for (const char* batch : {"1", "2", "4", "8", "16", "32", "64", "128"}) {
    const ServingReport report =
        Serve(load + std::vector<std::string>{"serving.mapping.tp=8", std::string("serving.batch=") + batch});
    EXPECT_GE(report.decode_step, step) << batch;
    EXPECT_GE(report.static_latency, latency) << batch;
    step = report.decode_step, latency = report.static_latency;
  }
  for (const char* network : {"100 GB/s", "200 GB/s", "450 GB/s", "900 GB/s"}) {
    const ServingReport report =
        Serve(load + std::vector<std::string>{"serving.mapping.tp=8", "serving.batch=16",
                                              std::string("cluster.networks.0.bandwidth=") + network});
    EXPECT_LE(report.decode_step, step) << network;
    step = report.decode_step;
  }
}

// In a closed loop with one replica per request, no request waits for another.
TEST(PeerFaults, ARequestAloneWaitsForNobody) {
  const auto ttft = [](const char* bandwidth) {
    return Serve({"cluster=dgx-h100", "model=llama-3.1-70b", "serving.engine=sglang", "serving.mapping.tp=2",
                  "serving.prompt=8000", "serving.concurrency=4",
                  std::string("cluster.device.memory.bandwidth=") + bandwidth})
        .ttft;
  };
  EXPECT_LE(ttft("5 TB/s"), ttft("3.35 TB/s"));
  EXPECT_LE(ttft("3.35 TB/s"), ttft("2 TB/s"));
}

}  // namespace
}  // namespace slipstick
