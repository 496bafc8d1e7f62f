#include "core/simulation/prefix_blocks.h"

namespace slipstick {

FoundBlocks PrefixBlocks::Find(BlockNumbers numbers) const {
  std::array<Count, kTiers> found{};
  for (const std::uint32_t number : numbers) {
    const auto block = blocks_.find(number);
    if (block == blocks_.end()) break;
    ++found[block->second.tier];
  }
  return {found[kDevice], found[kHost], found[kSsd]};
}

Count PrefixBlocks::FindUsed(BlockNumbers numbers) const {
  Count found = 0;
  for (const std::uint32_t number : numbers) {
    const auto block = blocks_.find(number);
    if (block == blocks_.end() || block->second.users == 0) break;
    ++found;
  }
  return found;
}

void PrefixBlocks::Use(std::uint32_t number) {
  const auto [place, is_new] = blocks_.try_emplace(number);
  Block& block = place->second;
  if (!is_new && block.users == 0) idle_[block.tier].erase(block.place);
  block.tier = kDevice;
  if (block.users++ == 0) ++used_;
  ++version_;
}

void PrefixBlocks::Release(BlockNumbers numbers) {
  for (std::size_t i = numbers.size(); i-- > 0;) {
    Block& block = blocks_.at(numbers[i]);
    if (--block.users > 0) continue;
    block.place = idle_[kDevice].insert(idle_[kDevice].end(), numbers[i]);
    --used_;
  }
  ++version_;
}

void PrefixBlocks::KeepIdle(Count device, Count host, Count ssd) {
  const std::array<Count, kTiers> most{device, host, ssd};
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    std::list<std::uint32_t>& idle = idle_[tier];
    while (!idle.empty() && static_cast<Count>(idle.size()) > most[tier]) {
      if (tier + 1 < kTiers) {
        blocks_.at(idle.front()).tier = tier + 1;
        idle_[tier + 1].splice(idle_[tier + 1].end(), idle, idle.begin());
      } else {
        blocks_.erase(idle.front());
        idle.pop_front();
      }
    }
  }
}

}  // namespace slipstick
