// A choice among the entries of a catalogue by name: "hopper". The entries are read once and never change, so a choice is a
// pointer: it costs nothing to copy, to compare or to look through.
#pragma once

#include <string_view>
#include <vector>

namespace slipstick {

// Entry is a struct with a member `id`. The members are defined where the catalogue is read (study/catalogue_entries.cc).
template <class Entry>
class CatalogueEntry {
 public:
  CatalogueEntry();                                // the entry "generic", which every such catalogue has
  explicit CatalogueEntry(std::string_view name);  // an entry that is there
  const Entry& operator*() const { return *entry_; }
  const Entry* operator->() const { return entry_; }
  [[nodiscard]] std::string_view name() const;
  static const std::vector<std::string_view>& Names();
  friend bool operator==(const CatalogueEntry& a, const CatalogueEntry& b) { return a.entry_ == b.entry_; }

 private:
  const Entry* entry_;
};

}  // namespace slipstick
