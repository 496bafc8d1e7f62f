#include "core/training_stage/collective_memo.h"

#include <algorithm>

#include "core/training_stage/hash.h"

namespace slipstick {

CollectiveMemo::Entry* CollectiveMemo::EntryOf(const CollectiveCall& call, const GroupPlacement& group) {
  if (group.extent.empty() || group.extent.size() > kLevels) return nullptr;
  if (entries_.empty()) entries_.resize(kEntries);
  Hash hash;
  hash.Mix(static_cast<Count>(call.type))
      .Mix(static_cast<Count>(call.routed))
      .Mix(call.bytes.base())
      .Mix(group.innermost);
  for (const double extent : group.extent) hash.Mix(extent);
  for (const double spacing : group.spacing) hash.Mix(spacing);
  return &entries_[hash.Modulo(kEntries)];
}

bool CollectiveMemo::Holds(const Entry& entry, const CollectiveCall& call, const GroupPlacement& group) {
  return entry.levels == group.extent.size() && entry.type == call.type && entry.routed == call.routed &&
         entry.bytes == call.bytes && entry.innermost == group.innermost &&
         std::equal(group.extent.begin(), group.extent.end(), entry.extent.begin()) &&
         std::equal(group.spacing.begin(), group.spacing.end(), entry.spacing.begin());
}

void CollectiveMemo::Fill(Entry& entry, const CollectiveCall& call, const GroupPlacement& group, Seconds time) {
  entry = {call.type, call.routed, call.bytes, group.extent.size(), {}, {}, group.innermost, time};
  std::copy(group.extent.begin(), group.extent.end(), entry.extent.begin());
  std::copy(group.spacing.begin(), group.spacing.end(), entry.spacing.begin());
}

}  // namespace slipstick
