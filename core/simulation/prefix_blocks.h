// Prompt blocks that later prompts can reuse. Blocks in use stay. Of the others, the least recently used are evicted
// first; the blocks of one prompt from its end.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>

#include "core/base/quantity.h"

namespace slipstick {

using BlockNumbers = std::span<const std::uint32_t>;  // of a prompt, from its start

class PrefixBlocks {
 public:
  // Number of leading blocks that are cached, and how many of these are in use.
  [[nodiscard]] Count Find(BlockNumbers numbers) const;
  [[nodiscard]] Count FindUsed(BlockNumbers numbers) const;
  // Adds the block if it is not cached; it stays until all its users release it.
  void Use(std::uint32_t number);
  void Release(BlockNumbers numbers);
  // Evicts blocks without users until at most `most` are left.
  void KeepIdle(Count most);

  [[nodiscard]] Count used() const { return static_cast<Count>(blocks_.size() - idle_.size()); }
  // Changes whenever the blocks in use do.
  [[nodiscard]] Count version() const { return version_; }

 private:
  struct Block {
    Count users = 0;
    std::list<std::uint32_t>::iterator place;  // in idle_, if the block has no users
  };
  std::unordered_map<std::uint32_t, Block> blocks_;
  std::list<std::uint32_t> idle_;  // next to be evicted first
  Count version_ = 0;
};

}  // namespace slipstick
