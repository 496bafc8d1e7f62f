#include "core/training/collective_memo.h"

#include <algorithm>

#include "core/training/hash.h"

namespace slipstick {

CollectiveMemo::Entry* CollectiveMemo::EntryOf(CollectiveType type, Bytes bytes, const GroupPlacement& group) {
  if (group.extent.empty() || group.extent.size() > kLevels) return nullptr;
  if (entries_.empty()) entries_.resize(kEntries);
  Hash hash;
  hash.Mix(static_cast<Count>(type)).Mix(bytes.base());
  for (const double extent : group.extent) hash.Mix(extent);
  return &entries_[hash.Modulo(kEntries)];
}

bool CollectiveMemo::Holds(const Entry& entry, CollectiveType type, Bytes bytes, const GroupPlacement& group) {
  return entry.levels == group.extent.size() && entry.type == type && entry.bytes == bytes &&
         std::equal(group.extent.begin(), group.extent.end(), entry.extent.begin());
}

void CollectiveMemo::Fill(Entry& entry, CollectiveType type, Bytes bytes, const GroupPlacement& group, Seconds time) {
  entry = {type, bytes, group.extent.size(), {}, time};
  std::copy(group.extent.begin(), group.extent.end(), entry.extent.begin());
}

}  // namespace slipstick
