// Devices derived from a chip design, and devices whose dies are split into chiplets.
#pragma once

#include <optional>
#include <string>

#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/economics/cost.h"
#include "core/economics/cost_inputs.h"
#include "core/economics/device_bill.h"
#include "core/economics/partition.h"
#include "core/hardware/cluster.h"
#include "core/hardware/device.h"
#include "core/scenario/scenario.h"
#include "core/technology/chip.h"

namespace slipstick {

// Whether a device, as a request states it, is derived from a chip design.
bool HasDesign(const Json& device);

// For a device with a chip design: what the design does not determine and the device does not state no longer follows
// its preset, which is another chip. Kernel family and special functions come with the design, the newest unless it
// names others, and fractions of the peak rates follow the family's rules.
void DetachFromPreset(Json& device);

// Parts that come with the chip of the request's design, if the request does not state them: its dies and, from version
// 3 on, what replaces its preset's, and the bill of materials of the chip that it resembles, whose maker's margin,
// volume and module it has.
void ApplyDesignDefaults(Json& request);

// Dies whose links have no bandwidth cannot read each other's memory.
Issue LinksWithoutBandwidth(const Partition& partition);

// The chip that a device's design yields with the dies of a partition, if there is one. `path` is the design's.
Result<DerivedChip> DeriveChip(const ChipDesign& design, const std::optional<Partition>& partition,
                               const std::string& path);

// Replaces the device by the one that its design yields; returns the chip. `path` is the design's.
std::optional<DerivedChip> BuildDesign(Device& device, const std::optional<Partition>& partition,
                                       const std::string& path, Issues& issues);
// The same for a cluster: the links replace the innermost network's bandwidth.
std::optional<DerivedChip> BuildDesign(Cluster& cluster, const std::optional<Partition>& partition,
                                       const std::string& path, Issues& issues);

// For a device derived from a chip design after its request was read: the design describes all of its silicon, so dies
// with their spare units, node and memory replace the bill's. Its dies stand on those of the I/O, if the partition has
// such.
void UpdateBillForDevice(const Device& device, const DerivedChip& chip, const std::optional<Partition>& partition,
                         DeviceBill& bill);

// Applies a partition to a device without a design: its dies read each other's memory through their links, which draw
// power.
void SplitDevice(const Partition& partition, Device& device);
// Reports die-to-die links that do not fit on the dies' edges, and stacks on a package that cannot carry them.
void CheckPackage(const std::optional<Partition>& partition, const Device& device,
                  const std::optional<CostInputs>& cost, Issues& issues);

// The costs of a device whose dies a partition splits; absent if there is no partition. Records how the dies are made.
std::optional<CostInputs> SplitCosts(const std::optional<Partition>& partition, const CostInputs& cost,
                                     Tape* tape = nullptr);

// The cluster with only the devices that are bought and powered: from version 3 on, those that train or serve, which
// may be a few of a large cluster and then share its servers with the others; in earlier versions, and if training and
// serving are off, all of it. Devices of a prefill pool of another kind are not included.
Cluster ClusterInUse(const Scenario& scenario);

// The prefill pool, if it has another device than the cluster.
std::optional<DevicePool> PrefillPoolOf(const Scenario& scenario, Tape* tape = nullptr);

}  // namespace slipstick
