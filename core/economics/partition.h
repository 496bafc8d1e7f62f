// A monolithic device split into chiplets, and when the split breaks even.
//
// The silicon of the first kind of die is divided into n equal dies. Each has its part of the circuits and its share of
// the die-to-die links: a ring of n links (one for two dies) with the given bandwidth through the given interface, or
// simply a share of the area. A part of the circuits (I/O, PHYs, analog) may move to a separate die on another node,
// where its area scales with the nodes' analog scales.
#pragma once

#include <functional>
#include <optional>

#include "core/economics/device_bill.h"
#include "core/economics/interface.h"

namespace slipstick {

struct Partition {
  Count chiplets = 2;
  double overhead = 0;       // die-to-die share of the area, if no bandwidth is given
  BytesPerSecond bandwidth;  // per link, both directions
  LinkInterface interface;
  double io_share = 0;  // share of the circuits that moves to one I/O die
  ProcessNode io_node;
  std::optional<Package> package;  // absent: the device's own
};
template <>
struct Schema<Partition> {
  static constexpr std::string_view standard = "partition";
  static const Fields fields;
};

// Areas, edges and links of the dies.
struct DieLayout {
  Count compute_dies = 1, dies = 1;  // without and with the I/O die
  SquareMillimetres compute_area;    // of one die, including its links
  SquareMillimetres io_area;         // of the I/O die
  SquareMillimetres silicon;         // of all dies
  SquareMillimetres link_area;       // of one die
  BytesPerSecond link_bandwidth;     // of a link, both directions
  Millimetres link_edge;             // of one die
  Watts link_power;                  // of all links at full bandwidth: not available for the circuits
  bool edge_fits = true;             // the links fit on the die's edge
  // Edge left for memory and network beside the links: on the I/O die, or on the outer edge of the compute dies, which
  // form a grid as square as their number allows.
  Millimetres shoreline;
  // Bandwidth at which dies can read each other's memory: that of all links, over the mean number of links that a byte
  // crosses: n / 4 in a ring of n dies, (n - 1 / n) / 4 for odd n, local reads included. Absent for one die.
  std::optional<BytesPerSecond> memory_limit;
};
// Lays out the circuits of one die of `area`; `analog_scale`: of the compute dies' node.
DieLayout LayOut(const Partition& partition, SquareMillimetres area, double analog_scale);

// Whether the device is not split.
bool IsWhole(const Partition& partition);

struct Partitioned : DieLayout {
  DeviceBill bill;
};
// One chiplet without an I/O die is the device itself.
Partitioned Split(const DeviceBill& bill, const Partition& partition);

// Cost of a good device at a silicon area, and of its design; the price at a volume is recurring + design / volume.
struct SplitCost {
  Dollars recurring;
  Dollars design;  // of all designs
};
SplitCost PriceSplit(const DeviceBill& bill);

// The smallest area in [low, high] at which the first is at least as expensive as the second: a scan in steps of 2.5 %,
// then 50 bisections. Nothing if there is none.
std::optional<SquareMillimetres> CrossoverArea(const std::function<Dollars(SquareMillimetres)>& first,
                                               const std::function<Dollars(SquareMillimetres)>& second,
                                               SquareMillimetres low, SquareMillimetres high);

// The volume at which two partitions cost the same per unit: (N2 - N1) / (R1 - R2). Nothing if one is more expensive at
// every volume.
std::optional<double> CrossoverVolume(const SplitCost& first, const SplitCost& second);

}  // namespace slipstick
