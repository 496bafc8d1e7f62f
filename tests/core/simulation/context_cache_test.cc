// Idle contexts of a byte per token, by hand.
#include "core/simulation/context_cache.h"

#include <gtest/gtest.h>

namespace slipstick {
namespace {

Bytes B(double bytes) { return Bytes::FromBase(bytes); }
ContextCache CacheOf(double host, double ssd) {
  return {ContextMemory{100, B(host), B(ssd)}, [](Count tokens) { return B(1e6 * static_cast<double>(tokens - 100)); }};
}

// Two contexts with 100 and 200 tokens of their own; the older is evicted first, from its end.
TEST(ContextCache, EvictsTheLeastRecentlyUsedFromTheirEnd) {
  ContextCache cache = CacheOf(0, 0);
  cache.Keep(1, 200);
  cache.Keep(2, 300);
  cache.FitInto(B(250e6));
  EXPECT_NEAR(cache.Find(1).All(), 50, 1e-3);
  EXPECT_NEAR(cache.Find(2).All(), 200, 1e-3);
  cache.FitInto(B(120e6));
  EXPECT_EQ(cache.Find(1).All(), 0);
  EXPECT_NEAR(cache.Find(2).device, 120, 1e-3);
  cache.FitInto(B(0));
  EXPECT_EQ(cache.Find(2).All(), 0);
}

TEST(ContextCache, CountsUseNotAge) {
  ContextCache cache = CacheOf(0, 0);
  cache.Keep(1, 200);
  cache.Keep(2, 200);
  cache.Keep(1, 200);
  cache.FitInto(B(100e6));
  EXPECT_EQ(cache.Find(1).device, 100);
  EXPECT_EQ(cache.Find(2).All(), 0);
}

// 60 tokens stay on the device, the next 30 are in host memory, 5 on SSD, 5 gone; room on the device brings none back.
TEST(ContextCache, MovesThroughTheTiers) {
  ContextCache cache = CacheOf(30e6, 5e6);
  cache.Keep(1, 200);
  cache.FitInto(B(60e6));
  cache.FitInto(B(500e6));
  const FoundContext found = cache.Find(1);
  EXPECT_NEAR(found.device, 60, 1e-3);
  EXPECT_NEAR(found.host, 30, 1e-3);
  EXPECT_NEAR(found.ssd, 5, 1e-3);
  EXPECT_EQ(found.token, B(1e6));
  cache.Drop(1);
  EXPECT_EQ(cache.Find(1).All(), 0);
  cache.Keep(2, 130);
  cache.FitInto(B(0));
  EXPECT_NEAR(cache.Find(2).host, 30, 1e-3) << "what was dropped takes no room";
}

// The device has no room for 100 tokens: host memory or SSD alone keeps as many as fit there.
TEST(ContextCache, KeepsAContextInOneLowerTierAlone) {
  ContextCache in_host = CacheOf(30e6, 0), on_ssd = CacheOf(0, 5e6);
  for (ContextCache* cache : {&in_host, &on_ssd}) {
    cache->Keep(1, 200);
    cache->FitInto(B(0));
  }
  EXPECT_NEAR(in_host.Find(1).host, 30, 1e-3);
  EXPECT_NEAR(in_host.Find(1).All(), 30, 1e-3);
  EXPECT_NEAR(on_ssd.Find(1).ssd, 5, 1e-3);
  EXPECT_NEAR(on_ssd.Find(1).All(), 5, 1e-3);
}

}  // namespace
}  // namespace slipstick
