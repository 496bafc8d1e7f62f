#include "tests/support/cost_tools/catch_tool.h"

#include <cmath>
#include <numbers>

namespace slipstick::catch_tool {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kRadius = 149.9, kStreet = 0.13;  // mm
constexpr SquareMillimetres kField = 858 * kMm2;

struct Cell {
  double p, q;  // pitch in mm along a row and across
};
Cell CellOf(SquareMillimetres area, double aspect) {
  return {std::sqrt(area.base() * aspect) + kStreet, std::sqrt(area.base() / aspect) + kStreet};
}
double Chord(double height) { return 2 * std::sqrt(std::max(kRadius * kRadius - height * height, 0.0)); }

// Counts the dies of a grid by the position of its first row (m = 1: two rows about the center line, m = 2: one row on
// it, and so on).
double CountFrom(const Cell& cell, double m) {
  const double p = cell.p, q = cell.q, r = kRadius;
  double h = m * q / 2 - kStreet / 2;
  const double length = Chord(h);
  const double k = std::floor((length + kStreet) / p);
  double n = m * k;
  const double e = k * p - length / 2;
  for (double i = 0; i < m; i += 1) {
    const double y = q * i - h;
    if ((e + p) * (e + p) + y * y <= r * r && (e + p) * (e + p) + (y + q) * (y + q) <= r * r) n += 1;
  }
  const double x0 = r - length / 2;
  for (h += q; h < r; h += q) {
    const double row = Chord(h), c = r - row / 2;
    const double start = std::ceil((c - x0) / p) * p + x0;
    n += 2 * std::floor((row - (start - c)) / p);
  }
  return n;
}

double Pads(double amperes, const Process& process, double signals) {
  const double each = process.amperes_per_mm2 * kPi * (process.pitch.base() / 4) * (process.pitch.base() / 4);
  return 2 * std::ceil(amperes / each) + 6 + signals;
}
SquareMillimetres PadArea(double pads, Millimetres pitch) {
  const Millimetres side = std::ceil(std::sqrt(pads * pitch.base() * pitch.base()) / pitch.base()) * pitch;
  return side * side;
}

// Links of chiplet `i`: one to each neighbor and one outwards. The generator places ceil(sqrt(n)) columns and gives the
// second of two chiplets a neighbor that does not exist.
double Links(Count i, Count n) {
  if (n == 2) return i == 0 ? 2 : 3;
  const Count side = static_cast<Count>(std::lround(std::ceil(std::sqrt(static_cast<double>(n)))));
  const Count row = i / side, column = i % side;
  return 1.0 + (row > 0) + (column > 0) + (row + 1 < side && i + side < n) + (column + 1 < side && i + 1 < n);
}

}  // namespace

double LayerYield(const Layer& layer, SquareMillimetres defect_area) {
  return std::pow(1 + layer.defect_density * defect_area * layer.critical / layer.clustering, -layer.clustering);
}

Dollars LayerCost(const Layer& layer, SquareMillimetres area, double aspect) {
  const SquareMillimetres wafer = kPi * 150 * 150 * kMm2;
  const Dollars cost = layer.price * wafer / DiesGrid(area, aspect);
  if (layer.lithography <= 0) return cost;
  return cost * (1 - layer.lithography) + cost * layer.lithography / ReticleUse(area);
}

double DiesGrid(SquareMillimetres area, double aspect) {
  const Cell cell = CellOf(area, aspect);
  const double r = kRadius;
  const double d = r - std::sqrt(r * r - cell.q * cell.q / 4);
  const double reach = r - d - cell.p;
  const double limit = std::sqrt(r * r - reach * reach);
  double best = 0;
  for (double m = 1; m * cell.q / 2 < limit; m += 1) best = std::max(best, CountFrom(cell, m));
  return best;
}

double DiesRows(SquareMillimetres area, double aspect) {
  const Cell cell = CellOf(area, aspect);
  const auto row = [&](double h) {
    const double far = h - kStreet / 2;
    return std::floor((Chord(far) + kStreet) / cell.p);
  };
  double centred = row(cell.q / 2), paired = 0;
  for (double h = cell.q / 2 + cell.q; h < kRadius; h += cell.q) centred += 2 * row(h);
  for (double h = cell.q; h < kRadius; h += cell.q) paired += 2 * row(h);
  return std::max(centred, paired);
}

