#include "core/economics/device_bill.h"

#include <algorithm>
#include <string>

#include "core/base/figure.h"
#include "core/economics/wafer.h"

namespace slipstick {
namespace {

struct Tested {
  Dollars cost, loss;
  Ratio yield;
};
Tested PriceTest(const FinalTest& test, Dollars assembled, Ratio dies_quality) {
  const Dollars cost =
      Figure("Final and system-level test", test.rate * test.time + test.system_rate * test.system_time);
  const Ratio yield = Figure("Final test yield", test.yield * test.system_yield * dies_quality,
                             "bad dies that escaped wafer sort are found here");
  return {
      cost,
      Figure("Test yield loss: failed packages are paid for by those that pass", (assembled + cost) * (1 / yield - 1)),
      yield};
}

// Adds the good dies to the bill's lines and to the assembled parts; returns their cost and quality.
struct PricedDies {
  Dollars cost;
  Ratio quality = 1;  // share of packages without an undetected bad die
};
PricedDies PriceDies(const DeviceBill& bill, const DeviceGeometry& geometry, PackageParts& parts, DeviceCost& result) {
  PricedDies priced;
  for (std::size_t i = 0; i < bill.dies.size(); ++i) {
    const DieInput& die = bill.dies[i];
    const Ratio count = die.count;
    const DieCost cost = PriceDie(die, geometry.dies_per_wafer[i], bill.sort);
    const Dollars cost_of_kind = Figure("Good dies of this kind", count * cost.good);
    priced.cost += cost_of_kind;
    (die.stacked ? parts.stacked_dies : parts.dies).cost += cost_of_kind;
    priced.quality *= Figure("Share of packages where all dies of this kind are good", pow(cost.quality, count));
    result.dies.push_back(cost);
    result.lines.push_back(
        {die.name + (die.count > 1 ? " dies (" + std::to_string(die.count) + ")" : " die"), cost_of_kind});
  }
  return {Figure("Good dies per package", priced.cost),
          Figure("Share of packages where all dies are good", priced.quality)};
}

// The stated price, or the manufacturing cost plus the maker's margin.
Dollars PriceOf(const DeviceBill& bill, Dollars manufacturing) {
  return bill.price ? Figure("Price per device", *bill.price, "given as an input")
                    : Figure("Price per device", manufacturing / (1 - bill.margin));
}

}  // namespace

Dollars Total(const std::vector<BillLine>& lines) {
  Dollars total;
  for (const BillLine& line : lines) total += line.cost;
  return total;
}

DeviceGeometry ComputeGeometry(const DeviceBill& bill) {
  DeviceGeometry geometry;
  for (const DieInput& die : bill.dies) {
    const Millimetres width = DieWidth(die.area, die.aspect);
    const Millimetres height = Figure("Height of the die", die.area / width);
    const Count best = CountDies(width, height, bill.wafer).best;
    geometry.dies_per_wafer.push_back(Fitting("Gross dies per wafer",
                                              "best of 1,604 placements of the die grid on the usable circle",
                                              std::max<Count>(best, 1), width, height, bill.wafer));
  }
  geometry.package = ComputeGeometry(bill.package, PartsOf(bill.dies, bill.memory), bill.wafer);
  return geometry;
}

void PriceByParts(DeviceBill& bill) {
  if (!bill.package.price) return;
  const Dollars quoted = *bill.package.price;
  bill.package.price.reset();
  bill.package.price_factor.reset();
  const Dollars cost = PriceDevice(bill, ComputeGeometry(bill)).package;
  if (cost > Dollars()) bill.package.price_factor = quoted / cost;
}

double MarginOf(const DeviceCost& cost) { return std::clamp<double>(1 - cost.total / cost.price, 0, kMaxMargin); }

DeviceCost PriceDevice(const DeviceBill& bill, const DeviceGeometry& geometry) {
  DeviceCost result;
  PackageParts parts = PartsOf(bill.dies, bill.memory);
  const PricedDies dies = PriceDies(bill, geometry, parts, result);
  const MemoryInput& memory = bill.memory;
  const Dollars memory_cost =
      Figure("Device memory", Ratio(memory.stacks) * memory.stack_capacity * memory.price, "bought tested");
  if (memory.in_package) parts.memory.cost = memory_cost;
  const PackageCost package = Assemble(bill.package, parts, geometry.package);
  const Dollars assembled =
      Figure("Cost of a package that was assembled", package.put_in + package.loss, "what went in, and what was lost");
  const Tested tested = PriceTest(bill.test, assembled, dies.quality);
  const Dollars design_share = PriceDesign(bill, geometry).share;
  const Dollars package_cost =
      Figure("Package", package.quoted + package.carrier + package.substrate + package.assembly,
             "carrier, substrate and assembly");
  const std::initializer_list<BillLine> rest{{memory.in_package ? "memory stacks" : "memory chips", memory_cost},
                                             {"package", package_cost},
                                             {"assembly loss", package.loss},
                                             {"test", tested.cost},
                                             {"test loss", tested.loss},
                                             {"module", bill.module},
                                             {"design (NRE) share", design_share}};
  result.total = dies.cost;
  for (const BillLine& line : rest) result.total += line.cost;
  result.total =
      Figure("Manufacturing cost per device", result.total, "each line per shipped device, yield loss included");
  result.lines.insert(result.lines.end(), rest);
  result.package = package_cost;
  result.package_yield = package.yield;
  result.yield = Figure("Package yield", package.yield * tested.yield, "assembly yield × final test yield");
  result.price = PriceOf(bill, result.total);
  return result;
}

std::optional<std::string> CarrierWarning(const DeviceBill& bill) {
  if (!bill.memory.in_package || bill.memory.stacks == 0 || bill.package.holds_hbm) return std::nullopt;
  return bill.memory.name + " needs a silicon interposer or bridge: an organic substrate cannot carry HBM";
}

}  // namespace slipstick
