// Catalogues whose entries are only chosen by name: kernel families and link families; and the defaults of structs.
#include <cassert>
#include <deque>
#include <string>
#include <vector>

#include "core/base/architecture.h"
#include "core/base/made_once.h"
#include "core/base/schema.h"
#include "core/catalogue/presets.h"
#include "core/collectives/fabric.h"
#include "core/operators/kernel_family_fields.h"

namespace slipstick {
namespace {

// A file merged over its preset, recursively.
Json MergedFile(std::string_view kind, std::string_view id, int depth) {
  const Json* entry = FindPreset(kind, id);
  assert(entry != nullptr && depth < 8);
  Json own = WithoutRemarks(*entry);
  const Json* under = FindMember(own, "preset");
  if (under == nullptr) return own;
  Json merged = MergedFile(kind, TextOf(*under), depth + 1);
  MergeJson(merged, own);
  return merged;
}

template <class Entry>
Entry ReadEntry(std::string_view id) {
  Issues issues;
  Entry entry;
  Read(MergedFile(Schema<Entry>::preset_kind, id, 0), std::string(id), issues, entry);
  assert(issues.empty());
  entry.id = id;
  return entry;
}

// Read on first use.
template <class Entry>
class LazyEntry {
 public:
  explicit LazyEntry(std::string_view id) : id_(id) {}
  std::string_view id() const { return id_; }
  const Entry& entry() const {
    return entry_.Get([this] { return ReadEntry<Entry>(id_); });
  }

 private:
  std::string_view id_;
  MadeOnce<Entry> entry_;
};

// Never destroyed, because pointers to chosen entries stay in use until the program ends.
template <class Entry>
const std::deque<LazyEntry<Entry>>& LazyEntries() {
  static const std::deque<LazyEntry<Entry>>& entries = *[] {
    auto* made = new std::deque<LazyEntry<Entry>>;
    for (const PresetText& preset : PresetTexts()) {
      if (preset.kind == Schema<Entry>::preset_kind) made->emplace_back(preset.id);
    }
    return made;
  }();
  return entries;
}

template <class Entry>
const Entry* Find(std::string_view name) {
  for (const LazyEntry<Entry>& entry : LazyEntries<Entry>()) {
    if (entry.id() == name) return &entry.entry();
  }
  return nullptr;
}

}  // namespace

Json internal::StandardEntry(std::string_view id, std::string_view kind) {
  Json own = WithoutRemarks(*FindPreset("standard", id));
  const Json* under = FindMember(own, "preset");
  if (under == nullptr) return own;
  Json merged = MergedFile(kind, TextOf(*under), 0);
  own.erase("preset");  // the numbers are the entry's, the default preset is the struct's
  MergeJson(merged, own);
  return merged;
}

template <class Entry>
CatalogueEntry<Entry>::CatalogueEntry() {
  static const Entry* const generic = Find<Entry>("generic");
  assert(generic != nullptr);
  entry_ = generic;
}

template <class Entry>
CatalogueEntry<Entry>::CatalogueEntry(std::string_view name) : entry_(Find<Entry>(name)) {
  assert(entry_ != nullptr);
}

template <class Entry>
std::string_view CatalogueEntry<Entry>::name() const {
  return entry_->id;
}

template <class Entry>
const std::vector<std::string_view>& CatalogueEntry<Entry>::Names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> made;
    for (const LazyEntry<Entry>& entry : LazyEntries<Entry>()) made.push_back(entry.id());
    return made;
  }();
  return names;
}

template class CatalogueEntry<KernelFamily>;
template class CatalogueEntry<FabricConstants>;

}  // namespace slipstick
