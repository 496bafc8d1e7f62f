// The best chip design for a figure: how to spend area, power and shoreline, and which node, memory, dies and batch to
// choose.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/evaluation/job_steps.h"
#include "core/exploration/design_problem.h"
#include "core/scenario/scenario.h"
#include "core/technology/optimise.h"

namespace slipstick {

// Optimizes a design in steps: first under the mapping of the request's own design, which then follows the optimized
// design until neither changes, or stays, as part of the answer, if the one chosen there would lose the gain; then, if
// requested, with a mapping chosen for each candidate; then finds the budgets that limit the optimum, and the frontier.
class DesignJob {
 public:
  // `question`: see ReadDesignQuestion.
  static Result<std::shared_ptr<DesignJob>> Make(Json request, const Json& question);

  static constexpr int kStepsAtOnce = 1;
  // Runs `count` passes over the moves; false when nothing is left to do.
  bool Step(int count);
  [[nodiscard]] double done() const;
  // The answer so far:
  // {"figure","better","objective","start","feasible","evaluations","done","converged","mapping_kept",
  // "starts": {"refined","agree"},"bound": {"objective","gap"}|null,"overrides": {path: value},
  // "limits": [{"budget","at","unit","more","change","per_unit"}],
  // "against"?,"frontier"?: [{"objective","against","overrides"}]}.
  [[nodiscard]] Json Report();

 private:
  enum class Phase { kFixed, kEach, kLimits, kFrontier, kDone };
  struct Extra {
    std::string budget, unit;
    double at = 0, more = 0, objective = 0;
  };
  struct FrontierPoint {
    double objective = 0, against = 0;
    DesignPoint point;
  };
  explicit DesignJob(DesignProblem problem);
  void Begin(Phase phase);
  void EndDescent();
  bool Keep(const DesignPoint& point);
  bool KeepAsAnswered(const DesignPoint& point);
  void AddLimit();
  void AddBound();
  void KeepOnFrontier(double objective, double against, const DesignPoint& point);
  void BeginFrontier();

  DesignProblem problem_;
  Phase phase_ = Phase::kFixed;
  std::optional<Optimiser> optimiser_;
  int round_ = 0, evaluations_ = 0, refined_ = 0, agree_ = 0;
  bool converged_ = false, mapping_kept_ = false;
  DesignPoint best_;
  std::optional<Tried> start_, best_tried_;
  std::optional<double> bound_;
  std::vector<Extra> limits_;
  std::size_t limit_ = 0;
  std::size_t weight_ = 0;
  std::vector<FrontierPoint> frontier_;
};

// The best split of a scenario's design for a figure of the report, under its mapping: the largest if larger is better,
// otherwise the smallest. Nothing if the scenario has no design or no split gives a feasible report.
std::optional<ChipDesign> OptimiseDesign(const Scenario& scenario, const std::string& figure,
                                         const OptimiseOptions& options);

// A job's report when it is done, or issues.
Answer DesignAnswer(std::string_view request, const std::vector<std::string>& assignments, const Json& question,
                    const std::function<void(double)>& on_progress = {});

using DesignSteps = JobSteps<DesignJob>;

}  // namespace slipstick
