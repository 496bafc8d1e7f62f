#include "core/scenario/designed_device.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/base/figure.h"
#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/catalogue/presets.h"
#include "core/economics/device_bill.h"
#include "core/scenario/cost_defaults.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

// Analog area on a catalogue node, relative to 7 nm.
double AnalogScaleOf(const std::string& node) {
  const Json* entry = FindPreset("node", node);
  const Json* scale = entry == nullptr ? nullptr : FindMember(*entry, "analog_scale");
  return scale != nullptr && scale->is_number() ? scale->get<double>() : 1;
}

DieLayout LayoutOf(const Partition& partition, const Device& device) {
  if (device.design) return LayOut(partition, device.design->area, device.design->node.analog_area);
  return LayOut(partition, device.die.area * static_cast<double>(device.die.count), AnalogScaleOf(device.die.node));
}

// The largest bandwidth of whole modules whose links fit on the dies' edges; the dies shrink with their links.
BytesPerSecond WidestLinks(Partition partition, const Device& device) {
  constexpr int kMostRounds = 1000;  // each drops the modules that did not fit: two or three rounds suffice
  DieLayout layout = LayoutOf(partition, device);
  for (int round = 0; !layout.edge_fits; ++round) {
    const double room = 4 * sqrt(layout.compute_area) / layout.link_edge;
    const double had = layout.link_bandwidth / partition.interface.module_bandwidth;
    // Drops at least one module: if one misses only by rounding, the same number would miss again in every round.
    const double modules = min(WholeBelow(had * room), WholeAbove(had) - 1);
    if (!(modules >= 1) || round == kMostRounds) return {};
    partition.bandwidth = modules * partition.interface.module_bandwidth;
    layout = LayoutOf(partition, device);
  }
  return layout.link_bandwidth;
}

// Packages of the catalogue that can carry HBM.
std::vector<std::string> CarriersOfHbm() {
  std::vector<std::string> ids;
  for (const Json& entry : PresetCatalogue("package")) {
    const Json* holds = FindMember(entry, "holds_hbm");
    if (holds != nullptr && *holds == Json(true)) ids.push_back(entry["id"].get<std::string>());
  }
  return ids;
}

// The value of `member` in the entry of the chip design, which says what such a chip comes with; null if absent.
const Json* ComesWith(std::string_view kind, const std::string& id, const char* member) {
  const Json* entry = FindPreset(kind, id);
  const Json* comes_with = entry == nullptr ? nullptr : FindMember(*entry, "comes_with");
  return comes_with == nullptr ? nullptr : FindMember(*comes_with, member);
}

// The catalogue's id of a device's chip design, "" if its entry has none; absent if the device has no design.
std::optional<std::string> DesignOf(const Json& device) {
  const Json* design = FindMember(device, "design");
  if (design == nullptr || (design->is_object() && design->empty())) return std::nullopt;
  if (design->is_string()) return TextOf(*design);
  return design->is_object() ? std::optional(TextAt(*design, "preset")) : std::nullopt;
}

}  // namespace

bool HasDesign(const Json& device) { return DesignOf(device).has_value(); }

void DetachFromPreset(Json& device) {
  const std::optional<std::string> id = DesignOf(device);
  if (!id) return;
  for (const char* member : {"architecture", "exponentials"}) {
    const Json* own = ComesWith(Schema<ChipDesign>::preset_kind, *id, member);
    if (own == nullptr) own = ComesWith("standard", "chip_design", member);
    if (own != nullptr && !device.contains(member)) device[member] = *own;
  }
  // Absent members would be those measured on the preset's device; null ones follow the rules.
  Json by_rules = Write(Efficiency());
  if (const Json* written = FindMember(device, "efficiency")) MergeJson(by_rules, *written);
  device["efficiency"] = std::move(by_rules);
}

void ApplyDesignDefaults(Json& request) {
  const Json* cluster_device = MemberAt(request, "cluster.device");
  const std::optional<std::string> id = cluster_device == nullptr ? std::nullopt : DesignOf(*cluster_device);
  if (id) {
    const Json* partition = ComesWith(Schema<ChipDesign>::preset_kind, *id, "partition");
    if (partition != nullptr && !request.contains("partition")) request["partition"] = *partition;
  }
  if (VersionOf(request) < 3) return;
  if (Json* pool_device = MemberAt(request, "serving.disaggregated.prefill_device")) DetachFromPreset(*pool_device);
  if (!id) return;
  DetachFromPreset(request["cluster"]["device"]);
  const Json* bill = ComesWith(Schema<ChipDesign>::preset_kind, *id, "bill");
  const Json* written = MemberAt(request, "cost");
  if (bill == nullptr || (written != nullptr && !written->is_object())) return;
  Json& priced = request["cost"]["device"];
  if (priced.is_null() || (priced.is_object() && !priced.contains("preset"))) priced["preset"] = *bill;
}

