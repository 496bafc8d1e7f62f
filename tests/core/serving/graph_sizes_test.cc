// Decode steps are padded to a number of sequences for which a CUDA graph was captured.
#include "core/software/graph_sizes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

// cuda_graph_config.batch_sizes of NVIDIA's overview of TensorRT-LLM 1.2: 1, 2, 4 ... 256, 384, 512, 1024 ... 8192. An
// executor with at most 640 sequences captures the sizes up to 512, and 640 (_filter_cuda_graph_batch_sizes).
TEST(GraphSizes, AreThoseOfThePublishedList) {
  const std::vector<GraphSizes> rows{{256, {}}, {512, 128}, {8192, {}}}, limited{{256, {}}, {512, 128}, {640, {}}};
  struct Case {
    double sequences, captured;
  };
  for (const Case& one : {Case{1, 1}, Case{3, 4}, Case{64, 64}, Case{64.5, 128}, Case{129, 256}, Case{257, 384},
                          Case{384, 384}, Case{400, 512}, Case{594, 1024}, Case{8192, 8192}, Case{9000, 9000}}) {
    EXPECT_EQ(CapturedSequences(rows, one.sequences), one.captured) << one.sequences;
  }
  EXPECT_EQ(CapturedSequences(limited, 594), 640);
  EXPECT_EQ(CapturedSequences(limited, 700), 700);
  EXPECT_EQ(CapturedSequences({}, 3), 3);
}

// vLLM's default: 1, 2, 4, every 8 to 256, every 16 to 512.
TEST(GraphSizes, CountMultiples) {
  const std::vector<GraphSizes> rows{{4, {}}, {256, 8}, {512, 16}};
  EXPECT_EQ(CapturedSequences(rows, 5), 8);
  EXPECT_EQ(CapturedSequences(rows, 100), 104);
  EXPECT_EQ(CapturedSequences(rows, 257), 272);
}

double HeadFlops(const std::vector<std::string>& more) {
  const ServingReport report =
      Serve(std::vector<std::string>{"cluster=single-h200-sxm", "model=llama-3.1-8b", "serving.engine=trtllm",
                                     "serving.batch=300", "serving.prompt=100", "serving.output=100"} +
                more,
            true);
  const std::vector<ServedOperator>& all = report.operators.decode;
  const auto found =
      std::find_if(all.begin(), all.end(), [](const ServedOperator& one) { return one.name == "LM head"; });
  return found == all.end() ? 0 : found->flops.base();
}

// 300 sequences are padded to 384: 2 x 384 x 4096 x 128256 FLOPs in the LM head. Without graphs, or without a list,
// they stay 300.
TEST(DecodeStep, ComputesTheRowsOfItsGraph) {
  const std::string sizes = R"(serving.engine.graph_sizes=[{"up_to": 256}, {"up_to": 512, "every": 128}])";
  EXPECT_DOUBLE_EQ(HeadFlops({sizes}), 2.0 * 384 * 4096 * 128256);
  EXPECT_DOUBLE_EQ(HeadFlops({sizes, "serving.engine.graphs=false"}), 2.0 * 300 * 4096 * 128256);
  EXPECT_DOUBLE_EQ(HeadFlops({}), 2.0 * 300 * 4096 * 128256);
}

}  // namespace
}  // namespace slipstick
