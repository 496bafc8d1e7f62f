// Contexts of the idle sessions of an attention group. The least recently used are evicted first, from their end: from
// device memory to host memory, from there to SSD, and then they are lost. Evicted tokens come back only with their
// session.
#pragma once

#include <array>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/base/quantity.h"

namespace slipstick {

struct ContextMemory {
  Count system = 0;  // tokens that all sessions share; always cached
  Bytes host, ssd;
};

// Cached tokens of a context, without the shared ones; those on the device come first.
struct FoundContext {
  double device = 0, host = 0, ssd = 0;
  Bytes token;  // bytes per token
  [[nodiscard]] double All() const { return device + host + ssd; }
};

class ContextCache {
 public:
  // `own_bytes`: bytes of a context without the part that all sessions share.
  ContextCache(const ContextMemory& memory, std::function<Bytes(Count tokens)> own_bytes)
      : memory_(memory), own_bytes_(std::move(own_bytes)) {}

  [[nodiscard]] FoundContext Find(Count session) const;
  // Removes a context that is used again or no longer needed.
  void Drop(Count session);
  // Adds a context as the most recently used one, on the device.
  void Keep(Count session, Count tokens);
  // Evicts until idle contexts take at most this much device memory.
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
  std::array<std::set<std::pair<Count, Count>>, kTiers> by_use_;  // order and session of contexts with tokens there
  std::array<Bytes, kTiers> held_{};
  Count uses_ = 0;
};

}  // namespace slipstick
