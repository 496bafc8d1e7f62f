// Prompt blocks that later prompts can reuse. Blocks in use stay. Of the others, the least recently used are evicted
// first, the blocks of one prompt from its end: from device memory to host memory, from there to SSD, and then they are
// lost.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>

#include "core/base/quantity.h"

namespace slipstick {

using BlockNumbers = std::span<const std::uint32_t>;  // of a prompt, from its start

// Leading blocks of a prompt that are cached, by the tier that keeps them.
struct FoundBlocks {
  Count device = 0, host = 0, ssd = 0;
  [[nodiscard]] Count All() const { return device + host + ssd; }
};

class PrefixBlocks {
 public:
  // Leading blocks that are cached, and how many of the prompt's leading blocks are in use.
  [[nodiscard]] FoundBlocks Find(BlockNumbers numbers) const;
  [[nodiscard]] Count FindUsed(BlockNumbers numbers) const;
  // Adds the block if it is not in device memory; it stays there until all its users release it.
  void Use(std::uint32_t number);
  void Release(BlockNumbers numbers);
  // Evicts blocks without users until each tier has at most so many.
  void KeepIdle(Count device, Count host = 0, Count ssd = 0);

  [[nodiscard]] Count used() const { return used_; }
  // Changes whenever the blocks in use do.
  [[nodiscard]] Count version() const { return version_; }

 private:
  enum Tier : std::size_t { kDevice, kHost, kSsd, kTiers };
  struct Block {
    Count users = 0;
    std::size_t tier = kDevice;
    std::list<std::uint32_t>::iterator place;  // in its tier's idle_, if the block has no users
  };
  std::unordered_map<std::uint32_t, Block> blocks_;
  std::array<std::list<std::uint32_t>, kTiers> idle_;  // next to be evicted first
  Count used_ = 0, version_ = 0;
};

}  // namespace slipstick
