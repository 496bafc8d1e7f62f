#include "tests/support/cost_tools/ttm_cas.h"

#include <cmath>

#include "tests/support/cost_tools/gross_dies.h"

namespace slipstick::ttm_cas {
namespace {

constexpr Seconds kWeek = 7 * kDay, kPackaging = 6 * kWeek;
constexpr Seconds kTestPerTransistor = 9.2e-11 * kWeek;
constexpr double kPackagingWeeksPerMm2 = 1.5e-5;
constexpr double kWorkHours = 40, kTapeOutHours = 96, kTransistorsPerGate = 6;
constexpr Dollars kTools = 5000 * kUsd;       // per engineer and week
constexpr Dollars kSalary = 1e5 / 52 * kUsd;  // per week
constexpr Dollars kPackageDesign = 105000 * kUsd, kPackage = 20 * kUsd, kAssembly = 1 * kUsd;

}  // namespace

double DiesPerWafer(SquareMillimetres area) { return GrossLessEdge(area, 150 * kMm); }
double DieYield(SquareMillimetres area, PerArea defect_density) { return std::pow(1 + area * defect_density / 3, -3); }
Dollars GoodDie(SquareMillimetres area, PerArea defect_density, Dollars wafer_price) {
  return wafer_price / (DiesPerWafer(area) * DieYield(area, defect_density));
}

std::optional<TimeToMarket> Price(const Process& process, const Run& run, const Settings& settings) {
  if (process.wafers <= Hertz()) return std::nullopt;
  const SquareMillimetres area = run.transistors / process.transistors;
  const double needed = run.chips * run.dies / (DieYield(area, process.defect_density) * DiesPerWafer(area));
  const double wafers = settings.wafers_in_parts ? needed : std::ceil(needed);
  const double engineer_weeks = (kTapeOutHours + run.designed * process.hours_per_transistor) / kWorkHours;
  const double tape_out_weeks = engineer_weeks * (1 - run.parallel + run.parallel / run.engineers);
  TimeToMarket result;
  result.tape_out = tape_out_weeks * kWeek;
  result.queue = run.queue;
  result.foundry = process.latency + wafers / process.wafers;
  result.packaging =
      kPackaging + run.transistors * kTestPerTransistor + area / (1 * kMm2) * kPackagingWeeksPerMm2 * kWeek;
  const Dollars tape_out = process.intellectual_property + kTools * engineer_weeks +
                           kSalary * run.engineers * tape_out_weeks +
                           process.labour_per_gate * (run.designed / kTransistorsPerGate) + kPackageDesign;
  result.cost = tape_out + process.masks + process.wafer_price * wafers + (kPackage + kAssembly) * run.chips;
  return result;
}

}  // namespace slipstick::ttm_cas
