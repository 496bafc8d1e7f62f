// What a report says of cost.
#include "core/base/output.h"
#include "core/evaluation/report.h"

namespace slipstick {
namespace {

struct CarbonPart {
  const CostReport& report;
};

}  // namespace

template <>
struct Outputs<BillLine> {
  static constexpr auto rows = std::tuple{Give("name", &BillLine::name, "Line"), Give("cost_usd", &BillLine::cost, "Cost").Less()};
};

template <>
struct Outputs<CarbonLine> {
  static constexpr auto rows = std::tuple{Give("name", &CarbonLine::name, "Line"), Give("carbon_g", &CarbonLine::carbon, "Carbon").Less()};
};

template <>
struct Outputs<DieReport> {
  static constexpr auto rows = std::tuple{Give("name", &DieReport::name, "Die"),
                                          Give("area_mm2", &DieReport::area, "Die area"),
                                          Give("node", &DieReport::node, "Process node"),
                                          Give("count", &DieReport::count, "Dies per device").In("count"),
                                          Give("dies_per_wafer", &DieReport::dies_per_wafer, "Gross dies per wafer").In("count").More(),
                                          Give("yield", &DieReport::yield, "Yield").In("%").More(),
                                          Give("cost_usd", &DieReport::cost, "Cost per good die").Less()};
};

template <>
struct Outputs<CarbonPart> {
  using P = const CarbonPart&;
  static constexpr auto rows =
      std::tuple{Give(
                     "embodied_g", [](P part) { return part.report.embodied; }, "Embodied carbon per device")
                     .Less(),
                 Give(
                     "embodied_g_parts", [](P part) -> const auto& { return part.report.embodied_parts; }, "Embodied carbon by component"),
                 Give(
                     "operation_g_per_device_hour", [](P part) { return slipstick::In(1 * kHour * part.report.operation, kGram); },
                     "Operational carbon per GPU-hour")
                     .In("g")
                     .Less()};
};

template <>
struct Outputs<CostPart> {
  using P = const CostPart&;
  static constexpr auto rows = std::tuple{
      Give(
          "feasible", [](P part) { return part.report.infeasible.empty(); }, "Feasible"),
      Give(
          "infeasible", [](P part) -> const auto& { return part.report.infeasible; }, "Why it is infeasible"),
      Give(
          "assumed", [](P part) -> const auto& { return part.assumed; }, "Inputs that no measurement set"),
      Give(
          "dies", [](P part) -> const auto& { return part.report.dies; }, "Dies"),
      Give(
          "device_usd", [](P part) { return part.report.device; }, "Manufacturing cost per device")
          .Short("Manufacturing cost")
          .Less(),
      Give(
          "device_usd_parts", [](P part) -> const auto& { return part.report.device_parts; }, "Bill of materials per device"),
      Give(
          "device_price_usd", [](P part) { return part.report.device_price; }, "Price per device")
          .Less(),
      Give(
          "package_yield", [](P part) { return part.report.package_yield; }, "Package yield")
          .In("%")
          .More(),
      Give(
          "system_usd", [](P part) { return part.report.system; }, "Total cost of ownership")
          .Short("TCO")
          .Less(),
      Give(
          "system_usd_parts", [](P part) -> const auto& { return part.report.system_parts; }, "Total cost of ownership by component"),
      Give(
          "device_hour_usd", [](P part) { return part.report.device_hour; }, "Cost per GPU-hour")
          .Less(),
      Give(
          "device_hour_usd_parts", [](P part) -> const auto& { return part.report.device_hour_parts; }, "Cost per GPU-hour by component"),
      Give(
          "flops_per_usd", [](P part) { return part.worth.flops_per_usd; }, "Peak FLOP per dollar")
          .More(),
      Give(
          "flops_per_j", [](P part) { return part.worth.flops_per_j; }, "Peak FLOP per joule")
          .More(),
      Give(
          "carbon", [](P part) { return CarbonPart{part.report}; }, "Carbon")};
};

Json WriteCost(const CostPart& part) { return WriteOutputs(part); }
void DescribeCost(Json& out) { DescribeOutputs<CostPart>("cost", out); }

}  // namespace slipstick
