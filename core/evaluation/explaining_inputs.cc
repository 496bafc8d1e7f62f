#include "core/evaluation/explaining_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace slipstick {
namespace {

constexpr double kProbe = 1.02;      // factor on an input, to find its effect
constexpr double kStride = 1.25;     // factor on an input per stride, until the strides enclose the measurement
constexpr int kStrides = 4;          // a larger change, above 2.4 times, is no calibration
constexpr int kLegal = 12;           // maximum halvings of a stride that ends beyond a limit of the input
constexpr int kSteps = 60;           // maximum iterations between two values; most searches take fewer than ten
constexpr double kExact = 1e-9;      // relative error of a figure that counts as exact
constexpr double kMoves = 1. / 100;  // elasticity below which an input explains nothing
constexpr int kRounds = 12;          // maximum rounds over all inputs until all figures are as measured

constexpr std::string_view kTrainingInputs[] = {kMatrix,
                                                kMatrixFp8,
                                                "cluster.device.efficiency.stream",
                                                "training.framework.step_overhead",
                                                "training.framework.jitter",
                                                "training.framework.exchange.network_share",
                                                "training.framework.exchange.tensor_exposed",
                                                "cluster.networks.0.bandwidth_fraction"};
constexpr std::string_view kMemoryInputs[] = {"training.framework.memory.constant", "training.framework.memory.hidden",
                                              "training.framework.memory.gated", "serving.engine.memory.reserve"};
constexpr std::string_view kServingInputs[] = {"cluster.device.efficiency.stream",
                                               kMatrix,
                                               kMatrixFp8,
                                               "cluster.device.efficiency.launch",
                                               "serving.engine.step",
                                               "serving.engine.sequence",
                                               "serving.engine.request",
                                               "cluster.networks.0.bandwidth_fraction"};
constexpr std::string_view kServingFactors[] = {"serving.tuning.dense", "serving.tuning.experts",
                                                "serving.tuning.experts_fp8", "serving.tuning.on.0.experts",
                                                "serving.tuning.on.0.dense"};
constexpr std::string_view kCostInputs[] = {"cost.rental.price", "cost.device.price", "cost.device.margin"};
constexpr std::string_view kCollectiveInputs[] = {
    "cluster.networks.0.bandwidth_fraction", "cluster.networks.0.reduction_fraction",
    "cluster.networks.0.base_latency",       "cluster.networks.1.bandwidth_fraction",
    "cluster.networks.1.reduction_fraction", "cluster.networks.1.base_latency"};

// Logarithm of the computed figure over the measured one, as a function of one input's value.
class Gap {
 public:
  Gap(const MeasuredFigure& figure, std::string_view path, InputValues values)
      : figure_(figure), values_(std::move(values)), value_(values_[std::string(path)]) {}

  std::optional<double> operator()(double value) {
    value_ = value;
    const std::optional<double> computed = figure_.computed(values_);
    return computed && *computed > 0 ? std::optional(std::log(*computed / figure_.measured)) : std::nullopt;
  }

