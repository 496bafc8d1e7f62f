// The design space of a chip, and the evaluation of a point in it.
//
// The shares of the three budgets are variables, and so is every further input that the question varies: a number of
// the design in a range ("cluster.device.design.area=400 mm^2:800 mm^2"), or any input over a list of values
// ("cluster.device.design.node=4nm,3nm", "partition.chiplets=1,2,4", "serving.batch=16,64,256").
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/exploration/condition.h"
#include "core/scenario/scenario.h"
#include "core/technology/optimise.h"

namespace slipstick {

struct DesignQuestion {
  std::string figure;               // path in the report; "": step time, or throughput per device
  std::string against;              // second figure of a frontier; "": none
  std::vector<std::string> vary;    // "PATH=low:high" or "PATH=a,b,c"
  std::vector<std::string> locks;   // paths of shares that stay fixed
  std::vector<std::string> limits;  // "PATH<=VALUE" or "PATH>=VALUE", for a share or a figure
  bool maps_each = false;           // a mapping is chosen for each candidate
};
// {"objective"?,"pareto"?,"vary"?,"locks"?,"limits"?,"mapping"?: "fixed" or "each"}
Result<DesignQuestion> ReadDesignQuestion(const Json& json);

// A scenario to start from if the request's own split yields no device on its node, memory and links. Nothing if the
// scenario has other faults or no tried split yields a device.
std::optional<Scenario> WithAnySplit(const Json& request);

// Factors on the budgets, to find the effect of more of one budget.
struct BudgetFactors {
  double area = 1, power = 1, package = 1, edge = 1;
};

class DesignProblem {
 public:
  // Issues if the request has no chip design or the question names something unknown.
  static Result<DesignProblem> Make(Json request, DesignQuestion question);
  // A problem over only the shares of a scenario's design, for one figure.
  static DesignProblem OfShares(const Scenario& scenario, std::string figure);

  [[nodiscard]] const DesignQuestion& question() const { return question_; }
  [[nodiscard]] const DesignSpace& space() const { return space_; }
  // The request's own point first, then the shares of the catalogue's designs, then each combination of choices.
  [[nodiscard]] std::vector<DesignPoint> Starts();

  // Evaluates a point under the mapping of the base. The objective is signed so that less is better. `second`, if
  // given, receives the second figure.
  std::optional<Tried> Evaluate(const DesignPoint& point, const BudgetFactors& factors = {}, double* second = nullptr);
  // Evaluates the request with the point's overrides as `evaluate` does: an automatic mapping is chosen again.
  [[nodiscard]] std::optional<Tried> EvaluateAnew(const DesignPoint& point) const;
  // Takes the mappings chosen at this point as the mappings of the base.
  void Rebase(const DesignPoint& point);

  // Writes the mappings that were chosen for the base into the request, so that they stay; false if none was chosen.
  bool KeepMappings(const DesignPoint& point);
  // The inputs that this has written, by path.
  [[nodiscard]] const Json& kept() const { return kept_; }

  // Whether every figure of the question is a time or a token rate, which do not depend on prices.
  [[nodiscard]] bool IsOfSpeed() const { return is_of_speed_; }
  // The figure that belongs to a (signed) objective.
  [[nodiscard]] double FigureOf(double objective) const { return sign_ * objective; }
  [[nodiscard]] Json OverridesOf(const DesignPoint& point) const;
  // The chip design at a point; nothing if the base for its choices is invalid.
  std::optional<ChipDesign> DesignAt(const DesignPoint& point);

 private:
  struct Input {
    std::string path;
    std::vector<Json> choices;  // values of a list; empty for a number
    std::string unit;           // base unit of a quantity, so that commands and JSON state the same value
  };
  DesignProblem() = default;
  void AddShares(const ChipDesign& design);
  Issues Vary(const std::string& text);
  Issues Lock(const std::string& path);
  Issues Limit(const std::string& text);
  Issues CheckFigure(std::string& figure) const;
  [[nodiscard]] std::optional<std::size_t> VariableAt(const std::string& path) const;
  const std::optional<Scenario>& BaseAt(const DesignPoint& point);
  [[nodiscard]] Json RequestAt(const DesignPoint& point, bool has_only_choices) const;
  [[nodiscard]] std::string ChoicesKey(const DesignPoint& point) const;
  [[nodiscard]] std::vector<std::string_view> PartsRead() const;
  [[nodiscard]] bool ReadsOnlySpeeds() const;
  std::optional<Tried> Judge(const Json& report, double* second) const;

  Json request_, kept_ = Json::object();
  DesignQuestion question_;
  double sign_ = 1;  // of the objective
  bool is_of_speed_ = false;
  DesignSpace space_;
  std::vector<Input> inputs_;  // one per variable, in order
  DesignPoint start_;
  std::vector<Condition> figure_limits_;
  std::map<std::string, std::optional<Scenario>> bases_;
  DesignPoint base_point_;
};

}  // namespace slipstick
