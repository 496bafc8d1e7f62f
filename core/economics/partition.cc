#include "core/economics/partition.h"

#include <algorithm>

#include "core/base/standard.h"

namespace slipstick {

namespace {

struct LinkNeed {
  SquareMillimetres area;
  Millimetres edge;
  Watts power;  // at full bandwidth, counted once per link
};
// Per die, for `bandwidth` in both directions.
LinkNeed NeedOf(const LinkInterface& interface, BytesPerSecond bandwidth) {
  const double modules = WholeAbove(bandwidth / interface.module_bandwidth);
  return {modules * interface.module_area, modules * interface.module_edge, bandwidth * interface.energy};
}

// Rows of the most square grid of n dies.
Count RowsOf(Count n) {
  Count rows = 1;
  for (Count r = 2; r * r <= n; ++r) {
    if (n % r == 0) rows = r;
  }
  return rows;
}

// Number of dies for I/O of `area`: as many as the exposure field requires.
double IoDies(const Partition& partition, SquareMillimetres area) {
  if (partition.io_share <= 0) return 0;
  const Wafer& wafer = Standard<DeviceBill>().wafer;
  return max(1, WholeAbove(area / (wafer.reticle_width * wafer.reticle_height)));
}

void LayLinks(const Partition& partition, DieLayout& layout) {
  const double d = static_cast<double>(layout.dies), links = layout.dies == 2 ? 1 : d;
  const double ends = layout.dies == 2 ? 1 : 2;  // link ends of the ring per die
  BytesPerSecond bandwidth = partition.bandwidth;
  if (bandwidth.base() > 0) {
    layout.link_area = ends * NeedOf(partition.interface, bandwidth).area;
  } else if (partition.interface.module_area.base() > 0) {  // as many modules as fit in the given share of the area
    bandwidth =
        WholeBelow(layout.link_area / ends / partition.interface.module_area) * partition.interface.module_bandwidth;
  }
  const LinkNeed one = NeedOf(partition.interface, bandwidth);
  layout.link_bandwidth = bandwidth;
  layout.link_edge = ends * one.edge;
  layout.link_power = links * one.power;
  layout.memory_limit = 4 * links * bandwidth / (d - (layout.dies % 2 == 0 ? 0 : 1 / d));
}

}  // namespace

DieLayout LayOut(const Partition& partition, SquareMillimetres area, double analog_scale) {
  DieLayout layout;
  const double n = static_cast<double>(partition.chiplets);
  const SquareMillimetres compute = area * (1 - partition.io_share);
  const SquareMillimetres io = area * partition.io_share * (partition.io_node.analog_scale / analog_scale);
  const double io_dies = IoDies(partition, io);
  layout.compute_dies = partition.chiplets;
  layout.dies = partition.chiplets + static_cast<Count>(io_dies);
  if (layout.dies > 1) {
    layout.link_area = compute / n * partition.overhead;
    LayLinks(partition, layout);
  }
  layout.compute_area = compute / n + layout.link_area;
  if (io_dies > 0) layout.io_area = io / io_dies + layout.link_area;
  layout.silicon = n * layout.compute_area + io_dies * layout.io_area;
  layout.edge_fits = layout.link_edge <= 4 * sqrt(layout.compute_area);
  // Links use the inner edges first.
  const Count reaching = io_dies > 0 ? layout.dies - layout.compute_dies : layout.compute_dies;
  const Count rows = RowsOf(reaching), columns = reaching / rows;
  const Millimetres side = sqrt(io_dies > 0 ? layout.io_area : layout.compute_area),
                    outer = 2 * static_cast<double>(rows + columns) * side,
                    left = static_cast<double>(reaching) * (4 * side - layout.link_edge);
  layout.shoreline = max(Millimetres(), min(outer, left));
  return layout;
}

bool IsWhole(const Partition& partition) { return partition.chiplets == 1 && partition.io_share == 0; }

Partitioned Split(const DeviceBill& bill, const Partition& partition) {
  Partitioned result;
  result.bill = bill;
  if (partition.package && !bill.dies.empty()) {
    Package& package = result.bill.package = *partition.package;
    if (!package.price_factor && IsPricedAlike(package, bill.package)) package.price_factor = RateOf(bill.package);
  }
  if (bill.dies.empty() || IsWhole(partition)) return result;
  DieInput& die = result.bill.dies[0];
  static_cast<DieLayout&>(result) = LayOut(partition, die.area * static_cast<double>(die.count), die.node.analog_scale);
  const double n = static_cast<double>(partition.chiplets);
  const double units = static_cast<double>(die.units * die.count);
  const double spares = static_cast<double>(die.spare_units * die.count);
  die.area = result.compute_area;
  die.units = std::max<Count>(1, static_cast<Count>(std::llround(units / n)));
  die.spare_units = std::min<Count>(die.units, static_cast<Count>(WholeBelow(spares / n)));
  die.count = partition.chiplets;
  die.aspect = AspectThatFits(die.area, 1, result.bill.wafer);
  if (partition.io_share > 0) {
    DieInput io = Standard<DieInput>();
    io.name = "I/O";
    io.node = partition.io_node;
    io.area = result.io_area;
    io.count = result.dies - result.compute_dies;
    io.aspect = AspectThatFits(io.area, 1, result.bill.wafer);
    result.bill.dies.insert(result.bill.dies.begin() + 1, io);
  }
  return result;
}

SplitCost PriceSplit(const DeviceBill& bill) {
  const DeviceGeometry geometry = ComputeGeometry(bill);
  const DeviceCost device = PriceDevice(bill, geometry);
  const DesignCost design = PriceDesign(bill, geometry);
  return {Total(device.lines) - design.share, design.total};
}

std::optional<SquareMillimetres> CrossoverArea(const std::function<Dollars(SquareMillimetres)>& first,
                                               const std::function<Dollars(SquareMillimetres)>& second,
                                               SquareMillimetres low, SquareMillimetres high) {
  const auto costs_more = [&](SquareMillimetres area) { return first(area) >= second(area); };
  SquareMillimetres below = low;
  if (costs_more(below)) return below;
  constexpr double kStride = 1.025;
  for (SquareMillimetres area = low * kStride; area <= high; area *= kStride) {
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