 private:
  const MeasuredFigure& figure_;
  InputValues values_;
  double& value_;
};

struct Point {
  double value = 0, gap = 0;
};

// The zero of the gap between two values, by false position in logarithms; halves the weight of a retained end.
Point Closed(Gap& gap, Point near, Point far) {
  double near_weight = near.gap, far_weight = far.gap;
  for (int i = 0; i < kSteps && std::abs(far.gap) > kExact; ++i) {
    const double low = std::log(near.value), high = std::log(far.value);
    const double middle = std::exp((low * far_weight - high * near_weight) / (far_weight - near_weight));
    const std::optional<double> at = gap(middle);
    if (!at) break;
    if ((*at > 0) == (far.gap > 0)) {
      near_weight /= 2;
    } else {
      near = far, near_weight = far.gap;
    }
    far = {middle, *at}, far_weight = *at;
  }
  return far;
}

// Changes the input from its value until the figure is as measured; otherwise to the nearest legal value.
Point Solved(Gap& gap, double from, double elasticity) {
  const std::optional<double> start = gap(from);
  if (!start) return {from, std::numeric_limits<double>::infinity()};
  Point near{from, *start};
  if (std::abs(near.gap) <= kExact) return near;
  const double stride = (near.gap > 0) == (elasticity > 0) ? 1 / kStride : kStride;
  const auto crosses = [&](double other) { return (other > 0) != (near.gap > 0); };
  for (int i = 0; i < kStrides; ++i) {
    double far = near.value * stride;
    std::optional<double> there = gap(far);
    double beyond = far;
    for (int halving = 0; halving < kLegal && !there; ++halving) {  // beyond a limit: approaches it
      const double middle = std::sqrt(near.value * beyond);
      const std::optional<double> at = gap(middle);
      if (!at) {
        beyond = middle;
      } else if (crosses(*at)) {
        far = middle, there = at;
      } else {
        near = {middle, *at};
      }
    }
    if (!there) return near;
    if (crosses(*there)) return Closed(gap, near, {far, *there});
    near = {far, *there};
  }
  return near;
}

double ValueOf(const ExplainingInput& input, const InputValues& values) {
  const auto set = values.find(input.path);
  return set == values.end() ? input.from : set->second;
}

constexpr double kAsMeasured = 1e-6;  // relative error of a figure that counts as explained

}  // namespace

bool IsCost(std::string_view figure) {
  return figure.starts_with("cost.") || figure.find("_usd") != std::string_view::npos;
}

std::span<const std::string_view> InputsBehind(std::string_view figure) {
  if (figure.find("memory") != std::string_view::npos) return kMemoryInputs;
  if (IsCost(figure)) return kCostInputs;
  if (figure.starts_with("training.")) return kTrainingInputs;
  return kServingInputs;
}

std::span<const std::string_view> InputsBehindCollectives() { return kCollectiveInputs; }

std::span<const std::string_view> FactorsOfSoftware(std::string_view figure) {
  return InputsBehind(figure).data() == kServingInputs ? std::span<const std::string_view>(kServingFactors)
                                                       : std::span<const std::string_view>();
}

std::vector<ExplainingInput> InputsThatExplain(const MeasuredFigure& figure, std::span<const std::string_view> paths,
                                               const Json& resolved, const InputValues& values) {
  std::vector<ExplainingInput> found;
  const std::optional<double> computed = figure.computed(values);
  if (!computed || !(*computed > 0)) return found;
  for (const std::string_view path : paths) {
    ExplainingInput input{std::string(path), NumberAt(resolved, path).value_or(0), 0, {}, *computed};
    if (!(input.from > 0)) continue;
    for (const double probe : {kProbe, 1 / kProbe}) {  // the other direction, if the first exceeds a limit
      InputValues probed = values;
      probed[input.path] = ValueOf(input, values) * probe;
      const std::optional<double> moved = figure.computed(probed);
      if (!moved || !(*moved > 0)) continue;
      input.elasticity = std::log(*moved / *computed) / std::log(probe);
      break;
    }
    if (std::abs(input.elasticity) >= kMoves) found.push_back(std::move(input));
  }
  std::stable_sort(found.begin(), found.end(), [](const ExplainingInput& a, const ExplainingInput& b) {
    return std::abs(a.elasticity) > std::abs(b.elasticity);
  });
  for (ExplainingInput& input : found) {
    Gap gap(figure, input.path, values);
    const Point at = Solved(gap, ValueOf(input, values), input.elasticity);
    input.reached = figure.measured * std::exp(at.gap);
    if (std::abs(at.gap) <= kAsMeasured) input.to = at.value;
  }
  return found;
}

InputValues ExplainTogether(std::span<const Explanation> explanations, InputValues values) {
  for (int round = 0; round < (explanations.size() > 1 ? kRounds : 1); ++round) {
    for (const auto& [figure, input] : explanations) {
      Gap gap(*figure, input.path, values);
      const Point at = Solved(gap, ValueOf(input, values), input.elasticity);
      if (std::abs(at.gap) <= kAsMeasured) values[input.path] = at.value;
    }
  }
  return values;
}

}  // namespace slipstick
