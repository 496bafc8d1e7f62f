// A catalogue entry chosen by name: "hopper". Entries are read once and never change, so this is a pointer: cheap to
// copy and to compare.
#pragma once

#include <string_view>
#include <vector>

namespace slipstick {

// Entry is a struct with a member `id`. The members are defined where the catalogue is read
// (catalogue/catalogue_entries.cc).
template <class Entry>
class CatalogueEntry {
 public:
  CatalogueEntry();                                              // "generic", which every such catalogue has
  explicit CatalogueEntry(std::string_view name);                // must exist
  explicit CatalogueEntry(const Entry& copy) : entry_(&copy) {}  // refers to an entry, which must outlive this
  const Entry& operator*() const { return *entry_; }
  const Entry* operator->() const { return entry_; }
  [[nodiscard]] std::string_view name() const;
  static const std::vector<std::string_view>& Names();
  friend bool operator==(const CatalogueEntry& a, const CatalogueEntry& b) { return a.entry_ == b.entry_; }

 private:
  const Entry* entry_;
};

}  // namespace slipstick
