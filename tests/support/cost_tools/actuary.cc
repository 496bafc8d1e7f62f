#include "tests/support/cost_tools/actuary.h"

#include <cmath>

#include "tests/support/cost_tools/gross_dies.h"

namespace slipstick::actuary {
namespace {

constexpr Millimetres kDiameter = 300 * kMm, kEdge = 5 * kMm, kScribe = 0.2 * kMm;
constexpr DollarsPerArea kBump = 0.005 * kUsdPerMm2, kMicroBump = 0.01 * kUsdPerMm2, kSubstrate = 0.005 * kUsdPerMm2;
constexpr SquareMillimetres kReference = 300 * kMm2;
constexpr double kSubstrateScale = 4, kOrganicBond = 0.99;

double Clustered(SquareMillimetres area, PerArea density, double critical_level) {
  return std::pow(1 + density * area / critical_level, -critical_level);
}
double PerWafer(SquareMillimetres area) {
  const SquareMillimetres cell = area + 2 * kScribe * sqrt(area) + kScribe * kScribe;
  return GrossLessEdge(cell, kDiameter / 2 - kEdge);
}

struct Carrier {
  double scale;
  Dollars wafer;
  PerArea density;
  double critical_level;
  double bond;
};
constexpr Carrier kFanOut{1.2, 1200 * kUsd, 0.05 * kPerCm2, 3, 0.98};
constexpr Carrier kSilicon{1.1, 1937 * kUsd, 0.06 * kPerCm2, 6, 0.95};

double LayerFactor(double chips, SquareMillimetres package) {
  if (chips == 1) return 1;
  return package > 900 * kMm2 ? 2 : package > 289 * kMm2 ? 1.75 : 1.5;
}

}  // namespace

Die PriceDie(SquareMillimetres area, const Node& node) {
  Die die;
  die.per_wafer = PerWafer(area);
  die.yield = Clustered(area, node.defect_density, 10);
  die.raw = node.wafer_price / die.per_wafer;
  die.good = node.wafer_price / (die.per_wafer * die.yield);
  die.defect = die.good - die.raw;
  die.chip_design = 0.3 * node.design * (area / kReference) + 0.2 * node.design;
  die.module_design = 0.5 * node.design * (area / kReference);
  return die;
}

Bill PricePackage(Scheme scheme, const std::vector<Chips>& chips, const Settings& settings) {
  Bill bill;
  SquareMillimetres silicon, bumped;
  double n = 0;
  for (const Chips& kind : chips) {
    const double count = static_cast<double>(kind.count);
    silicon += kind.area * count;
    bumped += settings.bumps_once_per_kind ? kind.area : kind.area * count;
    n += count;
    if (kind.dummy) continue;
    const Die die = PriceDie(kind.area, kind.node);
    bill.raw_chips += die.raw * count;
    bill.defect_chips += die.defect * count;
  }
  if (scheme == Scheme::kMcm) {
    bill.package_area = kSubstrateScale * silicon;
    const double factor = LayerFactor(n, bill.package_area);
    bill.raw_chips += kBump * silicon;
    bill.raw_package = kSubstrate * bill.package_area * factor;
    const double loss = 1 / std::pow(kOrganicBond, n) - 1;
    bill.defect_package = bill.raw_package * loss;
    bill.wasted_chips = (bill.raw_chips + bill.defect_chips) * loss;
    bill.package_design = 3000 * kUsdPerMm2 * bill.package_area * factor + 3e5 * kUsd;
    return bill;
  }
  const Carrier& carrier = scheme == Scheme::kInterposer ? kSilicon : kFanOut;
  bill.raw_chips += kMicroBump * bumped;
  bill.carrier_area = carrier.scale * silicon;
  bill.package_area = kSubstrateScale * bill.carrier_area;
  bill.raw_carrier = carrier.wafer / PerWafer(bill.carrier_area) + kBump * bill.carrier_area;
  bill.substrate = kSubstrate * bill.package_area;
  bill.raw_package = bill.raw_carrier + bill.substrate;
  bill.carrier_yield = Clustered(bill.carrier_area, carrier.density, carrier.critical_level);
  const double y1 = bill.carrier_yield, y2 = std::pow(carrier.bond, n), y3 = kOrganicBond;
  const bool chip_first = scheme == Scheme::kFanOutChipFirst;
  bill.defect_package =
      bill.raw_carrier * (1 / (chip_first ? y1 * y3 : y1 * y2 * y3) - 1) + bill.substrate * (1 / y3 - 1);
  bill.wasted_chips = (bill.raw_chips + bill.defect_chips) * (1 / (chip_first ? y1 * y3 : y2 * y3) - 1);
  if (scheme == Scheme::kInterposer) {
    constexpr Dollars kSiliconDesign = 28 * kMUsd;
    bill.package_design =
        bill.carrier_area * (1.2 * 0.3 * kSiliconDesign / kReference) + 1.2 * 0.2 * kSiliconDesign + bill.substrate;
  } else {
    constexpr Dollars kFanOutDesign = 15 * kMUsd;
    const Dollars fixed = 0.5 * kFanOutDesign / (settings.fan_out_fixed_over_300 ? 300 : 1);
    bill.package_design = 0.5 * kFanOutDesign / kReference * bill.carrier_area + fixed + bill.substrate;
  }
  return bill;
}

namespace {
SquareMillimetres ChipArea(const Split& split) {
  return split.module / static_cast<double>(split.chips) * (1 + (split.chips > 1 ? split.link_overhead : 0));
}
}  // namespace

Bill PriceSplit(const Split& split, const Node& node, const Settings& settings) {
  std::vector<Chips> chips;
  if (split.one_kind) {
    chips.push_back({ChipArea(split), split.chips, node, false});
  } else {
    for (Count i = 0; i < split.chips; ++i) chips.push_back({ChipArea(split), 1, node, false});
  }
  return PricePackage(split.chips == 1 ? Scheme::kMcm : split.scheme, chips, settings);
}

Shared PriceAtVolume(const Split& split, const Node& node, double volume, const Settings& settings) {
  const Bill bill = PriceSplit(split, node, settings);
  const double designs = split.one_kind ? 1 : static_cast<double>(split.chips);
  const SquareMillimetres module = split.one_kind ? split.module / static_cast<double>(split.chips) : split.module;
  Shared shared;
  shared.recurring = bill.Total();
  shared.modules = 0.5 * node.design * (module / kReference) / volume;
  shared.chips = designs * (0.3 * node.design * (ChipArea(split) / kReference) + 0.2 * node.design) / volume;
  if (split.chips > 1) shared.links = 0.5 * node.design * (20 * kMm2 / kReference) / volume;
  shared.package = bill.package_design / volume;
  return shared;
}

std::optional<SquareMillimetres> Crossover(const Split& split, const Node& node, std::optional<double> volume,
                                           const Settings& settings) {
  const auto dearer = [&](SquareMillimetres module) {
    Split chips = split, single = split;
    chips.module = single.module = module;
    single.chips = 1;
    single.one_kind = false;
    if (volume)
      return PriceAtVolume(single, node, *volume, settings).Total() >=
             PriceAtVolume(chips, node, *volume, settings).Total();
    return PriceSplit(single, node, settings).Total() >= PriceSplit(chips, node, settings).Total();
  };
  SquareMillimetres low = 20 * kMm2;
  if (dearer(low)) return low;
  for (SquareMillimetres high = low * 1.01; low <= 3000 * kMm2; high = low * 1.01) {
    if (!dearer(high)) {
      low = high;
      continue;
    }
    for (int i = 0; i < 80; ++i) {
      const SquareMillimetres middle = (low + high) / 2;
      (dearer(middle) ? high : low) = middle;
    }
    return high;
  }
  return std::nullopt;
}

}  // namespace slipstick::actuary
