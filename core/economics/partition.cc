#include "core/economics/partition.h"

#include <algorithm>

namespace slipstick {

Partitioned Split(const DeviceBill& bill, const Partition& partition) {
  Partitioned result;
  result.bill = bill;
  const bool keeps_one = partition.chiplets == 1 && partition.io_share == 0;
  if (bill.dies.empty() || keeps_one) return result;
  DieInput& die = result.bill.dies[0];
  const double n = static_cast<double>(partition.chiplets);
  const SquareMillimetres circuits = die.area * static_cast<double>(die.count);
  const SquareMillimetres compute = circuits * (1 - partition.io_share);
  const Count dies = partition.chiplets + (partition.io_share > 0 ? 1 : 0);
  const double links = dies == 2 ? 1 : static_cast<double>(dies);
  SquareMillimetres link_area = compute / n * (dies > 1 ? partition.overhead : 0);
  if (dies > 1) {
    const double ends = dies == 2 ? 1 : 2;  // of the ring, on one die
    BytesPerSecond bandwidth = partition.bandwidth;
    if (bandwidth.base() > 0) {
      link_area = ends * NeedOf(partition.interface, bandwidth).area;
    } else if (partition.interface.module_area.base() > 0) {  // as many modules as the share of the area holds
      bandwidth = WholeBelow(link_area / ends / partition.interface.module_area) * partition.interface.module_bandwidth;
    }
    const LinkNeed one = NeedOf(partition.interface, bandwidth);
    result.link_edge = ends * one.edge;
    result.link_power = links * one.power;
    const double d = static_cast<double>(dies);
    result.memory_limit = 4 * links * bandwidth / (d - (dies % 2 == 0 ? 0 : 1 / d));
  }
  result.link_area = link_area;
  die.area = compute / n + link_area;
  const double units = static_cast<double>(die.units * die.count);
  const double spares = static_cast<double>(die.spare_units * die.count);
  die.units = std::max<Count>(1, static_cast<Count>(std::llround(units / n)));
  die.spare_units = std::min(die.units, static_cast<Count>(WholeBelow(spares / n)));
  die.count = partition.chiplets;
  die.aspect = 1;
  result.edge_fits = result.link_edge <= 4 * sqrt(die.area);
  if (partition.io_share > 0) {
    DieInput io;
    io.name = "I/O";
    io.node = partition.io_node;
    io.area = circuits * partition.io_share * (partition.io_node.analog_scale / die.node.analog_scale) + link_area;
    result.bill.dies.insert(result.bill.dies.begin() + 1, io);
  }
  result.bill.package = partition.package;
  return result;
}

SplitCost PriceSplit(const DeviceBill& bill) {
  Trace trace = Trace::Off();
  const DeviceGeometry geometry = ComputeGeometry(bill);
  const DeviceCost device = PriceDevice(bill, geometry, trace);
  const DesignCost design = PriceDesign(bill, geometry, trace);
  Dollars recurring;
  for (const BillLine& line : device.lines) recurring += line.cost;
  return {recurring - design.share, design.total};
}

std::optional<SquareMillimetres> CrossoverArea(const std::function<Dollars(SquareMillimetres)>& first,
                                               const std::function<Dollars(SquareMillimetres)>& second, SquareMillimetres low,
                                               SquareMillimetres high) {
  const auto costs_more = [&](SquareMillimetres area) { return first(area) >= second(area); };
  SquareMillimetres below = low;
  if (costs_more(below)) return below;
  for (SquareMillimetres area = low * 1.025; area <= high; area *= 1.025) {
    if (!costs_more(area)) {
      below = area;
      continue;
    }
    for (int i = 0; i < 50; ++i) {
      const SquareMillimetres middle = (below + area) / 2;
      (costs_more(middle) ? area : below) = middle;
    }
    return area;
  }
  return std::nullopt;
}

std::optional<double> CrossoverVolume(const SplitCost& first, const SplitCost& second) {
  const Dollars gain = first.recurring - second.recurring, extra = second.design - first.design;
  if (gain == Dollars() || extra / gain <= 0) return std::nullopt;
  return extra / gain;
}

}  // namespace slipstick
