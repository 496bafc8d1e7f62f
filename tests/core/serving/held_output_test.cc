// One rule says how much of its output a running request holds. The capacity, the KV cache shown, the memory's total
// and the context of a decode step follow it, and a feasible deployment never shows more memory than there is.
#include <algorithm>
#include <cmath>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

const std::vector<std::string> kLongOutputs{"model=llama-3.1-8b",
                                            "cluster=single-h100-sxm5-80gb",
                                            "serving.devices=1",
                                            "serving.mapping.tp=1",
                                            "serving.precision.weights=bf16",
                                            "serving.precision.activations=bf16",
                                            "serving.precision.kv_cache=bf16",
                                            "serving.prompt=128",
                                            "serving.output=2000"};
constexpr double kPerToken = 2.0 * 32 * 8 * 128 * 2;  // bytes: keys and values, 32 layers, 8 heads of 128, 16 bit

// vLLM reserves no output: on average a request holds its prompt and half of its output, 128 + 1,000 tokens in 71 pages
// of 16.
TEST(HeldOutput, OfAnEngineThatPreemptsIsHalf) {
  for (const char* load : {"serving.batch=max", "serving.concurrency=2000", "serving.requests_per_s=1000"}) {
    const ServingReport report = Serve(kLongOutputs + std::vector<std::string>{"serving.engine=vllm", load});
    const double held = 71 * 16 * kPerToken;
    EXPECT_EQ(report.batch, report.max_batch) << load;
    EXPECT_NEAR(report.kv_cache.base(), static_cast<double>(report.max_batch) * held, 1) << load;
    EXPECT_LE(report.memory.Total(), report.memory.capacity) << load;
    // One more request would exceed the engine's 90 % of the device.
    EXPECT_GT(report.memory.Total().base() + held, 0.9 * report.memory.capacity.base()) << load;
  }
}

// TensorRT-LLM admits a request only with room for its whole output: 2,128 tokens in 67 pages of 32.
TEST(HeldOutput, OfAnEngineThatNeverPreemptsIsTheWhole) {
  const ServingReport report =
      Serve(kLongOutputs + std::vector<std::string>{"serving.engine=trtllm", "serving.batch=max"});
  EXPECT_NEAR(report.kv_cache.base(), static_cast<double>(report.max_batch) * 67 * 32 * kPerToken, 1);
  EXPECT_LE(report.memory.Total(), report.memory.capacity);
}

// No request can hold less than the mean of its output so far.
TEST(HeldOutput, IsNeverLessThanHalf) {
  const auto most = [](const char* reserved) {
    return Serve(kLongOutputs +
                 std::vector<std::string>{"serving.engine=vllm", "serving.batch=max",
                                          std::string("serving.engine.memory.output_reserved=") + reserved})
        .max_batch;
  };
  EXPECT_EQ(most("0"), most("0.5"));
  EXPECT_GT(most("0.5"), most("1"));
}

// Longer requests run longer, so they are a larger share of those running: with a standard deviation equal to the mean,
// their mean output is twice the mean. They hold half of it, 128 + 2,000 tokens in 133 pages, and a decode step reads
// as much.
TEST(HeldOutput, CountsHowLongARequestStays) {
  const std::vector<std::string> spread{"serving.lengths.output.kind=lognormal", "serving.lengths.output.variation=1",
                                        "serving.engine=vllm", "serving.batch=max"};
  const ServingReport report = Serve(kLongOutputs + spread);
  EXPECT_NEAR(report.kv_cache.base(), static_cast<double>(report.max_batch) * 133 * 16 * kPerToken, 1);
  const std::vector<FigureRecord> explained = ExplainedServing(kLongOutputs + spread);
  const auto context = std::find_if(explained.begin(), explained.end(), [](const FigureRecord& figure) {
    return figure.title == "Context of a decode step";
  });
  ASSERT_NE(context, explained.end());
  EXPECT_EQ(context->value, 128 + 2000);
}

// A request with room for half of its output but not for all of it can never finish: the scenario does not fit.
TEST(HeldOutput, LeavesRoomForOneRequestToItsEnd) {
  const ServingReport fits = Serve(kLongOutputs + std::vector<std::string>{"serving.engine=vllm", "serving.batch=1"});
  const auto longest = static_cast<double>(fits.max_context);
  const auto with_output = [&](double share) {
    return Serve(kLongOutputs +
                 std::vector<std::string>{"serving.engine=vllm", "serving.batch=1",
                                          "serving.output=" + std::to_string(std::llround(share * longest))});
  };
  EXPECT_TRUE(with_output(0.99).infeasible.empty());
  const ServingReport too_long = with_output(1.5);
  ASSERT_EQ(too_long.infeasible.size(), 1U);
  EXPECT_EQ(too_long.infeasible[0].reason, "kv_cache");
  EXPECT_EQ(too_long.max_batch, 0);
}

// Two pools of an engine that queues a batch: only the sequences that fit run.
TEST(HeldOutput, BoundsTheBatchOfADecodePool) {
  const ServingReport report =
      Serve({"model=llama-3.1-8b", "cluster=dgx-h100", "cluster.devices=8", "serving.engine=lmdeploy",
             "serving.prompt=4096", "serving.output=8192", "serving.batch=4096", "serving.mapping.tp=1",
             "serving.devices=8", R"(serving.disaggregated={"prefill_devices": 7, "decode_devices": 1})"});
  EXPECT_TRUE(report.infeasible.empty());
  EXPECT_LE(report.batch, report.max_batch);
  EXPECT_LE(report.memory.Total(), report.memory.capacity);
}

}  // namespace
}  // namespace slipstick
