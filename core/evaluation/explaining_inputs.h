// Finds the fitted parameter, and its value, that explains why a measurement differs from the computed figure.
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

// The figure for these values of the inputs; nothing if one is not legal or the scenario has no such figure.
using FigureOfInputs = std::function<std::optional<double>(const InputValues&)>;

struct MeasuredFigure {
  FigureOfInputs computed;
  double measured = 0;  // above 0
};

// A parameter that moves the figure.
struct ExplainingInput {
  std::string path;
  double from = 0;           // its current value
  double elasticity = 0;     // of the figure with respect to it
  std::optional<double> to;  // its value at which the figure is as measured; nothing if no legal value nearby does that
  double reached = 0;  // the figure at `to`, or, if absent, the closest one to the measurement for legal values nearby
};

// Whether a figure is in dollars.
bool IsCost(std::string_view figure);
// Constants that were fitted to measurements and may differ on the user's system.
std::span<const std::string_view> InputsBehind(std::string_view figure);
std::span<const std::string_view> InputsBehindCollectives();
// Factors of how an engine is run. They can explain any slower run, so they are tried only if no other input does.
std::span<const std::string_view> FactorsOfSoftware(std::string_view figure);

// The inputs among `paths` that move the figure, sorted by the change that they need, least first. `resolved`: the
// scenario, which supplies all values that are not in `values`.
std::vector<ExplainingInput> InputsThatExplain(const MeasuredFigure& figure, std::span<const std::string_view> paths,
                                               const Json& resolved, const InputValues& values);

// One parameter per figure, so that all figures are as measured: they are adjusted in turn until none changes.
struct Explanation {
  const MeasuredFigure* figure = nullptr;
  ExplainingInput input;
};
InputValues ExplainTogether(std::span<const Explanation> explanations, InputValues values);

}  // namespace slipstick
