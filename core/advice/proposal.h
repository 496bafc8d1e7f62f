// Changes that a user can make to a scenario, before their effect is known.
#pragma once

#include <string>
#include <vector>

#include "core/advice/judge.h"
#include "core/advice/question.h"
#include "core/base/field.h"
#include "core/base/json.h"

namespace slipstick {

// What the user must do or risk, in ascending order: a pair of changes requires the greater.
enum class Needs {
  kSettings,   // another value in a configuration
  kContract,   // another price
  kSoftware,   // software, a model or traffic that allows it
  kAccuracy,   // a check that model quality is still good
  kOtherWork,  // another model or a fine-tune: the figures are for other work
  kPurchase    // devices
};
ENUM_NAMES(Needs, {kSettings, "settings"}, {kContract, "contract"}, {kSoftware, "software"}, {kAccuracy, "accuracy"},
           {kOtherWork, "other_work"}, {kPurchase, "purchase"});

enum class MappingSearch {
  kNone,
  kIfNeeded,  // if the scenario's own mapping is illegal or does not fit after the change
  kAlways
};

struct Proposal {
  std::string id;  // kind and, after a dot, which one of that kind: "precision.fp8"
  std::string title, effort;
  Needs needs = Needs::kSettings;
  Json overrides = Json::object();  // path -> value
  MappingSearch search = MappingSearch::kNone;
  std::vector<std::string> search_limits;  // in addition to the limits of every search
  bool only_first_of_kind = false;         // not tried if another proposal of its kind was an answer
  bool only_way = false;                   // not tried if an answer needs no purchase and does the same work
  std::vector<std::string> of = {};        // for a pair: the ids of its two proposals

  [[nodiscard]] std::string Kind() const { return id.substr(0, id.find('.')); }
};

// In the order in which to try them. `now`: the current scenario; `request`: its request as written.
std::vector<Proposal> ProposalsFor(const AdviceQuestion& question, const Json& request, const JudgedScenario& now);

// Whether two proposals can be made together.
bool AreCompatible(const Proposal& a, const Proposal& b);
// One proposal that makes both changes.
Proposal PairOf(const Proposal& a, const Proposal& b);

}  // namespace slipstick
