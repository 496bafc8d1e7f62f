#include "core/advice/advice_job.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/advice/mapping_search.h"
#include "core/base/units.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

constexpr Count kMappingsPerStep = 100;
constexpr std::size_t kPairedKinds = 6;  // number of best changes to pair, one of each kind
constexpr std::size_t kMostPairs = 10;   // pairs to try, those with the largest product of gains
constexpr double kNoticed = 1.01;        // smaller gains are ignored
constexpr double kMostWorse = 2;         // maximum factor by which another figure of the part may get worse

// Figures that a gain in another figure must not ruin.
constexpr const char* kOtherFigures[] = {"training.time_to_train_s", "training.cost_usd", "serving.tpot_s",
                                         "serving.ttft_s", "serving.cost_usd_per_million_tokens"};

// "$33.58 M"
std::string MoneyText(double usd) {
  for (const auto& [unit, word] : {std::pair{1e9, " B"}, {1e6, " M"}, {1e3, " k"}}) {
    if (usd >= unit) return "$" + ReadableText(usd / unit, "") + word;
  }
  return "$" + ReadableText(usd, "");
}

bool IsAbout(const AdviceQuestion& question, const std::string& figure) {
  return question.figure == figure || std::any_of(question.limits.begin(), question.limits.end(),
                                                  [&](const Condition& limit) { return limit.path == figure; });
}

}  // namespace

Result<std::shared_ptr<AdviceJob>> AdviceJob::Make(Json request, const Json& question) {
  Result<AdviceQuestion> read = ReadAdviceQuestion(question, request);
  if (!read) return std::move(read.issues);
  Result<JudgedScenario> now = Judge(request, *read);
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
  const auto replaces = [&](const Improvement& one) {
    return (proposal.only_first_of_kind && one.proposal.Kind() == proposal.Kind()) ||
           (proposal.only_way && one.proposal.needs < Needs::kOtherWork);
  };
  if (std::any_of(changes_.begin(), changes_.end(), replaces)) return;
  if (proposal.search == MappingSearch::kAlways) return StartSearch(proposal);
  Result<JudgedScenario> verdict = Judge(WithOverrides(request_, proposal.overrides), question_);
  ++evaluated_;
  if (verdict && verdict->IsAnswer()) {
    Keep({proposal, "", proposal.overrides, std::move(*verdict)});
  } else if (proposal.search == MappingSearch::kIfNeeded) {
    StartSearch(proposal);
  }
}

void AdviceJob::StartSearch(const Proposal& proposal) {
  search_ =
      MappingSearchFor(WithOverrides(request_, proposal.overrides), now_.scenario, question_, SearchLimits(proposal));
}

// The proposal's limits. In serving also those on other figures; in training they would prevent pruning by bounds.
std::vector<std::string> AdviceJob::SearchLimits(const Proposal& proposal) const {
  std::vector<std::string> limits = proposal.search_limits;
  if (question_.part == "training") return limits;
  for (const Condition& limit : question_.limits) {
    if (limit.path.starts_with("serving."))
      limits.push_back(limit.path + (limit.at_most ? "<=" : ">=") + JsonText(Json(limit.bound.value)));
  }
  if (!now_.IsAnswer()) return limits;
  for (const char* path : kOtherFigures) {
    const std::optional<double> before = NumberAt(now_.report, path);
    const bool is_limited = std::string_view(path).starts_with("serving.") && !IsAbout(question_, path) && before;
    if (is_limited) limits.push_back(std::string(path) + "<=" + JsonText(Json(kMostWorse * *before)));
  }
  return limits;
}

void AdviceJob::EndSearch() {
  const Json best = search_->Report()["best"];
  if (best.empty()) return;
  const Proposal& proposal = proposals_[next_];
  const Json found = best[0]["overrides"];
  const double expected = *NumberAt(best[0], question_.figure.substr(question_.part.size() + 1));
  const Json changed = ChangedMembers(found, request_, now_.scenario);
  // Members that are left out may follow the changed ones; if that changes the result, all members are written.
  for (const Json& members : {changed, found}) {
    Json overrides = proposal.overrides;
    overrides.update(members);
    Result<JudgedScenario> verdict = Judge(WithOverrides(request_, overrides), question_);
    ++evaluated_;
    if (!verdict || !(std::abs(verdict->value / expected - 1) < kRoundingGuard) || !verdict->IsAnswer()) continue;
    return Keep({proposal, "", std::move(overrides), std::move(*verdict), 0, true});
  }
}

void AdviceJob::Keep(Improvement improvement) {
  improvement.gain = GainOf(question_, now_.value, improvement.verdict.value);
  if (!IsWorthwhile(improvement)) return;
  // Names the searched degrees, and unwritten ones that follow the change.
  const Proposal& proposal = improvement.proposal;
  const std::string mapping =
      MappingChangesText(question_.part, now_.scenario, improvement.verdict.scenario, proposal.overrides);
  improvement.title = proposal.title + (mapping.empty() ? "" : " (" + mapping + ")");
  std::vector<Improvement>& improvements = improvement.proposal.of.empty() ? changes_ : pairs_;
  const auto same = std::find_if(improvements.begin(), improvements.end(),
                                 [&](const Improvement& one) { return one.overrides == improvement.overrides; });
  if (same == improvements.end()) {
    improvements.push_back(std::move(improvement));
  } else {
    *same = std::move(improvement);  // a setting is clearer than the search that found the same mapping
  }
}

