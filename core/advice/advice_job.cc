#include "core/advice/advice_job.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/advice/mapping_search.h"
#include "core/base/units.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

constexpr Count kMappingsPerStep = 100;
constexpr std::size_t kPairedKinds = 6;  // of the best changes, one of each kind
constexpr double kNoticed = 1.01;        // a smaller gain is none
constexpr double kMostWorse = 2;         // of another figure of the part
constexpr double kSame = 1e-9;           // relative

// Figures that a gain in another one must not ruin.
constexpr const char* kOtherFigures[] = {"training.time_to_train_s", "training.cost_usd", "serving.tpot_s", "serving.ttft_s",
                                         "serving.cost_usd_per_million_tokens"};

std::string OwnershipText(double before, double after) {
  return "Total cost of ownership: " + ReadableText(before / 1e6, "") + " → " + ReadableText(after / 1e6, "") + " M$.";
}

bool IsAbout(const AdviceQuestion& question, const std::string& figure) {
  return question.figure == figure ||
         std::any_of(question.limits.begin(), question.limits.end(), [&](const Condition& limit) { return limit.path == figure; });
}

}  // namespace

Result<std::shared_ptr<AdviceJob>> AdviceJob::Make(Json request, const Json& question) {
  Result<AdviceQuestion> read = ReadAdviceQuestion(question, request);
  if (!read) return std::move(read.issues);
  Result<Verdict> now = Judge(request, *read);
  if (!now) return std::move(now.issues);
  std::shared_ptr<AdviceJob> job(new AdviceJob);
  job->question_ = std::move(*read);
  job->request_ = std::move(request);
  job->now_ = std::move(*now);
  job->proposals_ = ProposalsFor(job->question_, job->request_, job->now_);
  job->evaluated_ = 1;
  return job;
}

bool AdviceJob::Step(int count) {
  for (int i = 0; i < count && !IsDone(); ++i) StepOnce();
  return !IsDone();
}

void AdviceJob::StepOnce() {
  if (search_) {
    const Count before = search_->progress().evaluated;
    const bool more = search_->Step(kMappingsPerStep);
    evaluated_ += search_->progress().evaluated - before;
    if (more) return;
    EndSearch();
    search_.reset();
    ++next_;
  } else if (next_ < proposals_.size()) {
    Begin(proposals_[next_]);
    if (!search_) ++next_;
  } else {
    AddPairs();
    has_pairs_ = true;
  }
}

void AdviceJob::Begin(const Proposal& proposal) {
  const auto is_of_kind = [&](const Improvement& one) { return one.proposal.Kind() == proposal.Kind(); };
  if (proposal.only_first && std::any_of(changes_.begin(), changes_.end(), is_of_kind)) return;
  if (proposal.search == MappingSearch::kAlways) return StartSearch(proposal);
  Result<Verdict> verdict = Judge(WithOverrides(request_, proposal.overrides), question_);
  ++evaluated_;
  if (verdict && verdict->IsAnswer()) {
    Keep(proposal, proposal.title, proposal.overrides, std::move(*verdict));
  } else if (proposal.search == MappingSearch::kIfNeeded) {
    StartSearch(proposal);
  }
}

void AdviceJob::StartSearch(const Proposal& proposal) {
  search_ = MappingSearchFor(WithOverrides(request_, proposal.overrides), now_.scenario, question_, proposal.search_limits);
}

void AdviceJob::EndSearch() {
  const Json best = search_->Report()["best"];
  if (best.empty()) return;
  const Proposal& proposal = proposals_[next_];
  const Json found = best[0]["overrides"];
  const double expected = *NumberAt(best[0], question_.figure.substr(question_.part.size() + 1));
  const Json changed = ChangedMembers(found, request_, now_.scenario);
  const std::string joint = proposal.search == MappingSearch::kAlways && proposal.of.empty() ? ": " : " with ";
  const std::string title = proposal.title + (changed.empty() ? "" : joint + MappingChangesText(changed, now_.scenario));
  // Members left out may follow the changed ones; then all are written.
  for (const Json& members : {changed, found}) {
    Json overrides = proposal.overrides;
    overrides.update(members);
    Result<Verdict> verdict = Judge(WithOverrides(request_, overrides), question_);
    ++evaluated_;
    if (!verdict || !(std::abs(verdict->value / expected - 1) < kSame) || !verdict->IsAnswer()) continue;
    return Keep(proposal, title, std::move(overrides), std::move(*verdict));
  }
}