Issue LinksWithoutBandwidth(const Partition& partition) {
  return {
      "partition.bandwidth",
      "Links without bandwidth: the dies cannot read each other's memory",
      {SetToBase("partition.bandwidth", partition.interface.module_bandwidth.base()), SetTo("partition.chiplets", 1)}};
}

Result<DerivedChip> DeriveChip(const ChipDesign& design, const std::optional<Partition>& partition,
                               const std::string& path) {
  std::optional<ChipDies> dies;
  if (partition) {
    const DieLayout layout = LayOut(*partition, design.area, design.node.analog_area);
    if (layout.memory_limit && !(*layout.memory_limit > BytesPerSecond{}))
      return Issues{LinksWithoutBandwidth(*partition)};
    dies = ChipDies{layout.silicon, layout.shoreline, layout.link_power, layout.memory_limit};
  }
  return Derive(design, dies, path);
}

std::optional<DerivedChip> BuildDesign(Device& device, const std::optional<Partition>& partition,
                                       const std::string& path, Issues& issues) {
  if (!device.design) return std::nullopt;
  Result<DerivedChip> chip = DeriveChip(*device.design, partition, path);
  if (!chip) {
    issues.insert(issues.end(), chip.issues.begin(), chip.issues.end());
    return std::nullopt;
  }
  device.name = chip->device.name;
  device.peak = chip->device.peak;
  device.units = chip->device.units;
  device.clock = chip->device.clock;
  device.memory = chip->device.memory;
  device.caches = chip->device.caches;
  device.tdp = chip->device.tdp;
  device.idle = chip->device.idle;
  device.die = chip->device.die;
  return std::move(chip.value);
}

std::optional<DerivedChip> BuildDesign(Cluster& cluster, const std::optional<Partition>& partition,
                                       const std::string& path, Issues& issues) {
  std::optional<DerivedChip> chip = BuildDesign(cluster.device, partition, path, issues);
  if (!cluster.device.design) return std::nullopt;
  cluster.has_links = chip && chip->network > BytesPerSecond{};
  if (cluster.has_links && !cluster.networks.empty()) cluster.networks[0].bandwidth = chip->network;
  return chip;
}

void UpdateBillForDevice(const Device& device, const DerivedChip& chip, const std::optional<Partition>& partition,
                         DeviceBill& bill) {
  bill.dies.resize(1, Standard<DieInput>());
  DieInput& die = bill.dies[0];
  die.stacked = die.stacked && partition && partition->io_share > 0;  // on the dies of the I/O
  die.units = chip.units_built;
  die.unit_area = chip.unit_area;
  die.spare_units = chip.units_built - chip.units_enabled;
  if (die.area != device.die.area) PriceByParts(bill);
  die.area = device.die.area;
  die.aspect = AspectThatFits(die.area, die.aspect, bill.wafer);
  die.count = device.die.count;
  const auto replace = [](std::string_view kind, const std::string& id, auto& value) {
    const Json* entry = FindPreset(kind, id);
    if (entry == nullptr) return;
    Issues none;  // a test checks that catalogue entries have none
    ReadOver(WithoutRemarks(*entry), "", none, value);
    value.preset = id;
  };
  if (device.die.node != die.node.preset) replace("node", device.die.node, die.node);
  const DramType& type = device.design->dram;
  const std::string dram = DramOf(type.preset.empty() ? type.name : type.preset);
  if (!dram.empty() && dram != bill.memory.preset) replace("dram", dram, bill.memory);
  bill.memory.stack_capacity = type.capacity;
  bill.memory.stacks = StacksFor(device.memory.capacity / bill.memory.stack_capacity);
}

void SplitDevice(const Partition& partition, Device& device) {
  const DieLayout layout = LayoutOf(partition, device);
  device.die.link_power = layout.link_power;
  if (layout.memory_limit) device.memory.bandwidth = min(device.memory.bandwidth, *layout.memory_limit);
}

