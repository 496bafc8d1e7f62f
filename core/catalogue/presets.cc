#include "core/catalogue/presets.h"

#include <cassert>
#include <cctype>
#include <deque>
#include <map>
#include <utility>

#include "core/base/made_once.h"
#include "core/base/nearest_names.h"

namespace slipstick {
namespace {

// A catalogue entry, parsed on first use: an answer needs about ten of several hundred.
class Entry {
 public:
  Entry(std::string_view kind, std::string_view id, std::string_view text) : kind_(kind), id_(id), text_(text) {}
  std::string_view kind() const { return kind_; }
  const std::string& id() const { return id_; }
  const Json& json() const {
    return json_.Get([this] { return text_.empty() ? SingleDevice() : Parsed(); });
  }

 private:
  Json Parsed() const {
    Result<Json> json = ParseJson(text_);
    assert(json);
    return std::move(*json);
  }
  Json SingleDevice() const;

  std::string_view kind_;
  std::string id_;
  std::string_view text_;  // "" for a single-device cluster, which is built from other entries
  MadeOnce<Json> json_;
};

constexpr std::string_view kPlainServer = "pcie-server";
constexpr std::string_view kSingle = "single-";

// Constant while the program runs. After the files' entries come the clusters "single-X", one for every device X.
const std::deque<Entry>& Entries() {
  static const std::deque<Entry> entries = [] {
    std::deque<Entry> made;
    for (const PresetText& preset : PresetTexts()) made.emplace_back(preset.kind, preset.id, preset.text);
    for (const PresetText& preset : PresetTexts()) {
      if (preset.kind == "device") made.emplace_back("cluster", std::string(kSingle) + std::string(preset.id), "");
    }
    return made;
  }();
  return entries;
}

// One device with the networks of the first cluster that uses it, else with what its file says joins several: null for
// devices that nothing joins. Cards say nothing: they are in the slots of a PCIe server.
Json Entry::SingleDevice() const {
  const std::string device = id_.substr(kSingle.size());
  const Json* system = FindPreset("cluster", ClusterWith(device));
  Json json = system != nullptr ? *system : *FindPreset("cluster", kPlainServer);
  const Json& file = *FindPreset("device", device);
  if (system == nullptr) json["networks"].erase(json["networks"].begin() + 1, json["networks"].end());
  if (const Json* link = FindMember(file, "joined_by")) {
    json["networks"] = Json::array();
    if (link->is_string()) json["networks"].push_back(WithoutRemarks(*FindPreset("network", TextOf(*link))));
    json["sources"] = Json{{"networks", file["sources"].value("joined_by", "")}};
  }
  json["name"] = "One " + file.value("name", device);
  json["device"] = Json{{"preset", device}};
  json["devices"] = 1;
  return json;
}

// A name as an id: its letters and digits, with a hyphen for every run of other characters.
std::string WordsOf(std::string_view name) {
  std::string words;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words += c;
    } else if (!words.empty() && words.back() != '-') {
      words += '-';
    }
  }
  return words;
}

// Presets whose name is like the id: people also write names, such as "TensorRT-LLM". Reads all files of the kind.
std::vector<std::string> NearestByName(std::string_view kind, std::string_view id) {
  std::map<std::string, std::string_view> ids;  // by the words of the name
  for (const Entry& entry : Entries()) {
    if (entry.kind() != kind) continue;
    const auto name = entry.json().find("name");
    if (name != entry.json().end() && name->is_string()) ids.emplace(WordsOf(TextOf(*name)), entry.id());
  }
  std::vector<std::string_view> words;
  for (const auto& [name, preset] : ids) words.push_back(name);
  std::vector<std::string> near = NearestNames(WordsOf(id), words);
  for (std::string& one : near) one = ids.at(one);
  return near;
}

}  // namespace

const std::vector<PresetText>& PresetTexts() {
  static const std::vector<PresetText> texts = [] {
    std::vector<PresetText> made;
    std::string_view rest = EmbeddedPresets();
    const auto next = [&rest] {
      const std::string_view one = rest.substr(0, rest.find('\0'));
      rest.remove_prefix(one.size() + 1);
      return one;
    };
    while (!rest.empty()) {
      const std::string_view kind = next(), id = next();
      made.push_back({kind, id, next()});
    }
    return made;
  }();
  return texts;
}

const Json* FindPreset(std::string_view kind, std::string_view id) {
  using Name = std::pair<std::string_view, std::string_view>;  // kind and id
  static const std::map<Name, const Entry*> entries = [] {
    std::map<Name, const Entry*> by_name;
    for (const Entry& entry : Entries()) by_name.emplace(Name(entry.kind(), entry.id()), &entry);
    return by_name;
  }();
  const auto found = entries.find({kind, id});
  return found == entries.end() ? nullptr : &found->second->json();
}

std::vector<std::string> NearestPresets(std::string_view kind, std::string_view id) {
  std::vector<std::string_view> ids;
  for (const Entry& entry : Entries()) {
    if (entry.kind() == kind) ids.push_back(entry.id());
  }
  std::vector<std::string> near = NearestNames(id, ids);
  if (near.empty()) near = NearestByName(kind, id);
  constexpr std::size_t kFew = 6;
  return near.empty() && ids.size() <= kFew ? std::vector<std::string>(ids.begin(), ids.end()) : near;
}

std::vector<std::string_view> PresetKinds() {
  std::vector<std::string_view> kinds;
  for (const PresetText& preset : PresetTexts()) {
    if (kinds.empty() || kinds.back() != preset.kind) kinds.push_back(preset.kind);
  }
  return kinds;
}

std::string_view ClusterWith(std::string_view device) {
  for (const PresetText& preset : PresetTexts()) {
    if (preset.kind == "cluster" && TextAt(*FindPreset("cluster", preset.id), "device.preset") == device)
      return preset.id;
  }
  return "";
}

std::optional<std::string_view> RentalOnCluster(std::string_view rental, std::string_view rented,
                                                std::string_view cluster) {
  const Json *known = FindPreset("rental", rental), *system = FindPreset("cluster", cluster);
  const std::string device = system != nullptr ? TextAt(*system, "device.preset") : "";
  if (rented.empty() || device.empty() || rented == device) return "";
  for (const PresetText& preset : PresetTexts()) {
    if (known == nullptr || preset.kind != "rental") continue;
    const Json& other = *FindPreset("rental", preset.id);
    const auto is_same = [&](const char* member) { return other[member] == (*known)[member]; };
    if (TextAt(other, "device") == device && is_same("provider") && is_same("term")) return preset.id;
  }
  return std::nullopt;
}

Json PresetCatalogue(std::string_view kind) {
  Json list = Json::array();
  for (const Entry& entry : Entries()) {
    if (!kind.empty() && entry.kind() != kind) continue;
    const Json identity{{"kind", entry.kind()}, {"id", entry.id()}};
    Json row = identity;  // first in the row
    row.update(entry.json());
    row.update(identity);  // also where the file has a member of these names
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace slipstick
