#include "core/economics/yield.h"

namespace slipstick {
namespace {

// (1 - exp(-x)) / x, exact for small x too.
double MeanSurvival(double x) { return x == 0 ? 1 : -std::expm1(-x) / x; }

double NegativeBinomial(double x, double alpha) { return std::exp(-alpha * std::log1p(x / alpha)); }

struct Text {
  YieldModel model;
  std::string_view formula;
  std::string_view note;
  std::string_view source;
};
constexpr Text kTexts[] = {
    {YieldModel::kPoisson, "exp(-faults)", "independent defects", "Hofstein and Heiman 1963"},
    {YieldModel::kMurphy, "pow((1 - exp(-faults)) / faults, 2)", "triangular distribution of defect density",
     "Murphy 1964"},
    {YieldModel::kMurphyRectangular, "(1 - exp(-2 * faults)) / (2 * faults)",
     "uniform distribution of defect density, 0 to twice the mean", "Murphy 1964"},
    {YieldModel::kSeeds, "1 / (1 + faults)", "exponential distribution of defect density", "Seeds 1967; Price 1970"},
    {YieldModel::kSeedsSqrt, "exp(-sqrt(faults))",
     "empirical, also published as Seeds; pessimistic below one fault per die", "Moore 1970"},
    {YieldModel::kBoseEinstein, "pow(1 + faults / layers, -layers)", "defect density summed over all critical layers",
     "Price 1970"},
    {YieldModel::kBoseEinsteinPerLayer, "pow(1 + faults, -layers)", "defect density per critical layer", "Price 1970"},
    {YieldModel::kNegativeBinomial, "pow(1 + faults / clustering, -clustering)",
     "clustered defects; Poisson in the limit of no clustering", "Stapper 1973"},
    {YieldModel::kManual, "manual", "the given yield", ""},
};

}  // namespace

double Yield(const YieldLaw& law, double faults) {
  switch (law.model) {
    case YieldModel::kPoisson:
      return std::exp(-faults);
    case YieldModel::kMurphy:
      return MeanSurvival(faults) * MeanSurvival(faults);
    case YieldModel::kMurphyRectangular:
      return MeanSurvival(2 * faults);
    case YieldModel::kSeeds:
      return 1 / (1 + faults);
    case YieldModel::kSeedsSqrt:
      return std::exp(-std::sqrt(faults));
    case YieldModel::kBoseEinstein:
      return NegativeBinomial(faults, law.layers);
    case YieldModel::kBoseEinsteinPerLayer:
      return std::exp(-law.layers * std::log1p(faults));
    case YieldModel::kNegativeBinomial:
      return NegativeBinomial(faults, law.clustering);
    case YieldModel::kManual:
      return law.manual;
  }
  return law.manual;
}

double TracedYield(const YieldLaw& law, double faults, Trace& trace) {
  const double yield = Yield(law, faults);
  if (!trace.on()) return yield;
  for (const Text& text : kTexts) {
    if (text.model != law.model) continue;
    const Note note{"Share of dies without a killer defect", text.note, text.source};
    switch (law.model) {
      case YieldModel::kNegativeBinomial:
        trace.Record("good_share", text.formula, yield, note, "faults, clustering", faults, law.clustering);
        break;
      case YieldModel::kBoseEinstein:
      case YieldModel::kBoseEinsteinPerLayer:
        trace.Record("good_share", text.formula, yield, note, "faults, layers", faults, law.layers);
        break;
      case YieldModel::kManual:
        trace.Record("good_share", text.formula, yield, note, "manual", law.manual);
        break;
      default:
        trace.Record("good_share", text.formula, yield, note, "faults", faults);
    }
  }
  return yield;
}

}  // namespace slipstick
