// The command `advise`: discrete changes to a scenario, ranked by their gain. In steps: each change is evaluated by
// itself, then pairs of the best changes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/advice/judge.h"
#include "core/advice/proposal.h"
#include "core/advice/question.h"
#include "core/base/issue.h"
#include "core/base/json.h"
#include "core/evaluation/job_steps.h"
#include "core/exploration/search_job.h"

namespace slipstick {

class AdviceJob {
 public:
  // Issues if the request or the question is wrong. `question`: see ReadAdviceQuestion.
  static Result<std::shared_ptr<AdviceJob>> Make(Json request, const Json& question);

  static constexpr int kStepsAtOnce = 1;
  // Does `count` pieces of work, each about as long as an evaluation; false when none is left.
  bool Step(int count);

  // The answer so far, best first, other work last:
  // {"for","figure","value","feasible","changes":[{"id","title","overrides","figures","gain","effort",
  // "needs"}],"pairs":[the same, and "of":[id,id]],"without_purchase": id of the change without one that
  // needs least, or null,"evaluated","done"}.
  [[nodiscard]] Json Report() const;

 private:
  // A change that leads to an answer. Its proposal is in the state before the search for a mapping.
  struct Improvement {
    Proposal proposal;
    std::string title;
    Json overrides;
    JudgedScenario verdict;
    double gain = 0;
    bool is_remapped = false;  // a search found a new mapping for it
  };

  AdviceJob() = default;
  [[nodiscard]] bool IsDone() const { return !search_ && next_ >= proposals_.size() && has_pairs_; }
  void StepOnce();
  void Begin(const Proposal& proposal);
  void StartSearch(const Proposal& proposal);
  void EndSearch();
  void Keep(Improvement improvement);
  void AddPairs();
  [[nodiscard]] bool IsWorthwhile(const Improvement& one) const;
  [[nodiscard]] double GainToBeat(const Improvement& improvement) const;
  [[nodiscard]] bool KeepsOtherFigures(const JudgedScenario& verdict) const;
  [[nodiscard]] std::vector<std::string> SearchLimits(const Proposal& proposal) const;
  [[nodiscard]] std::vector<const Improvement*> ListedChanges() const;
  [[nodiscard]] Json WithoutPurchase() const;
  [[nodiscard]] std::vector<const Improvement*> Ranked(const std::vector<Improvement>& improvements) const;
  [[nodiscard]] Json ListOf(const std::vector<const Improvement*>& ranked, std::size_t top) const;

  AdviceQuestion question_;
  Json request_;
  JudgedScenario now_;
  std::vector<Proposal> proposals_;
  std::size_t next_ = 0;
  bool has_pairs_ = false;
  std::shared_ptr<SearchJob> search_;  // search in progress for proposals_[next_]
  std::vector<Improvement> changes_, pairs_;
  Count evaluated_ = 0;
};

using AdviceSteps = JobSteps<AdviceJob>;

}  // namespace slipstick
