// Drafts of a separate model.
#include "tests/core/serving/served.h"

namespace slipstick {
namespace {

// Ten drafts of 1,235,814,400 parameters in 16 bit on an H200 of 4.8 TB/s take 5.15 ms at least, whatever share of a
// short step they are said to take. Of them and one token more, (1 - 0.82^11) / 0.18 = 4.929 are kept.
TEST(Speculative, DraftsTakeTheTimeToReadTheirWeights) {
  const std::vector<std::string> load{"model=qwen3-8b",        "cluster=single-h200-sxm",
                                      "serving.devices=1",     "serving.mapping.tp=1",
                                      "serving.concurrency=1", "serving.speculative.preset=draft-llama-3.2-1b"};
  const Seconds drafts = 10 * (1'235'814'400 * (2 * kB)) / (4.8 * kTBps);
  const Seconds free = Serve(load + std::vector<std::string>{"serving.speculative.draft_parameters=0",
                                                             "serving.speculative.draft_cost=0"})
                           .tpot;
  EXPECT_NEAR((Serve(load).tpot - free) / (drafts / 4.929), 1, 0.01);
}

// Beside its own model a draft takes its share of a step: 19.6 ms of one H200, so 0.78 ms each instead of 0.51 ms.
TEST(Speculative, DraftsTakeTheirShareOfALongStep) {
  const std::vector<std::string> load{"model=llama-3.3-70b",   "cluster=single-h200-sxm",
                                      "serving.devices=1",     "serving.mapping.tp=1",
                                      "serving.concurrency=1", "serving.speculative.preset=draft-llama-3.2-1b"};
  EXPECT_EQ(Serve(load).tpot, Serve(load + std::vector<std::string>{"serving.speculative.draft_parameters=1"}).tpot);
}

}  // namespace
}  // namespace slipstick
