// Contexts of the idle sessions of an attention group. The least recently used give way first, from their end: out of
// device memory into host memory, from there to SSD, and then they are gone. What has left does not come back before
// its session does.
#pragma once

#include <array>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/base/quantity.h"

namespace slipstick {

struct ContextMemory {
  Count system = 0;  // tokens that all sessions share; always there
  Bytes host, ssd;
};

// Tokens of a context that are there, beside the shared ones; those on the device come first.
struct FoundContext {
  double device = 0, host = 0, ssd = 0;
  Bytes token;  // bytes of one
  [[nodiscard]] double All() const { return device + host + ssd; }
};

class ContextCache {
 public:
  // `own_bytes`: of a context, beside what all share.
  ContextCache(const ContextMemory& memory, std::function<Bytes(Count tokens)> own_bytes)
      : memory_(memory), own_bytes_(std::move(own_bytes)) {}

  [[nodiscard]] FoundContext Find(Count session) const;
  // It runs again, or is no longer wanted.
  void Drop(Count session);
  // As the latest, on the device.
  void Keep(Count session, Count tokens);
  // Makes room until idle contexts take no more device memory than this.
  void FitInto(Bytes device);

 private:
  enum Tier : std::size_t { kDevice, kHost, kSsd, kTiers };
  struct Context {
    Count order = 0;  // by last use
    Bytes token;
    std::array<double, kTiers> tokens{};
  };
  void Move(Count session, Context& context, std::size_t tier, double tokens);

  ContextMemory memory_;
  std::function<Bytes(Count)> own_bytes_;
  std::unordered_map<Count, Context> contexts_;
  std::array<std::set<std::pair<Count, Count>>, kTiers> by_use_;  // order and session of those with tokens there
  std::array<Bytes, kTiers> held_{};
  Count uses_ = 0;
};

}  // namespace slipstick
