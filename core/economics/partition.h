// A monolithic device split into chiplets, and where that breaks even.
//
// The silicon of the first kind of die is cut into n equal dies. Each bears its part of the circuits and its share of
// the die-to-die links: a ring of n links (one for two dies) of the given bandwidth through the given interface, or a
// plain share of the area. A part of the circuits (I/O, PHYs, analog) may go to a die of its own on another node, where
// it takes area by the nodes' analog scales.
#pragma once

#include <functional>
#include <optional>

#include "core/economics/device_bill.h"
#include "core/economics/interface.h"

namespace slipstick {

struct Partition {
  Count chiplets = 2;
  double overhead = 0;       // die-to-die share of the area, where no bandwidth is given
  BytesPerSecond bandwidth;  // of a link, both directions
  LinkInterface interface;
  double io_share = 0;  // of the circuits, moved to one I/O die
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
  SquareMillimetres compute_area;    // of one, its links included
  SquareMillimetres io_area;         // of the I/O die
  SquareMillimetres silicon;         // of all dies
  SquareMillimetres link_area;       // of one die
  BytesPerSecond link_bandwidth;     // of a link, both directions
  Millimetres link_edge;             // of one die
  Watts link_power;                  // of all links at full bandwidth: no longer there for the circuits
  bool edge_fits = true;             // the links find room on the die's edge
  // Edge for memory and network: what the links leave of the I/O die's, or of the compute dies', placed in a grid as
  // square as their number allows, the outer edge.
  Millimetres shoreline;
  // What the dies can read of each other's memory: each reads the share (n - 1) / n of the other dies, over n / 4 links
  // of the ring on average, so that the whole device streams at most 4 links over n - 1 / n. Nothing for one die.
  std::optional<BytesPerSecond> memory_limit;
};
// Lays out the circuits of one die of `area`; `analog_scale` is that of the compute dies' node.
DieLayout LayOut(const Partition& partition, SquareMillimetres area, double analog_scale);

// Whether the device is not split.
bool IsWhole(const Partition& partition);

struct Partitioned : DieLayout {
  DeviceBill bill;
};
// One chiplet without an I/O die is the device itself.
Partitioned Split(const DeviceBill& bill, const Partition& partition);

// Cost of a good device at a silicon area and of its design; recurring + design / volume is the price at a volume.
struct SplitCost {
  Dollars recurring;
  Dollars design;  // all of it
};
SplitCost PriceSplit(const DeviceBill& bill);

// The smallest area in [low, high] where the first is at least as expensive as the second: a scan by 2.5 %, then 50
// bisections. Nothing where there is none.
std::optional<SquareMillimetres> CrossoverArea(const std::function<Dollars(SquareMillimetres)>& first,
                                               const std::function<Dollars(SquareMillimetres)>& second,
                                               SquareMillimetres low, SquareMillimetres high);

// The volume at which two partitions cost the same per unit: (N2 - N1) / (R1 - R2). Nothing if one is more expensive at
// every volume.
std::optional<double> CrossoverVolume(const SplitCost& first, const SplitCost& second);

}  // namespace slipstick
