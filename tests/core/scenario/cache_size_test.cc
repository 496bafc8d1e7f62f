// KV-cache bytes per token over all layers in bf16: 2 x layers x KV heads x head dimension x 2 bytes; with latent
// attention, layers x (rank + rotary dimension) x 2 bytes.
#include <gtest/gtest.h>

#include "core/api/api.h"
#include "core/base/json.h"
#include "core/scenario/answer.h"

namespace slipstick {
namespace {

struct Row {
  const char* model;
  double bytes;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.model; }
class CacheTest : public ::testing::TestWithParam<Row> {};

TEST_P(CacheTest, FollowsFromTheShape) {
  const Answer answer = EvaluateAnswer(
      R"({"version": 1})", {std::string("model=") + GetParam().model, "serving.batch=1", "serving.prompt=1024",
                            "training=null", "serving.mapping.tp=1", "serving.devices=1"});
  for (const Issue& issue : answer.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  const Result<Json> report = ParseJson(answer.text);
  ASSERT_TRUE(report && report->contains("serving"));
  EXPECT_EQ((*report)["serving"]["kv_cache_bytes_per_token"].get<double>(), GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Models, CacheTest,
    ::testing::Values(Row{"gpt3-175b", 4718592}, Row{"llama-2-7b", 524288}, Row{"llama-2-13b", 819200},
                      Row{"llama-2-70b", 327680}, Row{"llama-3.1-8b", 131072}, Row{"llama-3.1-70b", 327680},
                      Row{"llama-3.1-405b", 516096}, Row{"mistral-7b", 131072}, Row{"mixtral-8x7b", 131072},
                      Row{"qwen2.5-7b", 57344}, Row{"qwen2.5-72b", 327680}, Row{"qwen3-30b-a3b", 98304},
                      Row{"qwen3-235b-a22b", 192512}, Row{"gemma-2-9b", 344064}, Row{"gemma-2-27b", 376832},
                      Row{"gpt-oss-120b", 73728}, Row{"deepseek-v3", 70272}, Row{"deepseek-v2", 69120},
                      Row{"deepseek-v2-lite", 31104}),
    [](const ::testing::TestParamInfo<Row>& info) {
      std::string name = info.param.model;
      for (char& c : name) c = c == '.' || c == '-' ? '_' : c;
      return name;
    });

}  // namespace
}  // namespace slipstick
