#include "core/economics/device_bill.h"

#include <algorithm>
#include <string>

#include "core/base/sum.h"
#include "core/economics/package_parts.h"

namespace slipstick {
namespace {

Dollars PriceMemory(const MemoryInput& memory, Trace& trace) {
  const double stacks = static_cast<double>(memory.stacks);
  const Bytes stack_capacity = memory.stack_capacity;
  const DollarsPerByte memory_price = memory.price;
  if (trace.on()) {
    trace.Input("stacks", stacks, "cost.device.memory.stacks");
    trace.Input("stack_capacity", stack_capacity, "cost.device.memory.stack_capacity");
    trace.Input("memory_price", memory_price, "cost.device.memory.price");
  }
  FIGURE(trace, memory_cost, stacks * stack_capacity * memory_price, (Note{"Device memory", "bought tested"}), stacks,
         stack_capacity, memory_price);
  return memory_cost;
}

struct Tested {
  Dollars cost, loss;
  double yield;
};
Tested PriceTest(const FinalTest& test, Dollars assembled, double dies_quality, Trace& trace) {
  const DollarsPerSecond final_rate = test.rate, system_rate = test.system_rate;
  const Seconds final_time = test.time, system_time = test.system_time;
  const double final_yield = test.yield, system_yield = test.system_yield;
  if (trace.on()) {
    trace.Input("final_rate", final_rate, "cost.device.test.rate");
    trace.Input("final_time", final_time, "cost.device.test.time");
    trace.Input("final_yield", final_yield, "cost.device.test.yield");
    trace.Input("system_rate", system_rate, "cost.device.test.system_rate");
    trace.Input("system_time", system_time, "cost.device.test.system_time");
    trace.Input("system_yield", system_yield, "cost.device.test.system_yield");
  }
  FIGURE(trace, test_cost, final_rate * final_time + system_rate * system_time, (Note{"Final and system-level test"}),
         final_rate, final_time, system_rate, system_time);
  FIGURE(trace, tested_yield, final_yield * system_yield * dies_quality,
         (Note{"Final test yield", "bad dies that escaped wafer sort are found here"}), final_yield, system_yield,
         dies_quality);
  FIGURE(trace, test_loss, (assembled + test_cost) * (1 / tested_yield - 1),
         (Note{"Test yield loss: failed packages are paid for by those that pass"}), assembled, test_cost,
         tested_yield);
  return {test_cost, test_loss, tested_yield};
}

// Adds the good dies to the bill's lines and to the parts that are assembled; returns their cost and quality.
struct PricedDies {
  Dollars cost;
  double quality = 1;  // share of packages without an undetected bad die
};
PricedDies PriceDies(const DeviceBill& bill, const DeviceGeometry& geometry, PackageParts& parts, DeviceCost& result,
                     Trace& trace) {
  RunningSum<Dollars> dies(trace, "dies", "dies_before", Note{"Good dies per package"});
  RunningSum<Dollars> stacked(trace, "stacked_cost", "stacked_before", Note{"Good dies bonded on another die"});
  RunningSum<Dollars> side_by_side(trace, "die_cost", "side_by_side_before", Note{"Good dies side by side"});
  RunningProduct dies_quality(trace, "dies_quality", "quality_before",
                              Note{"Share of packages where all dies are good"});
  for (std::size_t i = 0; i < bill.dies.size(); ++i) {
    const DieInput& die = bill.dies[i];
    const DieCost cost = PriceDie(die, bill.wafer, geometry.dies_per_wafer[i], bill.sort, i, trace);
    const Trace::Scope scope(trace, die.name);
    const double count = static_cast<double>(die.count), quality = cost.quality;
    const Dollars good_die = cost.good;
    if (trace.on()) trace.Input("count", count, "cost.device.dies." + std::to_string(i) + ".count");
    FIGURE(trace, cost_of_kind, count * good_die, (Note{"Good dies of this kind"}), count, good_die);
    FIGURE(trace, quality_of_kind, pow(quality, count),
           (Note{"Share of packages where all dies of this kind are good"}), quality, count);
    dies.Add("cost_of_kind", cost_of_kind);
    (die.stacked ? stacked : side_by_side).Add("cost_of_kind", cost_of_kind);
    dies_quality.MultiplyBy("quality_of_kind", quality_of_kind);
    result.dies.push_back(cost);
    result.lines.push_back(
        {die.name + (die.count > 1 ? " dies (" + std::to_string(die.count) + ")" : " die"), cost_of_kind});
  }
  parts.die_cost = side_by_side.sum();
  parts.stacked_cost = stacked.sum();
  return {dies.sum(), dies_quality.product()};
}

// The price stated as an input, or the manufacturing cost at the maker's margin.
Dollars PriceOf(const DeviceBill& bill, Dollars device_usd, Trace& trace) {
  if (bill.price) {
    const Dollars price = *bill.price;
    if (trace.on()) trace.Input("price", price, "cost.device.price");
    FIGURE(trace, device_price, 1 * price, (Note{"Price per device", "given as an input", "", "cost.device_price_usd"}),
           price);
    return device_price;
  }
  const double margin = bill.margin;
  if (trace.on()) trace.Input("margin", margin, "cost.device.margin");
  FIGURE(trace, device_price, device_usd / (1 - margin), (Note{"Price per device", "", "", "cost.device_price_usd"}),
         device_usd, margin);
  return device_price;
}

}  // namespace

DeviceGeometry ComputeGeometry(const DeviceBill& bill) {
  DeviceGeometry geometry;
  for (const DieInput& die : bill.dies) {
    const Millimetres width = DieWidth(die.area, die.aspect);
    geometry.dies_per_wafer.push_back(CountDies(width, die.area / width, bill.wafer).best);
  }
  geometry.package = ComputeGeometry(bill.package, PartsOf(bill.dies, bill.memory), bill.wafer);
  return geometry;
}

double MarginOf(const DeviceCost& cost) { return std::clamp<double>(1 - cost.total / cost.price, 0, kMaxMargin); }

DeviceCost PriceDevice(const DeviceBill& bill, const DeviceGeometry& geometry, Trace& trace) {
  const Trace::Scope scope(trace, "cost");
  DeviceCost result;
  PackageParts parts = PartsOf(bill.dies, bill.memory);
  const PricedDies priced_dies = PriceDies(bill, geometry, parts, result, trace);
  const Dollars dies = priced_dies.cost;
  ExplainParts({bill.dies, bill.memory, bill.package, bill.wafer}, parts, geometry.package, trace);
  const Dollars memory_cost = PriceMemory(bill.memory, trace);
  if (bill.memory.in_package) parts.memory_cost = memory_cost;
  const PackageCost package = Assemble(bill.package, parts, geometry.package, trace);
  const Dollars carrier = package.carrier, substrate = package.substrate, assembly = package.assembly,
                quoted_package = package.quoted, assembly_loss = package.loss;
  const Dollars parts_in = package.put_in;
  FIGURE(trace, assembled, parts_in + assembly_loss,
         (Note{"Cost of a package that was assembled", "what went in, and what was lost"}), parts_in, assembly_loss);
  const Tested tested = PriceTest(bill.test, assembled, priced_dies.quality, trace);
  const Dollars test_cost = tested.cost, test_loss = tested.loss;
  const Dollars module = bill.module;
  const DesignCost design = PriceDesign(bill, geometry, trace);
  const Dollars design_share = design.share;
  if (trace.on()) trace.Input("module", module, "cost.device.module");
  const bool is_quoted = bill.package.price.has_value();
  const Dollars package_cost = Sum<Dollars>(trace, "package_cost", Note{"Package", "carrier, substrate and assembly"},
                                            {{"quoted_package", quoted_package, is_quoted},
                                             {"carrier", carrier, !is_quoted && bill.package.carrier},
                                             {"substrate", substrate, !is_quoted},
                                             {"assembly", assembly, !is_quoted}});
  const Dollars device_usd = Sum<Dollars>(
      trace, "device_usd",
      Note{"Manufacturing cost per device", "each line per shipped device, yield loss included", "", "cost.device_usd"},
      {{"dies", dies},
       {"memory_cost", memory_cost},
       {"package_cost", package_cost},
       {"assembly_loss", assembly_loss},
       {"test_cost", test_cost},
       {"test_loss", test_loss},
       {"module", module},
       {"design_share", design_share}});
  result.lines.push_back({bill.memory.in_package ? "memory stacks" : "memory chips", memory_cost});
  result.lines.push_back({"package", package_cost});
  result.lines.push_back({"assembly loss", assembly_loss});
  result.lines.push_back({"test", test_cost});
  result.lines.push_back({"test loss", test_loss});
  result.lines.push_back({"module", module});
  result.lines.push_back({"design (NRE) share", design_share});
  result.total = device_usd;
  result.package_yield = package.yield;
  const double assembled_yield = package.yield, tested_yield = tested.yield;
  FIGURE(trace, device_yield, assembled_yield * tested_yield,
         (Note{"Package yield", "assembly yield × final test yield", "", "cost.package_yield"}), assembled_yield,
         tested_yield);
  result.yield = device_yield;
  result.price = PriceOf(bill, device_usd, trace);
  return result;
}

}  // namespace slipstick
