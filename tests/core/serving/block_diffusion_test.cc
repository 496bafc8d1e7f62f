// Block diffusion: a step computes a block of tokens and keeps some of them.
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

const std::vector<std::string> kPlain{"cluster=single-h100-sxm5-80gb", "model=llada2.0-mini", "serving.engine=sglang",
                                      "serving.batch=1"};
std::vector<std::string> Blocks(const std::string& block, const std::string& kept) {
  return kPlain + std::vector<std::string>{"serving.block_diffusion.block=" + block,
                                           "serving.block_diffusion.tokens_per_step=" + kept};
}

// With blocks of one token, every step keeps one token.
TEST(BlockDiffusion, OfOneTokenIsOrdinaryDecoding) {
  const ServingReport plain = Serve(kPlain), one = Serve(Blocks("1", "1"));
  EXPECT_EQ(one.tpot, plain.tpot);
  EXPECT_EQ(one.ttft, plain.ttft);
  EXPECT_EQ(one.tokens_per_s, plain.tokens_per_s);
}

TEST(BlockDiffusion, AStepHasTheRowsOfABlockAndYieldsWhatItKeeps) {
  const ServingReport plain = Serve(kPlain, true), blocks = Serve(Blocks("32", "4"), true);
  const auto work = [](const ServingReport& report, const std::string& name) {
    double flops = 0;
    for (const ServedOperator& one : report.operators.decode) {
      if (one.name == name) flops += one.count * one.flops.base();
    }
    return flops;
  };
  EXPECT_NEAR(work(blocks, "LM head") / work(plain, "LM head"), 32, 1e-9);
  EXPECT_GT(blocks.decode_step, plain.decode_step);
  const ServingReport twice = Serve(Blocks("32", "8"));
  EXPECT_NEAR(blocks.tpot / twice.tpot, 2, 1e-3);
  EXPECT_EQ(blocks.kv_cache, plain.kv_cache);
}

// Verifying 31 free draft tokens, of which 3 are accepted on average, computes the same steps.
TEST(BlockDiffusion, EqualsTheVerificationOfFreeDrafts) {
  const double acceptance = 0.75;  // endless drafts keep 1 / (1 - 0.75) = 4 tokens per step, 31 nearly as many
  const ServingReport drafted =
      Serve(kPlain + std::vector<std::string>{"serving.speculative.draft_tokens=31",
                                              "serving.speculative.acceptance=" + std::to_string(acceptance),
                                              "serving.speculative.draft_cost=0"});
  EXPECT_NEAR(Serve(Blocks("32", "4")).tpot / drafted.tpot, 1, 1e-3);
}

TEST(BlockDiffusion, ContradictionsAreIssues) {
  const auto path_of = [](const std::vector<std::string>& assignments) {
    const Result<Scenario> scenario = ScenarioOf(assignments);
    return scenario.issues.size() == 1 ? scenario.issues[0].path : "";
  };
  EXPECT_EQ(path_of(Blocks("8", "9")), "serving.block_diffusion.tokens_per_step");
  EXPECT_EQ(path_of(Blocks("8", "4") + std::vector<std::string>{"serving.speculative.draft_tokens=3"}),
            "serving.speculative");
}

}  // namespace
}  // namespace slipstick
