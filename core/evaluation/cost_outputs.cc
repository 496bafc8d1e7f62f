// The cost part of a report.
#include "core/base/output.h"
#include "core/evaluation/interval_outputs.h"
#include "core/evaluation/report.h"

namespace slipstick {
namespace {

struct CarbonPart {
  const CostReport& report;
};

}  // namespace

template <>
struct Outputs<BillLine> {
  static constexpr auto rows =
      std::tuple{Output("name", &BillLine::name, "Line"), Output("cost_usd", &BillLine::cost, "Cost").SmallerIsBetter()};
};

template <>
struct Outputs<CarbonLine> {
  static constexpr auto rows =
      std::tuple{Output("name", &CarbonLine::name, "Line"), Output("carbon_g", &CarbonLine::carbon, "Carbon").SmallerIsBetter()};
};

template <>
struct Outputs<DieReport> {
  static constexpr auto rows =
      std::tuple{Output("name", &DieReport::name, "Die"),
                 Output("area_mm2", &DieReport::area, "Die area"),
                 Output("node", &DieReport::node, "Process node"),
                 Output("count", &DieReport::count, "Dies per device").In("count"),
                 Output("dies_per_wafer", &DieReport::dies_per_wafer, "Gross dies per wafer").In("count").LargerIsBetter(),
                 Output("yield", &DieReport::yield, "Yield").In("%").LargerIsBetter(),
                 Output("cost_usd", &DieReport::cost, "Cost per good die").SmallerIsBetter()};
};

template <>
struct Outputs<CarbonPart> {
  using P = const CarbonPart&;
  static constexpr auto rows =
      std::tuple{Output(
                     "embodied_g", [](P part) { return part.report.embodied; }, "Embodied carbon per device")
                     .SmallerIsBetter(),
                 Output(
                     "embodied_g_parts", [](P part) -> const auto& { return part.report.embodied_parts; }, "Embodied carbon by component"),
                 Output(
                     "operation_g_per_device_hour", [](P part) { return slipstick::In(1 * kHour * part.report.operation, kGram); },
                     "Operational carbon per GPU-hour")
                     .In("g")
                     .SmallerIsBetter()};
};

template <>
struct Outputs<CostPart> {
  using P = const CostPart&;
  static constexpr auto rows = std::tuple{
      Output(
          "feasible", [](P part) { return part.report.infeasible.empty(); }, "Feasible"),
      Output(
          "infeasible", [](P part) -> const auto& { return part.report.infeasible; }, "Reasons for infeasibility"),
      Output(
          "assumed", [](P part) -> const auto& { return part.assumed; }, "Estimated inputs"),
      Output(
          "dies", [](P part) -> const auto& { return part.report.dies; }, "Dies"),
      Output(
          "device_usd", [](P part) { return part.report.device; }, "Manufacturing cost per device")
          .Short("Manufacturing cost")
          .SmallerIsBetter(),
      Output(
          "device_interval", [](P part) -> const auto& { return part.device_interval; }, "Manufacturing cost per device, 90 % interval"),
      Output(
          "device_usd_parts", [](P part) -> const auto& { return part.report.device_parts; }, "Bill of materials per device"),
      Output(
          "device_price_usd", [](P part) { return part.report.device_price; }, "Price per device")
          .SmallerIsBetter(),
      Output(
          "package_yield", [](P part) { return part.report.package_yield; }, "Package yield")
          .In("%")
          .LargerIsBetter(),
      Output(
          "devices", [](P part) { return part.report.devices; }, "Devices that are bought or rented")
          .In("count"),
      Output(
          "system_usd", [](P part) { return part.report.system; }, "Total cost of ownership")
          .Short("TCO")
          .SmallerIsBetter(),
      Output(
          "system_usd_parts", [](P part) -> const auto& { return part.report.system_parts; }, "Total cost of ownership by component"),
      Output(
          "device_hour_usd", [](P part) { return part.report.device_hour; }, "Cost per GPU-hour")
          .SmallerIsBetter(),
      Output(
          "device_hour_usd_parts", [](P part) -> const auto& { return part.report.device_hour_parts; }, "Cost per GPU-hour by component"),
      Output(
          "flops_per_usd", [](P part) { return part.cost_efficiency.flops_per_usd; }, "Peak FLOP per dollar")
          .LargerIsBetter(),
      Output(
          "flops_per_j", [](P part) { return part.cost_efficiency.flops_per_j; }, "Peak FLOP per joule")
          .LargerIsBetter(),
      Output(
          "carbon", [](P part) { return CarbonPart{part.report}; }, "Carbon")};
};

Json WriteCost(const CostPart& part) { return WriteOutputs(part); }
void DescribeCost(Json& out) { DescribeOutputs<CostPart>("cost", out); }

}  // namespace slipstick
