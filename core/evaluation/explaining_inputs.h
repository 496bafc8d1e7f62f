// Which fitted parameter explains that a measurement differs from the computed figure, and what value of it does.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/scenario/measured_system.h"

namespace slipstick {

// The figure where these inputs have these values; nothing where one is not legal or the scenario has no such figure.
using FigureOfInputs = std::function<std::optional<double>(const InputValues&)>;

struct MeasuredFigure {
  FigureOfInputs computed;
  double measured = 0;  // above 0
};

// A parameter that moves the figure.
struct ExplainingInput {
  std::string path;
  double from = 0;           // its value
  double elasticity = 0;     // of the figure to it
  std::optional<double> to;  // its value at which the figure is as measured; nothing if no legal value near does
  double reached = 0;        // the figure at `to`, or the one nearest to the measurement that a legal value near gives
};

// Whether a figure is in dollars.
bool IsCost(std::string_view figure);
// What was fitted to measurements, and what of it one's own system may have otherwise.
std::span<const std::string_view> InputsBehind(std::string_view figure);
std::span<const std::string_view> InputsBehindCollectives();
// Factors of how an engine is run. They explain any slower run, so that they are tried where none of the others does.
std::span<const std::string_view> FactorsOfSoftware(std::string_view figure);

// Those of `paths` that move the figure, the one that has to move least first. `resolved`: the scenario, whose values
// they have, but for those in `values`.
std::vector<ExplainingInput> InputsThatExplain(const MeasuredFigure& figure, std::span<const std::string_view> paths,
                                               const Json& resolved, const InputValues& values);

// One parameter for each figure, so that all are as measured: turns are taken until they stand.
struct Explanation {
  const MeasuredFigure* figure = nullptr;
  ExplainingInput input;
};
InputValues ExplainTogether(std::span<const Explanation> explanations, InputValues values);

}  // namespace slipstick
