#include "core/scenario/request_warnings.h"

#include <algorithm>
#include <utility>

#include "core/catalogue/presets.h"
#include "core/collectives/fabric.h"
#include "core/scenario/cost_defaults.h"
#include "core/scenario/device_check.h"
#include "core/scenario/device_support.h"

namespace slipstick {
namespace {

std::string Grouped(Count count) { return GroupedText(static_cast<double>(count)); }

// Learned positions are a hard limit, which the checks of a load enforce.
void AddContext(const Scenario& scenario, std::vector<std::string>& texts) {
  if (!scenario.serving || scenario.model.positions.encoding == Position::kLearned) return;
  const ServingLoad& load = *scenario.serving;
  const Count prompt = load.sessions ? LongestPrompt(*load.sessions, load.output) : Count(load.prompt);
  const Count longest = prompt + load.output, context = scenario.model.context;
  if (context <= 0 || longest <= context) return;
  texts.push_back("A request of " + Grouped(longest) + " tokens (prompt " + Grouped(prompt) +
                  ") is longer than the context of " + scenario.model.name + ", " + Grouped(context) +
                  " tokens: memory and time are those of a model whose positions are extended");
}

// Whether a request changes a level of the cluster's preset; a resolved scenario repeats all levels.
bool ChangesLevel(const Cluster& cluster, const Json& networks, std::size_t level) {
  if (!networks.is_array() || level >= networks.size() || networks[level].empty()) return false;
  const Json* preset = FindPreset("cluster", cluster.preset);
  const Json* standard = preset == nullptr ? nullptr : MemberAt(*preset, "networks." + std::to_string(level));
  if (standard == nullptr || !networks[level].is_object()) return true;
  const auto is_changed = [&](const auto& member) {
    const Json* same = FindMember(*standard, member.key());
    return same != nullptr && !same->is_object() && !IsSameValue(*same, member.value());  // a port is a preset
  };
  const auto members = networks[level].items();
  return std::any_of(members.begin(), members.end(), is_changed);
}

void AddUnusedNetworks(const Cluster& cluster, const Json& networks, std::vector<std::string>& texts) {
  const auto written = [&](std::size_t level) { return ChangesLevel(cluster, networks, level); };
  Count joined = 1;
  bool is_size_written = false;
  for (std::size_t level = 0; level < cluster.networks.size(); ++level) {
    const NetworkLevel& network = cluster.networks[level];
    const bool joins_all = joined >= cluster.devices, is_outermost = level + 1 == cluster.networks.size();
    is_size_written = is_size_written || (written(level) && FindMember(networks[level], "size") != nullptr);
    if (cluster.devices > 1 && (written(level) || is_size_written) &&
        (joins_all || (network.size == 1 && !is_outermost))) {
      texts.push_back("cluster.networks." + std::to_string(level) + " (" + network.name + ") joins nothing: " +
                      (joins_all ? "the levels below it hold " + Grouped(joined) + " devices, the cluster has " +
                                       Grouped(cluster.devices)
                                 : "its size is 1"));
    }
    joined = std::min<Count>(joined, cluster.devices) * network.size;
  }
  if (cluster.networks.empty() || joined >= cluster.devices) return;
  texts.push_back("The networks join " + Grouped(joined) + " devices, the cluster has " + Grouped(cluster.devices) +
                  ": the outermost, " + cluster.networks.back().name + ", counts as if it joined them all");
}

// Sides of a mesh or torus that hold fewer groups of the level below than it joins.
void AddShortSides(const Cluster& cluster, std::vector<std::string>& texts) {
  Count below = 1;
  for (std::size_t level = 0; level < cluster.networks.size(); ++level) {
    const NetworkLevel& network = cluster.networks[level];
    const Count joined = std::min<Count>(cluster.devices, below * network.size), groups = (joined + below - 1) / below;
    Count held = 1;
    for (const Tally side : network.dims) held = std::min<Count>(held * side, groups);
    const bool has_sides = network.topology == Topology::kTorus || network.topology == Topology::kMesh;
    if (has_sides && !network.dims.empty() && held < groups) {
      texts.push_back("cluster.networks." + std::to_string(level) + ".dims: the sides hold " + Grouped(held) +
                      " groups of the level below, and the level joins " + Grouped(groups));
    }
    below = std::max<Count>(below, joined);
  }
}

void AddUnusedOversubscription(const Cluster& cluster, std::vector<std::string>& texts) {
  for (std::size_t level = 0; level < cluster.networks.size(); ++level) {
    const NetworkLevel& network = cluster.networks[level];
    if (network.oversubscription == 1 || network.topology == Topology::kFatTree) continue;
    texts.push_back("cluster.networks." + std::to_string(level) + ".oversubscription has no effect: its topology is " +
                    std::string(NameOf(network.topology)) + ", and only a fat tree is oversubscribed");
  }
}

// How the catalogue's clusters use a fabric between devices of a family.
struct LinksOfFamily {
  bool has_them = false;           // the innermost level of one with devices of this family
  bool is_of_devices = false;      // the innermost level of others, and never an outer one, which adapters join
  std::string cluster, innermost;  // one with devices of this family, and what joins these
};
LinksOfFamily LinksIn(const Json& catalogue, const Architecture& family, std::string_view fabric) {
  LinksOfFamily links;
  bool is_outer = false;
  for (const Json& cluster : catalogue) {
    const Json *id = MemberAt(cluster, "device.preset"), *levels = FindMember(cluster, "networks");
    const Json* device = id == nullptr ? nullptr : FindPreset("device", TextOf(*id));
    if (device == nullptr || levels == nullptr || levels->empty()) continue;
    for (std::size_t level = 0; level < levels->size(); ++level) {
      const bool is_same = (*levels)[level]["fabric"] == Json(std::string(fabric));
      is_outer = is_outer || (is_same && level > 0);
      links.is_of_devices = links.is_of_devices || (is_same && level == 0);
      if (level > 0 || (*device)["architecture"] != Json(std::string(family.name()))) continue;
      links.has_them = links.has_them || is_same;
      if (!links.cluster.empty()) continue;
      links.cluster = TextOf(cluster["id"]);
      links.innermost = TextOf((*levels)[level]["name"]);
    }
  }
  links.is_of_devices = links.is_of_devices && !is_outer;
  return links;
}

// A device in place of the cluster's own, between the links of that one.
bool AddLinksOfAnother(const Cluster& cluster, const Json& usual, std::vector<std::string>& texts) {
  const std::string_view own = ClusterWith(cluster.device.preset);
  if (own.empty() || TextAt(usual, "device.preset") == cluster.device.preset) return false;
  constexpr std::string_view kLink = "networks.0.name";
  const std::string here = cluster.networks[0].name, own_link = TextAt(*FindPreset("cluster", own), kLink);
  if (here != TextAt(usual, kLink) || own_link.empty() || own_link == here) return false;
  texts.push_back(cluster.device.name + " between the links of another device, " + here +
                  ": exchanges are hypothetical; cluster=" + std::string(own) + " joins it by " + own_link);
  return true;
}

// Links such as NVLink between devices of a family that has none in the catalogue.
void AddForeignLinks(const Cluster& cluster, std::vector<std::string>& texts) {
  const Device& device = cluster.device;
  if (cluster.devices <= 1 || cluster.networks.empty() || device.design) return;
  const NetworkLevel& innermost = cluster.networks[0];
  const Json* usual = FindPreset("cluster", cluster.preset);
  const auto is_usual = [usual](const char* path, std::string_view value) {
    const Json* at = usual == nullptr ? nullptr : MemberAt(*usual, path);
    return at != nullptr && at->is_string() && TextOf(*at) == value;
  };
  if (is_usual("device.preset", device.preset) && is_usual("networks.0.fabric", innermost.fabric.name())) return;
  if (usual != nullptr && AddLinksOfAnother(cluster, *usual, texts)) return;
  const LinksOfFamily links = LinksIn(PresetCatalogue("cluster"), device.architecture, innermost.fabric.name());
  if (links.has_them || !links.is_of_devices || links.cluster.empty()) return;
  texts.push_back("No device of the family of " + device.name + " has " + innermost.name +
                  " in the catalogue: exchanges are hypothetical; cluster=" + links.cluster + " joins this family by " +
                  links.innermost);
}

// Direct wires between nodes: each needs a port, and a node has those of its devices.
void AddMissingPorts(const Cluster& cluster, std::vector<std::string>& texts) {
  Count below = 1;
  for (std::size_t level = 0; level < cluster.networks.size() && below < cluster.devices; ++level) {
    const NetworkLevel& network = cluster.networks[level];
    const Count joined = std::min<Count>(cluster.devices, below * network.size);
    const Count groups = (joined + below - 1) / below;
    const auto peers = static_cast<double>(groups - 1);
    const double ports =
        network.port.bandwidth > BytesPerSecond()
            ? static_cast<double>(below) * std::max(1.0, (network.bandwidth / network.port.bandwidth).base())
            : peers;
    if (network.topology == Topology::kFullyConnected && peers > ports) {
      texts.push_back("cluster.networks." + std::to_string(level) + ": direct wires to " + NumberText(peers) +
                      " peers need as many ports, and a group of the level below has " + NumberText(ports));
    }
    below = std::max<Count>(below, joined);
  }
}

// A library of measured times reduces in the switches of a scale-up domain only.
void AddUnusedReduction(const Cluster& cluster, std::vector<std::string>& texts) {
  if (cluster.collectives.Library() != CollectiveLibrary::kMeasured) return;
  for (std::size_t level = 0; level < cluster.networks.size(); ++level) {
    const NetworkLevel& network = cluster.networks[level];
    if (!network.in_network_reduction || (level == 0 && !network.fabric->scales_out)) continue;
    texts.push_back("cluster.networks." + std::to_string(level) +
                    ".in_network_reduction has no effect: only reduction inside a node is modeled");
  }
}

// Drafts of the catalogue for a model for which they were not made.
void AddForeignDrafts(const Scenario& scenario, std::vector<std::string>& texts) {
  if (!scenario.serving || !scenario.serving->speculative) return;
  const Speculative& drafts = *scenario.serving->speculative;
  const Json* preset = FindPreset(Schema<Speculative>::preset_kind, drafts.preset);
  const Json* models = preset == nullptr ? nullptr : FindMember(*preset, "usual_for");
  if (models == nullptr) return;
  std::string known;
  for (const Json& model : *models) {
    if (TextOf(model) == scenario.model.preset) return;
    known += (known.empty() ? "" : ", ") + TextOf(model);
  }
  texts.push_back("serving.speculative.preset is for " + known + ": how many drafts " + scenario.model.name +
                  " accepts is unknown, and drafts of another vocabulary are of no use");
}

}  // namespace

void AddUnusedByRollouts(const Scenario& scenario, const Written& written, std::vector<std::string>& texts) {
  if (!scenario.post_training || !scenario.serving) return;
  const ServingLoad& load = *scenario.serving;
  const auto add = [&](const char* path) {
    if (written.IsDefault(path)) return;
    texts.push_back(std::string("post_training: rollouts run as many sequences as fit; ") + path +
                    " is left out, serving.engine.max_sequences limits them");
  };
  if (load.concurrency) add("serving.concurrency");
  if ((load.batch.max || load.batch.count > 1) && !load.concurrency) add("serving.batch");
}

std::vector<std::string> RequestWarnings(const Scenario& scenario, const Json& networks) {
  std::vector<std::string> texts = UnsupportedSoftware(scenario);
  AddContext(scenario, texts);
  AddUnusedNetworks(scenario.cluster, networks, texts);
  AddShortSides(scenario.cluster, texts);
  AddUnusedOversubscription(scenario.cluster, texts);
  AddForeignLinks(scenario.cluster, texts);
  if (auto limited = LimitedMemoryWarning(scenario.cluster.device)) texts.push_back(std::move(*limited));
  AddMissingPorts(scenario.cluster, texts);
  AddUnusedReduction(scenario.cluster, texts);
  AddForeignDrafts(scenario, texts);
  return texts;
}

}  // namespace slipstick
