// Blocks of prompts that later prompts find again. Those that running requests use stay; of the others the least
// recently used give way first, each prompt's from its end.
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
  // Leading blocks that are there, and those of them that somebody uses.
  [[nodiscard]] Count Find(BlockNumbers numbers) const;
  [[nodiscard]] Count FindUsed(BlockNumbers numbers) const;
  // Adds the block if it is not there; it stays until all who use it release it.
  void Use(std::uint32_t number);
  void Release(BlockNumbers numbers);
  // Of those that nobody uses, keeps at most so many.
  void KeepIdle(Count most);

  [[nodiscard]] Count used() const { return static_cast<Count>(blocks_.size() - idle_.size()); }
  // Changes whenever the blocks in use do.
  [[nodiscard]] Count version() const { return version_; }

 private:
  struct Block {
    Count users = 0;
    std::list<std::uint32_t>::iterator place;  // among the idle, if it has no users
  };
  std::unordered_map<std::uint32_t, Block> blocks_;
  std::list<std::uint32_t> idle_;  // the next to give way first
  Count version_ = 0;
};

}  // namespace slipstick
