// Names that somebody may have meant, by the letters that differ.
#include "core/base/nearest_names.h"

#include <gtest/gtest.h>

namespace slipstick {
namespace {

using Names = std::vector<std::string>;

TEST(NearestNames, HaveOneOrTwoWrongLetters) {
  EXPECT_EQ(NearestNames("vlm", {"sglang", "vllm", "trtllm"}), Names{"vllm"});             // one is missing
  EXPECT_EQ(NearestNames("vlllm", {"sglang", "vllm", "trtllm"}), Names{"vllm"});           // one too many
  EXPECT_EQ(NearestNames("vllx", {"sglang", "vllm", "trtllm"}), Names{"vllm"});            // one is wrong
  EXPECT_EQ(NearestNames("ring", {"string", "tree", "ping"}), (Names{"string", "ping"}));  // a part of it counts as one
  EXPECT_EQ(NearestNames("ab", {"wxyz"}), Names{});
}

// A third of a longer word may be wrong: three letters of nine, not four.
TEST(NearestNames, AreTheSameInCapitals) { EXPECT_EQ(NearestNames("vLLM", {"sglang", "vllm"}), Names{"vllm"}); }

TEST(NearestNames, BeginWithTheLongestThatTheWordContains) {
  EXPECT_EQ(NearestNames("meta-llama/Llama-3.1-70B-Instruct", {"llama-3.1-7", "llama-3.1-70b", "llama-3-8b"}),
            (Names{"llama-3.1-70b", "llama-3.1-7"}));
}

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
