// Caches times of collectives on one cluster: the same few collectives recur in thousands of mappings.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/collectives/collective.h"

namespace slipstick {

class CollectiveMemo {
 public:
  template <class Compute>
  Seconds Get(const CollectiveCall& call, const GroupPlacement& group, const Compute& compute) {
    Entry* entry = EntryOf(call, group);
    if (entry == nullptr) return compute();
    if (!Holds(*entry, call, group)) Fill(*entry, call, group, compute());
    return entry->time;
  }

 private:
  static constexpr std::size_t kEntries = 1024, kLevels = 6;
  struct Entry {
    CollectiveType type = CollectiveType::kAllReduce;
    bool routed = false;
    Bytes bytes{};
    std::size_t levels = 0;  // 0: empty
    std::array<double, kLevels> extent{}, spacing{};
    double innermost = 1;
    Seconds time{};
  };
  Entry* EntryOf(const CollectiveCall& call, const GroupPlacement& group);  // null: not cached
  static bool Holds(const Entry& entry, const CollectiveCall& call, const GroupPlacement& group);
  static void Fill(Entry& entry, const CollectiveCall& call, const GroupPlacement& group, Seconds time);

  std::vector<Entry> entries_;
};

}  // namespace slipstick
