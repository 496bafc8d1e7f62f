// KV blocks that prompts share, by hand.
#include "core/simulation/prefix_blocks.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/simulation/event_loop.h"

namespace slipstick {
namespace {

using Numbers = std::vector<std::uint32_t>;

Seconds Sec(double seconds) { return Seconds::FromBase(seconds); }

TEST(PrefixBlocks, FindsWhatAPromptBeginsWith) {
  PrefixBlocks blocks;
  for (const std::uint32_t number : {1U, 2U, 3U}) blocks.Use(number);
  EXPECT_EQ(blocks.Find(Numbers{1, 2, 4, 3}).All(), 2);
  EXPECT_EQ(blocks.Find(Numbers{2, 1}).All(), 2);
  EXPECT_EQ(blocks.Find(Numbers{4}).All(), 0);
  EXPECT_EQ(blocks.FindUsed(Numbers{1, 2, 3}), 3);
  EXPECT_EQ(blocks.used(), 3);
}

// Blocks 3 and 2 are evicted before 1, the start of their prompt; the prompt used last goes last.
TEST(PrefixBlocks, ForgetsTheLeastRecentlyUsedFromItsEnd) {
  PrefixBlocks blocks;
  for (const std::uint32_t number : {1U, 2U, 3U, 7U, 8U}) blocks.Use(number);
  blocks.Release(Numbers{1, 2, 3});
  blocks.Release(Numbers{7, 8});
  EXPECT_EQ(blocks.used(), 0);
  blocks.KeepIdle(3);
  EXPECT_EQ(blocks.Find(Numbers{1, 2, 3}).All(), 1);
  EXPECT_EQ(blocks.Find(Numbers{7, 8}).All(), 2);
  blocks.KeepIdle(-1);
  EXPECT_EQ(blocks.Find(Numbers{7, 8}).All(), 0);
}

TEST(PrefixBlocks, KeepsWhatSomebodyUses) {
  PrefixBlocks blocks;
  blocks.Use(1);
  blocks.Use(1);
  blocks.Release(Numbers{1});
  blocks.KeepIdle(0);
  EXPECT_EQ(blocks.Find(Numbers{1}).All(), 1);
  blocks.Release(Numbers{1});
  blocks.KeepIdle(0);
  EXPECT_EQ(blocks.Find(Numbers{1}).All(), 0);
}

// Of five blocks the device keeps the first two, host memory the next two, and the last is lost. One in use again is on
// the device.
TEST(PrefixBlocks, TiersKeepWhatTheDeviceEvicts) {
  PrefixBlocks blocks;
  const Numbers prompt{1, 2, 3, 4, 5};
  for (const std::uint32_t number : prompt) blocks.Use(number);
  blocks.Release(prompt);
  blocks.KeepIdle(2, 2);
  const FoundBlocks found = blocks.Find(prompt);
  EXPECT_EQ(found.device, 2);
  EXPECT_EQ(found.host, 2);
  EXPECT_EQ(found.All(), 4);
  for (const std::uint32_t number : Numbers{1, 2, 3}) blocks.Use(number);
  EXPECT_EQ(blocks.used(), 3);
  EXPECT_EQ(blocks.Find(prompt).host, 1);
  blocks.KeepIdle(0, 0, 1);
  EXPECT_EQ(blocks.Find(prompt).ssd, 1);
  EXPECT_EQ(blocks.Find(prompt).device, 3);
}

struct SentBlocks {
  double at;
  Count prompt, output;
  Numbers blocks;
};

// Steps of one second, a byte per token, blocks of ten tokens.
class BlockLoop {
 public:
  BlockLoop(double room, const std::vector<SentBlocks>& requests, double host = 0) : sent_(requests) {
    system_.room = {Bytes::FromBase(room), [](Count held) { return Bytes::FromBase(static_cast<double>(held)); }};
    system_.room.blocks = BlockRoom{10, Bytes::FromBase(10), Bytes::FromBase(host)};
    system_.step_time = [](const StepWork& work) {
      const Seconds time = Sec(1 + work.from_host.base() / 10);
      return SimulatedStep{time, time};
    };
    loop_.emplace(system_);
    for (const SentBlocks& one : sent_) {
      SentRequest request;
      request.prompt = one.prompt;
      request.output = one.output;
      request.blocks = one.blocks;
      loop_->Send(Sec(one.at), request);
    }
    EXPECT_TRUE(loop_->Run(static_cast<Count>(sent_.size()), [](Seconds, std::size_t) {}, 100'000));
  }
  [[nodiscard]] const SimulatedRequest& At(std::size_t i) const { return loop_->requests()[i]; }
  [[nodiscard]] SimulationCounts counts() const { return loop_->counts(); }

 private:
  std::vector<SentBlocks> sent_;
  SimulatedSystem system_;
  std::optional<EventLoop> loop_;
};

// The second prompt finds two of its three blocks; the third finds all and recomputes one token.
TEST(PrefixBlocks, PromptsHitEarlierPrompts) {
  const BlockLoop loop(1000, {{0, 30, 1, {0, 1, 2}}, {5, 30, 1, {0, 1, 3}}, {9, 30, 1, {0, 1, 3}}});
  EXPECT_EQ(loop.At(0).hit, 0);
  EXPECT_EQ(loop.At(1).hit, 20);
  EXPECT_EQ(loop.At(2).hit, 29);
}

// Five tokens at the end of a prompt do not fill a block, so no other prompt finds them.
TEST(PrefixBlocks, OnlyWholeBlocksAreShared) {
  const BlockLoop loop(1000, {{0, 25, 1, {0, 1, 2}}, {5, 25, 1, {0, 1, 2}}});
  EXPECT_EQ(loop.At(1).hit, 20);
  EXPECT_EQ(loop.counts().groups.most_held.base(), 25);
}

// Blocks can be found only after the step that computes them.
TEST(PrefixBlocks, PromptsOfOneStepShareNothing) {
  const BlockLoop loop(1000, {{0, 30, 1, {0, 1, 2}}, {0, 30, 1, {0, 1, 2}}});
  EXPECT_EQ(loop.At(1).hit, 0);
}

// The second prompt holds 40 of 60 bytes, which leaves 20 for the 30 of the first: two blocks stay.
TEST(PrefixBlocks, RunningRequestsTakeTheRoomOfIdleBlocks) {
  const BlockLoop loop(60, {{0, 30, 1, {0, 1, 2}}, {5, 40, 1, {7, 8, 9, 10}}, {9, 30, 1, {0, 1, 2}}});
  EXPECT_EQ(loop.At(2).hit, 20);
}

// With room for a block in host memory, all three are found, and loading that block takes a second more.
TEST(PrefixBlocks, EvictedBlocksComeBackFromHostMemory) {
  const BlockLoop loop(60, {{0, 30, 1, {0, 1, 2}}, {5, 40, 1, {7, 8, 9, 10}}, {9, 30, 1, {0, 1, 2}}}, 10);
  EXPECT_EQ(loop.At(2).hit, 29);
  EXPECT_EQ(loop.At(2).first.base(), 11);
}

// 60 + 60 tokens do not fit in 100 bytes, but the two prompts are the same.
TEST(PrefixBlocks, RequestsThatShareAPromptHoldItOnce) {
  const BlockLoop shared(100, {{0, 60, 10, {0, 1, 2, 3, 4, 5}}, {2, 60, 10, {0, 1, 2, 3, 4, 5}}});
  EXPECT_EQ(shared.At(1).first.base(), 3);
  EXPECT_LE(shared.counts().groups.most_held.base(), 80);
  const BlockLoop apart(100, {{0, 60, 10, {0, 1, 2, 3, 4, 5}}, {2, 60, 10, {6, 7, 8, 9, 10, 11}}});
  EXPECT_EQ(apart.At(0).last.base(), 10);
  EXPECT_EQ(apart.At(1).first.base(), 11);
  EXPECT_EQ(apart.counts().groups.preemptions, 0);
}

// Two requests of 10 + 10 tokens outgrow 35 bytes: the later one is preempted and then finds its own prompt again.
TEST(PrefixBlocks, APreemptedRequestFindsItsPromptAgain) {
  const BlockLoop loop(35, {{0, 10, 10, {0}}, {0, 10, 10, {1}}});
  EXPECT_EQ(loop.counts().groups.preemptions, 1);
  EXPECT_EQ(loop.At(0).last.base(), 10);
  EXPECT_GT(loop.At(1).last.base(), 10);
  EXPECT_EQ(loop.At(1).hit, 0) << "as it was admitted first";
}

// Whether a step delays requests, and why.
TEST(PrefixBlocks, CountsWhatRequestsWaitFor) {
  const BlockLoop memory(100, {{0, 60, 10, {}}, {0, 60, 10, {}}});
  const auto& held = memory.counts().groups.held_back;
  EXPECT_EQ(held[static_cast<std::size_t>(HeldBack::kMemory)], 10) << "in every step of the first request";
  EXPECT_EQ(held[static_cast<std::size_t>(HeldBack::kSequences)], 0);
  EXPECT_EQ(held[static_cast<std::size_t>(HeldBack::kStepTokens)], 0);
}

}  // namespace
}  // namespace slipstick
