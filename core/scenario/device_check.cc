#include "core/scenario/device_check.h"

#include <cmath>
#include <utility>

#include "core/base/fix.h"
#include "core/base/units.h"
#include "core/catalogue/presets.h"
#include "core/scenario/cost_defaults.h"

namespace slipstick {
namespace {

void CheckPower(const Device& device, const std::string& path, Issues& issues) {
  if (device.tdp > device.idle) return;
  const std::string message = "A power limit of " + NumberText(In(device.tdp, kWatt)) +
                              " W leaves nothing to work with: the device idles at " +
                              NumberText(In(device.idle, kWatt)) + " W";
  if (device.design) {
    const std::string share = path + ".design.idle_share";
    issues.push_back({share, message, {LeaveOut(share)}});
  } else {
    issues.push_back({path + ".tdp", message, {LeaveOut(path + ".tdp"), LeaveOut(path + ".idle")}});
  }
}

// The GB of a data sheet are GiB for a program, less a part: the 95 GB of a TPU v5p are 95.7 GiB.
void CheckUsable(const Device& device, const std::string& path, Issues& issues) {
  const DeviceMemory& memory = device.memory;
  const double stated = In(memory.capacity, kGB);
  if (!memory.usable || 100 * *memory.usable <= 101 * stated * kGiB) return;
  const std::string usable = path + ".memory.usable";
  issues.push_back({usable,
                    NumberText(In(*memory.usable, kGiB)) + " GiB are more than the memory of " + NumberText(stated) +
                        " GB (" + path + ".memory.capacity) can hold",
                    {SetTo(usable, NumberText(stated) + " GiB"), LeaveOut(usable)}});
}

// Energy of the memory per byte; absent if the catalogue does not know its technology.
std::optional<JoulesPerByte> EnergyOf(const DeviceMemory& memory) {
  const Json* dram = FindPreset(Schema<DramType>::preset_kind, DramOf(memory.technology));
  const Json* energy = dram == nullptr ? nullptr : FindMember(*dram, "energy");
  const std::optional<double> value = energy == nullptr ? std::nullopt : NumberIn(*energy);
  return value && *value > 0 ? std::optional(JoulesPerByte::FromBase(*value)) : std::nullopt;
}

std::optional<BytesPerSecond> FedBandwidth(const Device& device) {
  if (device.design || device.tdp <= device.idle) return std::nullopt;
  const std::optional<JoulesPerByte> energy = EnergyOf(device.memory);
  return energy ? std::optional((device.tdp - device.idle) / *energy) : std::nullopt;
}

}  // namespace

void CheckDevice(const Device& device, const std::string& path, Issues& issues) {
  CheckPower(device, path, issues);
  CheckUsable(device, path, issues);
}

void CheckUnits(const DeviceBill& bill, const std::string& path, Issues& issues) {
  for (std::size_t i = 0; i < bill.dies.size(); ++i) {
    const DieInput& die = bill.dies[i];
    const std::string at = path + ".dies." + std::to_string(i);
    const Count units = die.units;
    if (static_cast<double>(units) * die.unit_area > die.area * (1 + kRoundingGuard)) {
      const double largest = WholeBelow(1000 * (die.area / static_cast<double>(units)).base()) / 1000;
      Issue issue{at + ".unit_area",
                  GroupedText(static_cast<double>(units)) + " units of " + NumberText(die.unit_area.base()) +
                      " mm² are larger than the die of " + NumberText(die.area.base()) + " mm²",
                  {SetTo(at + ".unit_area", NumberText(largest) + " mm^2")}};
      const auto fitting = static_cast<Count>(WholeBelow(die.area / die.unit_area));
      if (fitting >= 1) issue.fixes.push_back(SetTo(at + ".units", fitting));
      issues.push_back(std::move(issue));
    }
    if (die.spare_units >= units)
      issues.push_back({at + ".spare_units",
                        "At most " + GroupedText(static_cast<double>(units - 1)) + " of " +
                            GroupedText(static_cast<double>(units)) + " units: a die without a working one is not sold",
                        {SetTo(at + ".spare_units", units - 1)}});
  }
}

void LimitMemory(Device& device) {
  const std::optional<BytesPerSecond> fed = FedBandwidth(device);
  if (fed) device.memory.bandwidth = min(device.memory.bandwidth, *fed);
}

std::optional<std::string> LimitedMemoryWarning(const Device& device) {
  const std::optional<BytesPerSecond> fed = FedBandwidth(device);
  if (!fed || device.memory.bandwidth < *fed) return std::nullopt;
  const auto rounded = [](double value) { return NumberText(std::round(1000 * value) / 1000); };
  return "The power limit of " + device.name + " leaves " + rounded(In(device.tdp - device.idle, kWatt)) +
         " W beyond idling, which feed " + rounded(In(*fed, kTBps)) + " TB/s of its " + device.memory.technology;
}

}  // namespace slipstick
