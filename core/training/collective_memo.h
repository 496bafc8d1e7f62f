// Caches times of collectives: the same few recur in thousands of mappings.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/collectives/collective.h"

namespace slipstick {

class CollectiveMemo {
 public:
  template <class Compute>
  Seconds Get(CollectiveType type, Bytes bytes, const GroupPlacement& group, const Compute& compute) {
    Entry* entry = EntryOf(type, bytes, group);
    if (entry == nullptr) return compute();
    if (!Holds(*entry, type, bytes, group)) Fill(*entry, type, bytes, group, compute());
    return entry->time;
  }

 private:
  static constexpr std::size_t kEntries = 1024, kLevels = 6;
  struct Entry {
    CollectiveType type = CollectiveType::kAllReduce;
    Bytes bytes{};
    std::size_t levels = 0;  // 0: empty
    std::array<double, kLevels> extent{};
    Seconds time{};
  };
  Entry* EntryOf(CollectiveType type, Bytes bytes, const GroupPlacement& group);  // null: not cached
  static bool Holds(const Entry& entry, CollectiveType type, Bytes bytes, const GroupPlacement& group);
  static void Fill(Entry& entry, CollectiveType type, Bytes bytes, const GroupPlacement& group, Seconds time);

  std::vector<Entry> entries_;
};

}  // namespace slipstick
