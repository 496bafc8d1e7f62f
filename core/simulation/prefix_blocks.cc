#include "core/simulation/prefix_blocks.h"

namespace slipstick {

Count PrefixBlocks::Find(BlockNumbers numbers) const {
  Count found = 0;
  for (const std::uint32_t number : numbers) {
    if (!blocks_.contains(number)) break;
    ++found;
  }
  return found;
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
  if (!is_new && block.users == 0) idle_.erase(block.place);
  ++block.users;
  ++version_;
}

void PrefixBlocks::Release(BlockNumbers numbers) {
  for (std::size_t i = numbers.size(); i-- > 0;) {
    Block& block = blocks_.at(numbers[i]);
    if (--block.users == 0) block.place = idle_.insert(idle_.end(), numbers[i]);
  }
  ++version_;
}

void PrefixBlocks::KeepIdle(Count most) {
  while (!idle_.empty() && static_cast<Count>(idle_.size()) > most) {
    blocks_.erase(idle_.front());
    idle_.pop_front();
  }
}

}  // namespace slipstick