// The gain that a pair must exceed: of its better change alone or, with a new mapping, of the mapping alone.
double AdviceJob::GainToBeat(const Improvement& improvement) const {
  double gain = 0;
  for (const Improvement& one : changes_) {
    const std::vector<std::string>& of = improvement.proposal.of;
    const bool is_part = std::find(of.begin(), of.end(), one.proposal.id) != of.end();
    const bool is_mapping = of.empty() && improvement.is_remapped && one.is_remapped && one.proposal.overrides.empty();
    if (is_part || is_mapping) gain = std::max(gain, one.gain);
  }
  return gain;
}

bool AdviceJob::IsWorthwhile(const Improvement& one) const {
  // Warnings name what software cannot do or a device lacks.
  const std::set<std::string>&before = now_.warnings, &after = one.verdict.warnings;
  const bool adds_warning = !std::includes(before.begin(), before.end(), after.begin(), after.end());
  if (one.proposal.needs != Needs::kPurchase && adds_warning) return false;
  if (one.gain < kNoticed * GainToBeat(one)) return false;
  if (!now_.IsAnswer()) return true;
  const double second = one.verdict.second > 0 ? now_.second / one.verdict.second : 0;
  const bool is_better =
      one.gain >= kNoticed || (one.proposal.of.empty() && one.gain * kNoticed >= 1 && second >= kNoticed);
  return is_better && KeepsOtherFigures(one.verdict);
}

bool AdviceJob::KeepsOtherFigures(const JudgedScenario& verdict) const {
  if (!now_.IsAnswer()) return true;
  return std::none_of(std::begin(kOtherFigures), std::end(kOtherFigures), [&](const char* path) {
    if (std::string_view(path).substr(0, question_.part.size()) != question_.part || IsAbout(question_, path))
      return false;
    const std::optional<double> before = NumberAt(now_.report, path), after = NumberAt(verdict.report, path);
    return before && after && *after > kMostWorse * *before;
  });
}

std::vector<const AdviceJob::Improvement*> AdviceJob::Ranked(const std::vector<Improvement>& improvements) const {
  std::vector<const Improvement*> ranked;
  for (const Improvement& one : improvements) ranked.push_back(&one);
  std::stable_sort(ranked.begin(), ranked.end(), [](const Improvement* a, const Improvement* b) {
    const bool other_a = a->proposal.needs == Needs::kOtherWork, other_b = b->proposal.needs == Needs::kOtherWork;
    if (other_a != other_b) return other_b;
    return a->gain != b->gain ? a->gain > b->gain : a->verdict.second < b->verdict.second;
  });
  return ranked;
}

void AdviceJob::AddPairs() {
  std::vector<const Improvement*> best;
  for (const Improvement* one : Ranked(changes_)) {
    if (one->proposal.needs == Needs::kOtherWork) continue;
    const auto is_of_kind = [one](const Improvement* other) { return other->proposal.Kind() == one->proposal.Kind(); };
    if (best.size() < kPairedKinds && std::none_of(best.begin(), best.end(), is_of_kind)) best.push_back(one);
  }
  std::vector<std::pair<double, Proposal>> pairs;
  for (std::size_t i = 0; i < best.size(); ++i) {
    for (std::size_t j = i + 1; j < best.size(); ++j) {
      const Improvement &a = *best[i], &b = *best[j];
      if (AreCompatible(a.proposal, b.proposal)) pairs.emplace_back(a.gain * b.gain, PairOf(a.proposal, b.proposal));
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < std::min(kMostPairs, pairs.size()); ++i) proposals_.push_back(std::move(pairs[i].second));
}

Json AdviceJob::ListOf(const std::vector<const Improvement*>& ranked, std::size_t top) const {
  Json list = Json::array();
  for (const Improvement* one : ranked) {
    if (list.size() >= top) break;
    const Proposal& proposal = one->proposal;
    std::string effort = proposal.effort;
    const bool buys =
        proposal.needs == Needs::kPurchase && now_.system_usd > 0 && one->verdict.system_usd != now_.system_usd;
    if (buys) effort += " TCO " + MoneyText(now_.system_usd) + " → " + MoneyText(one->verdict.system_usd) + ".";
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

// If a setting makes the scenario fit, purchases and other work are not listed as changes; pairs may have them.
std::vector<const AdviceJob::Improvement*> AdviceJob::ListedChanges() const {
  std::vector<const Improvement*> listed = Ranked(changes_);
  const auto is_setting = [](const Improvement* one) { return one->proposal.needs == Needs::kSettings; };
  if (now_.IsAnswer() || std::none_of(listed.begin(), listed.end(), is_setting)) return listed;
  std::erase_if(listed, [](const Improvement* one) { return one->proposal.needs >= Needs::kOtherWork; });
  return listed;
}

Json AdviceJob::WithoutPurchase() const {
  const std::vector<const Improvement*> listed = ListedChanges();
  const auto least = std::min_element(listed.begin(), listed.end(), [](const Improvement* a, const Improvement* b) {
    return a->proposal.needs < b->proposal.needs;
  });
  if (least == listed.end() || (*least)->proposal.needs == Needs::kPurchase) return nullptr;
  return (*least)->proposal.id;
}

Json AdviceJob::Report() const {
  return ObjectOf({{"for", question_.part},
                   {"figure", question_.figure},
                   {"value", now_.figures[question_.figure]},
                   {"feasible", now_.is_feasible},
                   {"changes", ListOf(ListedChanges(), question_.top)},
                   {"pairs", ListOf(Ranked(pairs_), (question_.top + 1) / 2)},
                   {"without_purchase", WithoutPurchase()},
                   {"evaluated", evaluated_},
                   {"done", IsDone()}});
}

}  // namespace slipstick
