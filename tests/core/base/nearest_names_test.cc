// The names nearest to a misspelled one.
#include "core/base/nearest_names.h"

#include <gtest/gtest.h>

namespace slipstick {
namespace {

using Names = std::vector<std::string>;

TEST(NearestNames, HaveOneOrTwoWrongLetters) {
  EXPECT_EQ(NearestNames("vlm", {"sglang", "vllm", "trtllm"}), Names{"vllm"});    // a letter is missing
  EXPECT_EQ(NearestNames("vlllm", {"sglang", "vllm", "trtllm"}), Names{"vllm"});  // a letter too many
  EXPECT_EQ(NearestNames("vllx", {"sglang", "vllm", "trtllm"}), Names{"vllm"});   // a wrong letter
  EXPECT_EQ(NearestNames("ring", {"string", "tree", "ping"}),
            (Names{"string", "ping"}));  // a part of a name counts as one
  EXPECT_EQ(NearestNames("ab", {"wxyz"}), Names{});
}

TEST(NearestNames, IgnoreCase) { EXPECT_EQ(NearestNames("vLLM", {"sglang", "vllm"}), Names{"vllm"}); }

TEST(NearestNames, BeginWithTheLongestThatTheWordContains) {
  EXPECT_EQ(NearestNames("meta-llama/Llama-3.1-70B-Instruct", {"llama-3.1-7", "llama-3.1-70b", "llama-3-8b"}),
            (Names{"llama-3.1-70b", "llama-3.1-7"}));
}

// Three wrong letters of nine are allowed, four are not.
TEST(NearestNames, AllowAThirdOfALongWord) {
  EXPECT_EQ(NearestNames("megatronn", {"megatron"}), Names{"megatron"});
  EXPECT_EQ(NearestNames("megaxxxon", {"megatryon"}), Names{"megatryon"});
  EXPECT_EQ(NearestNames("megxxxxon", {"megatryon"}), Names{});
}

TEST(NearestNames, AreTheThreeNearest) {
  EXPECT_EQ(NearestNames("fp8", {"fp4", "fp16", "bf8", "fp8a", "fp"}), (Names{"fp4", "fp8a", "fp"}));
}

}  // namespace
}  // namespace slipstick
