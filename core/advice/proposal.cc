#include "core/advice/proposal.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/advice/change_table.h"
#include "core/advice/successors.h"
#include "core/base/listed.h"
#include "core/base/units.h"
#include "core/scenario/request.h"

namespace slipstick {
namespace {

// 1024 -> "1,024"; a text is unchanged.
std::string Shown(const Json& value) {
  if (value.is_string()) return TextOf(value);
  return value.is_number_integer() ? GroupedText(value.get<double>()) : JsonText(value);
}

void Replace(std::string& text, std::string_view word, const std::string& value) {
  const std::size_t at = text.find(word);
  if (at != std::string::npos) text.replace(at, word.size(), value);
}

// The scaled value; nothing for a count that would not be whole.
std::optional<Json> Scaled(const Json& old, double factor) {
  if (!old.is_number()) return std::nullopt;
  const double scaled = factor * old.get<double>();
  if (!old.is_number_integer()) return Json(scaled);
  if (scaled < 1 || scaled != std::floor(scaled)) return std::nullopt;
  return Json(static_cast<Count>(scaled));
}

// Turns a row of the table into a proposal; empty if the row changes nothing in this scenario.
std::optional<Proposal> ProposalOf(const ChangeRow& row, const Json& request, const Json& scenario) {
  Proposal proposal{std::string(row.id),
                    std::string(row.title),
                    std::string(row.effort),
                    row.needs,
                    Json::object(),
                    row.search,
                    ListedIn(row.search_limits, ' '),
                    row.when == When::kLastResort,
                    row.when == When::kOnlyWay};
  for (const std::string& word : ListedIn(row.set, ' ')) {
    const std::size_t scale = word.find("*="), cap = word.find("<=");
    const bool scales = scale != std::string::npos, caps = cap != std::string::npos;
    Assignment assignment = scales ? Assignment{word.substr(0, scale), Json()}
                            : caps ? *ParseAssignment(word.substr(0, cap) + word.substr(cap + 1))
                                   : *ParseAssignment(word);
    const Json* found = MemberAt(scenario, assignment.path);
    const Json old = found != nullptr ? *found : Json(nullptr);
    if (caps && old.is_number() && old.get<double>() <= ParseMeasure(word.substr(cap + 2))->value) continue;
    if (scales) {
      // Leaves out a count that follows from another one, unless the request states it.
      if (!proposal.overrides.empty() && MemberAt(request, assignment.path) == nullptr) continue;
      std::optional<Json> scaled = Scaled(old, ParseMeasure(word.substr(scale + 2))->value);
      if (!scaled) return std::nullopt;
      assignment.value = std::move(*scaled);
    }
    if (proposal.overrides.empty()) {
      if (old == assignment.value) return std::nullopt;
      Replace(proposal.title, "{old}", Shown(old));
      Replace(proposal.title, "{new}", Shown(assignment.value));
    }
    proposal.overrides[assignment.path] = std::move(assignment.value);
  }
  // If serving needs more devices than the cluster has, the cluster grows, too.
  const auto serving = proposal.overrides.find("serving.devices");
  if (serving != proposal.overrides.end() && *serving > *MemberAt(scenario, "cluster.devices")) {
    proposal.overrides["cluster.devices"] = Json(*serving);
  }
  return proposal;
}

// The path at which to set another preset of a part: the part's preset, or the whole part if the request states more
// than the preset and the member `kept`.
std::string PathOfPreset(const Json& request, std::string_view part, std::string_view kept = "") {
  const Json* written = FindMember(request, part);
  bool is_plain = written != nullptr && written->is_object();
  if (is_plain) {
    for (const auto& [key, value] : written->items()) is_plain = is_plain && (key == "preset" || key == kept);
  }
  return std::string(part) + (is_plain ? ".preset" : "");
}

std::vector<Proposal> NewerDevices(const Json& request, const Json& scenario) {
  std::vector<Proposal> proposals;
  const std::string path = PathOfPreset(request, "cluster", "devices");
  const Json* name = MemberAt(scenario, "cluster.device.name");
  for (const Successor& one : SuccessorsOf(scenario)) {
    Proposal proposal;
    proposal.id = "device." + one.cluster;
    proposal.title = one.device + " in place of " + TextOf(*name);
    proposal.effort = "New hardware; retune kernels.";
    proposal.needs = Needs::kPurchase;
    proposal.overrides[path] = one.cluster;
    // As many devices as now: a written cluster would serve with all of its own.
    for (const char* devices : {"cluster.devices", "serving.devices"}) {
      if (IsSet(scenario, devices)) proposal.overrides[devices] = *MemberAt(scenario, devices);
    }
    proposal.search = MappingSearch::kIfNeeded;
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

// Proposes each smaller model; in serving, also with as many concurrent requests as fit.
std::vector<Proposal> SmallerModels(const AdviceQuestion& question, const Json& request, const Json& scenario) {
  std::vector<Proposal> proposals;
  const std::string path = PathOfPreset(request, "model");
  const Json* name = MemberAt(scenario, "model.name");
  for (const SmallerModel& one : SmallerModelsOf(scenario)) {
    Proposal proposal;
    proposal.id = "model." + one.id;
    proposal.title = one.name + " in place of " + TextOf(*name);
    proposal.effort = "Another model, which knows less: evaluate it on your tasks.";
    proposal.needs = Needs::kOtherWork;
    proposal.overrides[path] = one.id;
    proposal.search = MappingSearch::kIfNeeded;
    proposal.only_first_of_kind = true;
    proposals.push_back(proposal);
    if (question.part != "serving") continue;
    proposal.title += ", for as many concurrent requests as fit";
    proposal.overrides["serving.batch"] = "max";
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

bool Holds(const Json& scenario, std::string_view condition) {
  if (condition.empty()) return true;
  const std::size_t equals = condition.find('=');
  const Json* value = MemberAt(scenario, condition.substr(0, equals));
  if (value == nullptr) return false;
  return equals == std::string_view::npos ? !value->is_null() : *value == ParseAssignment(condition)->value;
}

}  // namespace

std::vector<Proposal> ProposalsFor(const AdviceQuestion& question, const Json& request, const JudgedScenario& now) {
  std::vector<Proposal> proposals = NewerDevices(request, now.scenario);
  for (const ChangeRow& row : ChangeRows()) {
    if (!row.part.empty() && row.part != question.part) continue;
    if (row.when != When::kAlways && (row.when == When::kFeasible) != now.IsAnswer()) continue;
    if (!Holds(now.scenario, row.only_if)) continue;
    if (std::optional<Proposal> proposal = ProposalOf(row, request, now.scenario))
      proposals.push_back(std::move(*proposal));
  }
  if (!now.IsAnswer()) {
    for (Proposal& one : SmallerModels(question, request, now.scenario)) proposals.push_back(std::move(one));
  }
  return proposals;
}

bool AreCompatible(const Proposal& a, const Proposal& b) {
  if (a.Kind() == b.Kind()) return false;
  if (a.search == MappingSearch::kAlways && b.search == MappingSearch::kAlways) return false;
  for (const auto& [path, value] : a.overrides.items()) {
    if (b.overrides.contains(path)) return false;
  }
  return true;
}

Proposal PairOf(const Proposal& a, const Proposal& b) {
  Proposal pair = a;
  pair.id = a.id + "+" + b.id;
  pair.title = a.title + " + " + b.title;
  pair.effort = a.effort == b.effort ? a.effort : a.effort + " " + b.effort;
  pair.needs = std::max(a.needs, b.needs);
  pair.overrides.update(b.overrides);
  pair.search = std::max(a.search, b.search);
  pair.search_limits.insert(pair.search_limits.end(), b.search_limits.begin(), b.search_limits.end());
  pair.of = {a.id, b.id};
  return pair;
}

}  // namespace slipstick