void CheckPackage(const std::optional<Partition>& partition, const Device& device,
                  const std::optional<CostInputs>& cost, Issues& issues) {
  if (partition) {
    const DieLayout layout = LayoutOf(*partition, device);
    if (!layout.edge_fits) {
      const Millimetres edge = 4 * sqrt(layout.compute_area);
      issues.push_back({"partition.bandwidth",
                        "Links of " + NumberText(In(layout.link_bandwidth, kGBps)) + " GB/s take " +
                            NumberText(In(layout.link_edge, kMm)) + " mm of a die's edge, which is " +
                            NumberText(In(edge, kMm)) + " mm",
                        {SetToBase("partition.bandwidth", WidestLinks(*partition, device).base())}});
    }
  }
  if (!cost) return;
  DeviceBill bill = cost->device;
  const bool own = !partition || !partition->package;
  if (!own) bill.package = *partition->package;
  if (const auto warning = CarrierWarning(bill)) {
    const std::string path = own ? "cost.device.package.preset" : "partition.package.preset";
    issues.push_back({path, *warning, SetToEach(path, CarriersOfHbm())});
  }
}

std::optional<CostInputs> SplitCosts(const std::optional<Partition>& partition, const CostInputs& cost, Tape* tape) {
  if (!partition || cost.device.dies.empty() || (IsWhole(*partition) && !partition->package)) return std::nullopt;
  CostInputs split = cost;
  PriceByParts(split.device);  // quoted for the whole device's package
  const Partitioned parts = Split(split.device, *partition);
  split.device = parts.bill;
  if (tape == nullptr) return split;
  std::optional<Ratio>& factor = split.device.package.price_factor;
  const bool states_factor = partition->package && partition->package->price_factor;
  if (factor && !states_factor && cost.device.package.price) {
    factor = Procedure("Price of the packaging over its cost", *factor,
                       {{InputAt("cost.device.package.price", *cost.device.package.price, tape), 1}},
                       "that of the whole device's package");
  }
  DieInput whole = cost.device.dies[0];
  BindInputs(whole, "cost.device.dies.0", tape);
  const auto asked = [tape](const char* member, auto value) {
    return InputAt(std::string("partition.") + member, value, tape);
  };
  const Ratio chiplets = asked("chiplets", Ratio(partition->chiplets)),
              io_share = asked("io_share", Ratio(partition->io_share));
  const SquareMillimetres links =
      Procedure("Area of a die's links to other dies", parts.link_area,
                {whole.area, Ratio(whole.count), chiplets, asked("overhead", Ratio(partition->overhead)),
                 asked("bandwidth", parts.link_bandwidth)},
                "whole modules for the bandwidth, or the share given");
  DieInput& die = split.device.dies[0];
  die.area = Exactly(die.area.base(),
                     Figure("Area of a chiplet", whole.area * Ratio(whole.count) * (1 - io_share) / chiplets + links,
                            "its part of the circuits, and its links"));
  die.count = die.count.With(chiplets.node());
  return split;
}

Cluster ClusterInUse(const Scenario& scenario) {
  Cluster cluster = scenario.cluster;
  const bool asks_cost_alone = !scenario.training && !scenario.serving && !scenario.diffusion;
  const std::optional<ServingLoad>& load = scenario.serving;
  const Disaggregated* pools = load ? PoolsOfTwoKinds(*load) : nullptr;
  const Count others = pools != nullptr ? pools->prefill_devices : Tally(0);
  if (scenario.version < 3 || asks_cost_alone || scenario.post_training) {
    cluster.devices = std::max<Count>(1, cluster.devices - others);
    return cluster;
  }
  const Count training = scenario.training ? scenario.training->devices.value_or(cluster.devices) : Tally(0);
  const Count serving = load ? load->devices.value_or(cluster.devices) - others : 0;
  const Count diffusion = scenario.diffusion ? scenario.diffusion->devices.value_or(cluster.devices) : Tally(0);
  if (pools == nullptr) cluster.installed = cluster.devices;
  cluster.devices = std::min<Count>(cluster.devices, std::max({training, serving, diffusion}));
  return cluster;
}

std::optional<DevicePool> PrefillPoolOf(const Scenario& scenario, Tape* tape) {
  const Disaggregated* pools = scenario.serving ? PoolsOfTwoKinds(*scenario.serving) : nullptr;
  if (pools == nullptr) return std::nullopt;
  DevicePool pool{*pools->prefill_device, pools->prefill_devices};
  BindInputs(pool.device, "serving.disaggregated.prefill_device", tape);
  BindInputs(pool.devices, "serving.disaggregated.prefill_devices", tape);
  return pool;
}

}  // namespace slipstick