double DiesFormula(SquareMillimetres area, double aspect) {
  const Cell cell = CellOf(area, aspect);
  const double usable = 2 * kRadius, a = cell.p * cell.q;
  return kPi * usable * (usable / (4 * a) - 1 / std::sqrt(2 * a));
}

double ReticleUse(SquareMillimetres area) {
  const SquareMillimetres field = std::ceil(area / kField) * kField;
  return std::floor(field / area) * (area / field);
}

Dollars AssemblyCost(const Process& process, Count parts, SquareMillimetres stack, const Settings& settings) {
  constexpr Seconds kSecondsPerYear = 31536000 * kS;
  constexpr double kUptime = 0.9;
  const auto rate = [&](Dollars machine) {
    const DollarsPerSecond always = (machine / 5 + process.labour) / kSecondsPerYear;
    return settings.uptime_multiplies ? always * kUptime : always / kUptime;
  };
  const auto turns = [&](Count group) { return std::ceil(static_cast<double>(parts) / static_cast<double>(group)); };
  return rate(process.place_machine) * (process.place_time * turns(process.place_group)) +
         rate(process.bond_machine) * (process.bond_time * turns(process.bond_group)) + process.material * stack;
}

double AssemblyYield(const Process& process, double self_quality, const std::vector<Part>& parts, double signals,
                     double tsvs, SquareMillimetres area, const Settings& settings) {
  double yield = self_quality;
  for (const Part& part : parts) yield *= settings.part_self_quality ? part.self_quality : part.quality;
  return yield * std::pow(process.align_yield, static_cast<double>(parts.size())) *
         std::pow(process.bond_yield, signals) * std::pow(process.tsv_yield, tsvs) /
         (1 + process.dielectric_defects * area);
}

GridBill PriceGrid(const GridSystem& system, const Settings& settings) {
  const Process& process = system.process;
  const double n = static_cast<double>(system.chiplets);
  GridBill bill;
  Dollars chips_perfect;
  Millimetres sides;
  SquareMillimetres stack;
  std::vector<Part> parts;
  for (Count i = 0; i < system.chiplets; ++i) {
    const double links = Links(i, system.chiplets);
    const SquareMillimetres circuits = system.core / n + links * system.link_cell;
    const double pads = Pads(system.amperes / n, process, system.wires * links);
    const SquareMillimetres area = max(circuits, PadArea(pads, process.pitch));
    const Dollars perfect = LayerCost(system.chip, area, 1);
    const double yield = LayerYield(system.chip, settings.carrier_without_defects ? circuits : area);
    parts.push_back({perfect / yield, 1, 1});
    bill.chips += perfect / yield;
    chips_perfect += perfect;
    if (i == 0) bill.chip_area = area;
    const Millimetres side = sqrt(area) + process.separation;
    stack += side * side;
  }
  sides = sqrt(stack) + 2 * process.edge;
  bill.stack_area = sides * sides;
  bill.tsvs = Pads(system.amperes, process, 0);
  bill.signals = system.chiplets == 2 ? 3 * system.wires : n * system.wires;
  bill.interposer_area = max(bill.stack_area, PadArea(bill.tsvs, process.pitch), 1e-4 * bill.tsvs * kMm2);
  const Dollars interposer_perfect = LayerCost(system.interposer, bill.interposer_area, 1);
  const double interposer_yield =
      LayerYield(system.interposer, settings.carrier_without_defects ? SquareMillimetres() : bill.interposer_area);
  bill.interposer = interposer_perfect / interposer_yield;
  bill.assembly = AssemblyCost(process, system.chiplets, bill.stack_area, settings);
  bill.yield = AssemblyYield(process, 1, parts, bill.signals, bill.tsvs, bill.stack_area, settings);
  bill.cost = (bill.interposer + bill.chips + bill.assembly) / bill.yield;
  bill.perfect = interposer_perfect + chips_perfect + bill.assembly;
  bill.design = system.interposer.masks / system.volume + n * (system.chip.masks / (system.volume * n));
  return bill;
}

}  // namespace slipstick::catch_tool
