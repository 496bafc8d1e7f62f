// The cost part of a report.
#include "core/base/output.h"
#include "core/evaluation/report.h"
#include "core/evaluation/shared_outputs.h"

namespace slipstick {

template <>
struct Outputs<BillLine> {
  static constexpr auto rows = std::tuple{
      Output("name", &BillLine::name, "Line"),
      Output("cost_usd", &BillLine::cost, "Cost").SmallerIsBetter(),
  };
};

template <>
struct Outputs<CarbonLine> {
  static constexpr auto rows = std::tuple{
      Output("name", &CarbonLine::name, "Line"),
      Output("carbon_g", &CarbonLine::carbon, "Carbon").SmallerIsBetter(),
  };
};

template <>
struct Outputs<DieReport> {
  using D = DieReport;
  static constexpr auto rows = std::tuple{
      Output("name", &D::name, "Die"),
      Output("area_mm2", &D::area, "Die area"),
      Output("node", &D::node, "Process node"),
      Output("count", &D::count, "Dies per device").In("count"),
      Output("dies_per_wafer", &D::dies_per_wafer, "Gross dies per wafer").In("count").LargerIsBetter(),
      Output("yield", &D::yield, "Yield").In("%").LargerIsBetter(),
      Output("cost_usd", &D::cost, "Cost per good die").SmallerIsBetter(),
  };
};

template <>
struct Outputs<CarbonCost> {
  using C = CarbonCost;
  static constexpr auto rows = std::tuple{
      Output("embodied_g", &C::embodied, "Embodied carbon per device").SmallerIsBetter(),
      Output("embodied_g_parts", &C::lines, "Embodied carbon by component"),
      Output("server_g", &C::server, "Embodied carbon of a device's share of its server").SmallerIsBetter(),
      Output("network_g", &C::network, "Embodied carbon of a device's share of the network").SmallerIsBetter(),
      Output("system_embodied_g", &C::of_system, "Embodied carbon per device with its server and network")
          .SmallerIsBetter(),
      Output("operation_g_per_device_hour", &C::operation_hour, "Operational carbon per GPU-hour")
          .In("g")
          .SmallerIsBetter(),
  };
};

template <>
struct Outputs<HardwareCost> {
  using H = HardwareCost;
  static constexpr auto rows = std::tuple{
      Output("devices", &H::devices, "Devices of the prefill pool").In("count"),
      Output("device_usd", &H::device, "Manufacturing cost per device of the prefill pool").SmallerIsBetter(),
      Output("device_price_usd", &H::device_price, "Price per device of the prefill pool").SmallerIsBetter(),
      Output("system_usd", &H::system, "Total cost of ownership of the prefill pool").SmallerIsBetter(),
      Output("device_hour_usd", &H::device_hour, "Cost per GPU-hour of the prefill pool").SmallerIsBetter(),
  };
};

template <>
struct Outputs<CostPart> {
  using P = CostPart;
  using C = DeviceCostEfficiency;
  static constexpr auto rows = std::tuple{
      Output("feasible", &P::infeasible, IsFeasible, "Feasible"),
      Output("infeasible", &P::infeasible, "Reasons for infeasibility"),
      Output("assumed", &P::assumed, "Estimated inputs"),
      Output("dies", &P::dies, "Dies").EachExplained(),
      Output("device_usd", &P::device, "Manufacturing cost per device").Short("Manufacturing cost").SmallerIsBetter(),
      Output("device_interval", &P::device_interval, "Manufacturing cost per device, 90 % interval"),
      Output("device_usd_parts", &P::device_parts, "Bill of materials per device"),
      Output("device_price_usd", &P::device_price, "Price per device").SmallerIsBetter(),
      Output("package_yield", &P::package_yield, "Package yield").In("%").LargerIsBetter(),
      Output("devices", &P::devices, "Devices that are bought or rented").In("count"),
      Output("system_usd", &P::system, "Total cost of ownership").Short("TCO").SmallerIsBetter(),
      Output("system_usd_parts", &P::system_parts, "Total cost of ownership by component"),
      Output("device_hour_usd", &P::device_hour, "Cost per GPU-hour").SmallerIsBetter(),
      Output("device_hour_usd_parts", &P::device_hour_parts, "Cost per GPU-hour by component"),
      Output("flops_per_usd", &P::cost_efficiency, &C::flops_per_usd, "Peak FLOP per dollar").LargerIsBetter(),
      Output("flops_per_j", &P::cost_efficiency, &C::flops_per_j, "Peak FLOP per joule").LargerIsBetter(),
      Output("carbon", &P::carbon, "Carbon"),
      Output("prefill_pool", &P::prefill_pool, "Prefill pool of another device"),
  };
};

Json WriteCost(const CostPart& part) { return WriteOutputs(part); }
void AddShown(const CostPart& part, std::vector<ShownNumber>& shown) { AddShown(part, "cost", shown); }
void DescribeCost(Json& out) { DescribeOutputs<CostPart>("cost", out); }

}  // namespace slipstick