void AdviceJob::Keep(const Proposal& proposal, std::string title, Json overrides, Verdict verdict) {
  if (!IsWorthwhile(proposal, verdict)) return;
  const double gain = GainOf(question_, now_.value, verdict.value);
  std::vector<Improvement>& improvements = proposal.of.empty() ? changes_ : pairs_;
  improvements.push_back({proposal, std::move(title), std::move(overrides), std::move(verdict), gain});
}

bool AdviceJob::IsWorthwhile(const Proposal& proposal, const Verdict& verdict) const {
  // What software cannot do or a device lacks is a warning.
  if (proposal.needs != Needs::kPurchase && verdict.warnings > now_.warnings) return false;
  const double gain = GainOf(question_, now_.value, verdict.value);
  if (!proposal.of.empty()) {
    double best = 1 / kNoticed;
    for (const Improvement& one : changes_) {
      const bool is_part = std::find(proposal.of.begin(), proposal.of.end(), one.proposal.id) != proposal.of.end();
      if (is_part) best = std::max(best, one.gain);
    }
    return gain >= kNoticed * best && KeepsOtherFigures(verdict);
  }
  if (!now_.IsAnswer()) return true;
  const double second = verdict.second > 0 ? now_.second / verdict.second : 0;
  return (gain >= kNoticed || (gain * kNoticed >= 1 && second >= kNoticed)) && KeepsOtherFigures(verdict);
}

bool AdviceJob::KeepsOtherFigures(const Verdict& verdict) const {
  if (!now_.IsAnswer()) return true;
  return std::none_of(std::begin(kOtherFigures), std::end(kOtherFigures), [&](const char* path) {
    if (std::string_view(path).substr(0, question_.part.size()) != question_.part || IsAbout(question_, path)) return false;
    const std::optional<double> before = NumberAt(now_.report, path), after = NumberAt(verdict.report, path);
    return before && after && *after > kMostWorse * *before;
  });
}

std::vector<const AdviceJob::Improvement*> AdviceJob::Ranked(const std::vector<Improvement>& improvements) const {
  std::vector<const Improvement*> ranked;
  for (const Improvement& one : improvements) ranked.push_back(&one);
  std::stable_sort(ranked.begin(), ranked.end(), [](const Improvement* a, const Improvement* b) {
    return a->gain != b->gain ? a->gain > b->gain : a->verdict.second < b->verdict.second;
  });
  return ranked;
}

void AdviceJob::AddPairs() {
  std::vector<Proposal> best;
  for (const Improvement* one : Ranked(changes_)) {
    const auto is_of_kind = [&](const Proposal& other) { return other.Kind() == one->proposal.Kind(); };
    if (best.size() < kPairedKinds && std::none_of(best.begin(), best.end(), is_of_kind)) best.push_back(one->proposal);
  }
  for (std::size_t i = 0; i < best.size(); ++i) {
    for (std::size_t j = i + 1; j < best.size(); ++j) {
      if (AreCompatible(best[i], best[j])) proposals_.push_back(PairOf(best[i], best[j]));
    }
  }
}

Json AdviceJob::ListOf(const std::vector<Improvement>& improvements) const {
  Json list = Json::array();
  for (const Improvement* one : Ranked(improvements)) {
    if (list.size() >= question_.top) break;
    const Proposal& proposal = one->proposal;
    std::string effort = proposal.effort;
    const bool buys = proposal.needs == Needs::kPurchase && now_.system_usd > 0 && one->verdict.system_usd != now_.system_usd;
    if (buys) effort += " " + OwnershipText(now_.system_usd, one->verdict.system_usd);
    Json entry = ObjectOf({{"id", proposal.id},
                           {"title", one->title},
                           {"overrides", one->overrides},
                           {"figures", one->verdict.figures},
                           {"gain", one->gain},
                           {"effort", std::move(effort)},
                           {"needs", NameOf(proposal.needs)}});
    if (!proposal.of.empty()) entry["of"] = proposal.of;
    list.push_back(std::move(entry));
  }
  return list;
}

Json AdviceJob::Report() const {
  return ObjectOf({{"for", question_.part},
                   {"figure", question_.figure},
                   {"value", now_.figures[question_.figure]},
                   {"feasible", now_.is_feasible},
                   {"changes", ListOf(changes_)},
                   {"pairs", ListOf(pairs_)},
                   {"evaluated", evaluated_},
                   {"done", IsDone()}});
}

}  // namespace slipstick
